"""What a signer has to open before approving a revision, and what they have opened of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from planner.records.plan import Plan
from reviews.blobs import blob_read
from reviews.clock import utc_text
from reviews.models import ItemOpening, Revision, SignOff, TeamScope
from reviews.planning import decode_plan
from reviews.policies.opening import Item, items_to_open
from reviews.policies.scope import ScopeChange, scope_change
from reviews.policies.waiving import chosen_trial
from reviews.selectors.waivers import waived_gates


@dataclass(frozen=True, slots=True)
class Openings:
    """The items of one person for one team on a planned revision. ``opened_at`` is item -> RFC 3339 time.

    ``since`` is the number of the revision that they last signed for the team, None where they never did.
    """

    items: tuple[Item, ...]
    opened_at: Mapping[str, str]
    since: int | None

    @property
    def missing(self) -> tuple[Item, ...]:
        """What was not opened yet."""
        return tuple(item for item in self.items if item.id not in self.opened_at)


def openings_of(revision: Revision, *, person_id: int, team: str, now: datetime, plan: Plan | None = None) -> Openings:
    """Return what the person has to open before approving for the team; ``plan`` where it was decoded already.

    Raises:
        TamperedError: the plan or a scope is not what was stored.
    """
    if plan is None:
        plan = decode_plan(blob_read(revision.planned.plan.blob_id, "plan"))
    waived = waived_gates(revision.decision_id, now)
    earlier = _last_signed(revision, person_id, team)
    items = items_to_open(
        plan,
        chosen=chosen_trial(plan, waived),
        waived=waived,
        change=scope_moved(earlier, revision, team) if earlier else None,
    )
    opened = ItemOpening.objects.filter(revision=revision, person_id=person_id)
    return Openings(
        items,
        {item: utc_text(at) for item, at in opened.values_list("item", "opened_at")},
        earlier.number if earlier else None,
    )


def _last_signed(revision: Revision, person_id: int, team: str) -> Revision | None:
    if revision.number == 1:
        return None
    signed = SignOff.objects.filter(
        revision__decision_id=revision.decision_id, person_id=person_id, team__slug=team
    ).exclude(revision=revision)
    last = signed.select_related("revision").order_by("-pk").first()
    return last.revision if last else None


def scope_moved(earlier: Revision, later: Revision, team: str) -> ScopeChange:
    """Return how what a team owns moved between two planned revisions of a decision."""
    scopes = TeamScope.objects.filter(team=team, basis__planned__revision__in=(earlier, later))
    items = {
        revision: msgspec.json.decode(blob_read(blob, "scope"), type=dict[str, str])
        for revision, blob in scopes.values_list("basis__planned__revision_id", "items_id")
    }
    return scope_change(items.get(earlier.pk, {}), items.get(later.pk, {}))
