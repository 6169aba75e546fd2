"""Open blocking threads as the rules see them; one query for any number of decisions, and none where nothing blocks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import Exists, OuterRef, QuerySet

from reviews.facts import Blocker
from reviews.models import Revision, Thread
from reviews.policies.anchors import Anchor

Blockers = Mapping[str, tuple[Blocker, ...]]
"""Team -> what its open threads block it with."""


IS_BLOCKED = "is_blocked"
BLOCKING = Thread.objects.filter(is_blocking=True, resolution__isnull=True)


def with_blocks(revisions: QuerySet[Revision]) -> QuerySet[Revision]:
    """Fetch in the same query whether a thread blocks anything of a revision's decision."""
    return revisions.annotate(**{IS_BLOCKED: Exists(BLOCKING.filter(decision=OuterRef("decision_id")))})


def thread_blockers(revisions: Iterable[Revision]) -> Mapping[int, Blockers]:
    """Return decision id -> the blockers of its teams, for revisions fetched by ``with_blocks``.

    Decisions without any are left out; the query is asked only where there is one.
    """
    blocked = {row.decision_id for row in revisions if getattr(row, IS_BLOCKED)}
    if not blocked:
        return {}
    found: dict[int, dict[str, tuple[Blocker, ...]]] = defaultdict(dict)
    rows = BLOCKING.filter(decision_id__in=blocked)
    for row in rows.select_related("opener").order_by("decision_id", "number"):
        name = row.opener.display_name
        words = Anchor(row.kind, row.name).words
        because = f"Thread {row.number} of {name} on {words} blocks until {name} or the team's lead resolves it."
        of_team = found[row.decision_id].get(row.team, ())
        found[row.decision_id][row.team] = (*of_team, Blocker(because, (name,), row.opened_at))
    return found


def blockers_of_teams(blockers: Blockers, teams: Iterable[str], fallback: str) -> Blockers:
    """Return the blockers by teams of a policy; a team that it has no more hands its blockers to the fallback owner."""
    known = set(teams)
    placed: dict[str, tuple[Blocker, ...]] = defaultdict(tuple)
    for team, found in blockers.items():
        placed[team if team in known else fallback] += found
    return placed
