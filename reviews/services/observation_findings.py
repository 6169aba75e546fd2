"""What a batch changes of what is out of its envelope: findings that open, move and close, and how they are told.

Rules kept: a finding is of one statistic of one rank, group or link; when it opens and closes is the policy's
(``reviews.policies.findings``); the log hears of changes, never of values that stay as they were. An entry names the
worst of them, counts all, and holds no name of a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import TypeAlias

from planner.observations import Compared
from reviews.models import FindingState, ObservationFeed, ObservationFinding
from reviews.policies.document import PolicyDocument
from reviews.policies.findings import Level, Standing, level_of, next_standing
from reviews.policies.owners import observed_owner
from reviews.selectors.finding_words import open_counts

__all__ = ["NAMED", "Changes", "changes_of", "changes_write"]

NAMED = 50
"""Findings that one entry, or one answer, names; of all others it has the number."""
MOVING = ("state", "value", "used", "last_seen_at", "calm_since", "closed_at")
AT_ONCE = 500

Place: TypeAlias = tuple[str, str, int, int, str, str, str]


@dataclass(slots=True)
class Changes:
    """Findings that are new, and those that were open before, with what became of them.

    ``opened`` are those that began or grew from drift to breach, ``eased`` those that ended or are drift alone now;
    ``standing`` is everything that the batch touched and that is out of its envelope, the worst first.
    """

    created: list[ObservationFinding] = field(default_factory=list)
    known: list[ObservationFinding] = field(default_factory=list)
    opened: list[ObservationFinding] = field(default_factory=list)
    eased: list[ObservationFinding] = field(default_factory=list)
    standing: list[ObservationFinding] = field(default_factory=list)

    @property
    def action(self) -> str:
        """The entry's action; empty where nothing changed."""
        if any(finding.state == FindingState.BREACH for finding in self.opened):
            return "observations.breached"
        if self.opened:
            return "observations.drifted"
        return "observations.cleared" if self.eased else ""

    def told(self) -> list[ObservationFinding]:
        """Return what the entry names: what opened, then what eased, each the worst first."""
        return [*sorted(self.opened, key=_weight), *sorted(self.eased, key=_weight)][:NAMED]


def changes_of(feed: ObservationFeed, rows: Sequence[Compared], policy: PolicyDocument, at: datetime) -> Changes:
    """Return what comparisons of a span that ended at ``at`` change; nothing is written."""
    found = Changes()
    judged = [(row, level) for row in rows if (level := level_of(row.state, row.drifted)) is not None]
    known = _known(feed, rows) if judged else {}
    for row, level in judged:
        place = _place(row)
        finding = known.get(place)
        if finding is not None:
            _move(found, finding, row, level, at)
        elif level != "WITHIN":
            _open(found, _new(feed, place, row, level, policy, at))
    found.standing.sort(key=_weight)
    return found


def _known(feed: ObservationFeed, rows: Sequence[Compared]) -> dict[Place, ObservationFinding]:
    """Return the open findings of a batch's metrics, between its first and last rank and group."""
    keys = [row.key for row in rows]
    ranks, groups = [key.rank for key in keys], [key.group for key in keys]
    open_ones = ObservationFinding.objects.filter(
        feed=feed,
        closed_at=None,
        metric__in={key.metric for key in keys},
        rank__range=(min(ranks), max(ranks)),
        group__range=(min(groups), max(groups)),
    )
    return {
        (row.metric, row.statistic, row.rank, row.group, row.link, row.shape, row.limit_at): row
        for row in open_ones.order_by("pk")
    }


def _place(row: Compared) -> Place:
    key = row.key
    return key.metric, row.entry.statistic, key.rank, key.group, key.link, key.shape, row.entry.limit_at


def _new(
    feed: ObservationFeed, place: Place, row: Compared, level: Level, policy: PolicyDocument, at: datetime
) -> ObservationFinding:
    metric, statistic, rank, group, link, shape, limit_at = place
    return ObservationFinding(
        feed=feed,
        metric=metric,
        statistic=statistic,
        rank=rank,
        group=group,
        link=link,
        shape=shape,
        limit_at=limit_at,
        state=level,
        team=observed_owner(policy, metric, limit_at),
        value=_number(row.low),
        limit=_number(row.entry.limit),
        qualified=_number(row.entry.qualified),
        qualified_at=row.entry.qualified_at,
        used=_number(row.used),
        opened_at=at,
        last_seen_at=at,
    )


def _open(found: Changes, finding: ObservationFinding) -> None:
    found.created.append(finding)
    found.opened.append(finding)
    found.standing.append(finding)


def _move(found: Changes, finding: ObservationFinding, row: Compared, level: Level, at: datetime) -> None:
    before: Level = "BREACH" if finding.state == FindingState.BREACH else "DRIFT"
    now = next_standing(Standing(before, finding.calm_since), level, at, judged_at=finding.last_seen_at)
    if at >= finding.last_seen_at:
        finding.value, finding.used = _number(row.low), _number(row.used)
    finding.last_seen_at, finding.calm_since = max(at, finding.last_seen_at), now.calm_since
    found.known.append(finding)
    if now.level == "WITHIN":
        finding.closed_at = at
        found.eased.append(finding)
        return
    found.standing.append(finding)
    if now.level != before:
        finding.state = now.level
        (found.opened if now.level == "BREACH" else found.eased).append(finding)


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _weight(finding: ObservationFinding) -> tuple[str, float, str, int, int, str]:
    """Order findings: breaches before drift (by their words), then what uses most of its bound."""
    return finding.state, -(finding.used or 0.0), finding.metric, finding.rank, finding.group, finding.link


def changes_write(feed: ObservationFeed, changes: Changes) -> None:
    """Write findings and count what is open now. Call it inside the transaction that holds the feed."""
    ObservationFinding.objects.bulk_create(changes.created, batch_size=AT_ONCE)
    if changes.known:
        ObservationFinding.objects.bulk_create(
            changes.known, batch_size=AT_ONCE, update_conflicts=True, unique_fields=["id"], update_fields=MOVING
        )
    if changes.opened or changes.eased:
        feed.breaches, feed.drifts = open_counts(feed)
