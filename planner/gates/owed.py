"""What limits, selection keys and ``evidence_required`` owe, as metrics to look for."""

from collections.abc import Iterable, Iterator

from planner.gates.base import Owed
from planner.presence import Want, want_required
from planner.records.base import UnsetType
from planner.records.contract import Contract

__all__ = ["advised", "required"]


def required(contract: Contract, owed: Iterable[Owed]) -> tuple[Want, ...]:
    """Return what has to be recorded, once each, in order; what is conditional its own gate looks for."""
    asked = (
        Want(
            metric=entry.ask.metric,
            load_point=entry.ask.load_point,
            fields=entry.ask.fields,
            phase=entry.ask.phase,
            link_class=entry.ask.link_class,
        )
        for entry in owed
        if not entry.ask.conditional
    )
    return tuple(dict.fromkeys((*asked, *_declared(contract, "required"))))


def advised(contract: Contract) -> tuple[Want, ...]:
    """Return what is shown where it is missing, and changes nothing."""
    return tuple(_declared(contract, "advisory"))


def _declared(contract: Contract, level: str) -> Iterator[Want]:
    entries = contract.evidence_required
    for entry in () if isinstance(entries, UnsetType) else entries.values():
        if entry.level == level:
            yield from want_required(entry)
