"""What machines said last of what was put into force in slots, for lists: when, how many, and which keys differ.

Rules kept: a report of another subject says nothing of this one; no stored document is read, so whether hosts have
reported everything is not known here (``live_identity``), only whether something differs.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from reviews.models import HostReport, IdentityReport, Workspace
from reviews.selectors.reported_keys import ReportedKey, counts_since, keys_from
from reviews.selectors.slot_facts import HeldFact

__all__ = ["NOTHING_HEARD", "Heard", "heard_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """``at`` is when the newest report was collected, None where there is none; ``is_fresh`` while it counts.

    ``hosts`` reported; ``is_whole`` where one report spoke for the whole slot. ``differences`` are those of the last
    report of each host.
    """

    at: datetime | None = None
    hosts: int = 0
    is_whole: bool = False
    is_fresh: bool = False
    differences: tuple[ReportedKey, ...] = ()


NOTHING_HEARD = Heard()


def heard_of(workspace: Workspace, held: Mapping[str, HeldFact], now: datetime) -> Mapping[str, Heard]:
    """Return slot -> what was reported of what is held there; two queries."""
    rows = (
        HostReport.objects.filter(workspace=workspace, slot__in=list(held), collected_at__isnull=False)
        .order_by()
        .values_list("slot", "subject")
        .annotate(
            last=Max("collected_at"),
            hosts=Count("pk", filter=~Q(place="")),
            wholes=Count("pk", filter=Q(place="")),
        )
    )
    since = counts_since(now)
    last = {
        slot: (at, hosts, bool(whole))
        for slot, subject, at, hosts, whole in rows
        if slot in held and subject == held[slot].subject
    }
    differences = _differences(workspace, held)
    return {
        slot: Heard(
            at=last[slot][0] if slot in last else None,
            hosts=last[slot][1] if slot in last else 0,
            is_whole=slot in last and last[slot][2],
            is_fresh=slot in last and last[slot][0] >= since,
            differences=differences.get(slot, ()),
        )
        for slot in held
    }


def _differences(workspace: Workspace, held: Mapping[str, HeldFact]) -> Mapping[str, tuple[ReportedKey, ...]]:
    """Return slot -> the keys that the last report of each place did not show as decided, each once."""
    decided = {one.decision_id: (slot, one) for slot, one in held.items()}
    last = (
        IdentityReport.objects.filter(workspace=workspace, decision__in=list(decided))
        .order_by()
        .values("decision", "place")
        .annotate(last=Max("pk"))
        .values("last")
    )
    found: dict[str, dict[str, ReportedKey]] = defaultdict(dict)
    rows = IdentityReport.objects.filter(pk__in=last).order_by("pk")
    for decision_id, at, named in rows.values_list("decision", "reported_at", "differences"):
        slot, one = decided[decision_id]
        if named and at >= one.activated_at:
            found[slot].update({key.key: key for key in keys_from(named)})
    return {slot: tuple(keys.values()) for slot, keys in found.items()}
