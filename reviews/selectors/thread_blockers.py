"""Open blocking threads as the rules see them; one query for any number of decisions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from reviews.facts import Blocker
from reviews.models import Thread
from reviews.policies.anchors import Anchor

Blockers = Mapping[str, tuple[Blocker, ...]]
"""Team -> what its open threads block it with."""


def thread_blockers(decision_ids: Iterable[int]) -> Mapping[int, Blockers]:
    """Return decision id -> the blockers of its teams; decisions without any are left out."""
    found: dict[int, dict[str, tuple[Blocker, ...]]] = defaultdict(dict)
    rows = Thread.objects.filter(decision_id__in=list(decision_ids), is_blocking=True, resolution__isnull=True)
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
