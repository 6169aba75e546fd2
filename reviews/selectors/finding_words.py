"""Findings as entries, answers and sentences say them, and how many are open.

Not handled: when a finding opens and closes (``reviews.policies.findings``).
"""

from collections.abc import Iterator
from math import isclose
from typing import Any

from django.db.models import Count, Q

from planner.observations.qualified import Qualified
from planner.observations.words import range_text, value_text
from reviews.models import FindingState, ObservationFeed, ObservationFinding

__all__ = ["finding_text", "finding_value", "open_counts", "value_up_to"]


def open_counts(feed: ObservationFeed) -> tuple[int, int]:
    """Return how many findings of a feed are breaches and drifts now."""
    found = ObservationFinding.objects.filter(feed=feed, closed_at=None).aggregate(
        breaches=Count("pk", filter=Q(state=FindingState.BREACH)),
        drifts=Count("pk", filter=Q(state=FindingState.DRIFT)),
    )
    return found["breaches"], found["drifts"]


def value_up_to(value: float | None, used: float | None, limit: float | None, qualified: float | None) -> float | None:
    """Return the farther end of what a value can be, which ``used`` is of; None where it is open or not known."""
    bound = qualified if limit is None else limit
    if value is None or used is None or bound is None:
        return None
    # The share is kept, not the end: a float of it must not make a range of a value that is known.
    most = used * bound
    return value if isclose(most, value, rel_tol=1e-9) else most


def finding_value(finding: ObservationFinding, found: Qualified) -> dict[str, Any]:
    """Return a finding as entries and answers show it; what it is of none of is left out."""
    node, device = found.places.get(finding.rank, ("", ""))
    where = {"rank": finding.rank, "group": finding.group, "link": finding.link, "shape": finding.shape}
    return {
        "state": "WITHIN" if finding.closed_at else str(finding.state),
        "metric": finding.metric,
        "statistic": finding.statistic,
        **{name: value for name, value in where.items() if value not in (-1, "")},
        **({"node": node, "device": device} if node else {}),
        "value": finding.value,
        "value_up_to": value_up_to(finding.value, finding.used, finding.limit, finding.qualified),
        "limit": finding.limit,
        "limit_at": finding.limit_at,
        "qualified": finding.qualified,
        "qualified_at": finding.qualified_at,
        "used": finding.used,
        "team": finding.team,
    }


def finding_text(finding: ObservationFinding, found: Qualified | None = None) -> str:
    """Say a finding in a sentence: what, of what, and beside which bound; where a rank is, if it is ``found``."""
    node, device = found.places.get(finding.rank, ("", "")) if found else ("", "")
    of = ", ".join(_parts(finding, f" ({node} {device})" if node else ""))
    bounds = [
        f"{word} {_text(finding, value)}"
        for word, value in (("limit", finding.limit), ("measured", finding.qualified))
        if value is not None
    ]
    # A share of a bound that is zero tells no end of the value.
    bound = finding.qualified if finding.limit is None else finding.limit
    most = value_up_to(finding.value, finding.used, finding.limit, finding.qualified) if bound else finding.value
    value = range_text(finding.value, most, finding.metric, finding.statistic)
    word = "Back within" if finding.closed_at else FindingState(finding.state).label
    return f"{word}: {finding.metric} {finding.statistic} of {of or 'all groups'} is {value}, {', '.join(bounds)}."


def _text(finding: ObservationFinding, value: float) -> str:
    return value_text(value, finding.metric, finding.statistic)


def _parts(finding: ObservationFinding, place: str) -> Iterator[str]:
    if finding.rank >= 0:
        yield f"rank {finding.rank}{place}"
    if finding.group >= 0:
        yield f"group {finding.group}"
    yield from (f"{name} {value}" for name, value in (("link", finding.link), ("shape", finding.shape)) if value)
