"""Notes that somebody opened an item of a revision which is to be opened before approving."""

from reviews.audit import workspace_write
from reviews.clock import database_now
from reviews.errors import NotFoundError, printable
from reviews.models import ItemOpening, Person, Revision, Workspace
from reviews.selectors.decision_page import decision_named
from reviews.selectors.openings import openings_of
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import with_digests


def item_open(*, actor: Person, workspace: Workspace, number: int, team: str, item: str) -> ItemOpening:
    """Note that the actor opened an item of the newest revision for a team; once is enough.

    It is no entry of the log by itself: the list of what was opened is hashed into the sign-off.

    Raises:
        NotFoundError: no such decision or item, or the actor is no member of the workspace.
        TamperedError: the plan is not what was stored.
    """
    standing = standing_of(actor, workspace)
    decision = decision_named(workspace, number)
    with workspace_write(workspace.pk):
        revision = with_digests(Revision.objects.filter(decision=decision)).order_by("-number")[0]
        now = database_now()
        if not hasattr(revision, "planned"):
            raise NotFoundError(f"{decision.label} r{revision.number} has no plan yet.")
        known = openings_of(revision, person_id=standing.person_id, team=printable(team), now=now)
        if item not in {one.id for one in known.items}:
            raise NotFoundError(f"{decision.label} r{revision.number} has nothing of this name to open.")
        opening, _ = ItemOpening.objects.get_or_create(
            revision=revision, person_id=standing.person_id, item=item, defaults={"opened_at": now}
        )
    return opening
