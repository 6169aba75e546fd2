"""Waivers of decisions: every one that was granted, and the gates that are waived now."""

from datetime import datetime

from reviews.asked_once import once
from reviews.models import Waiver


@once
def waivers_of(decision_ids: tuple[int, ...]) -> tuple[Waiver, ...]:
    """Return every waiver of some decisions, in the order in which they were granted; one query."""
    rows = Waiver.objects.filter(decision_id__in=decision_ids).order_by()
    rows = rows.select_related("owner", "proposal__countersignature__person")
    return tuple(sorted(rows, key=lambda row: row.pk))


def waived_gates(decision_id: int, now: datetime) -> frozenset[tuple[str, str]]:
    """Return (trial, gate) of the waivers in force."""
    return frozenset((row.trial, row.gate) for row in waivers_of((decision_id,)) if row.ends_at > now)
