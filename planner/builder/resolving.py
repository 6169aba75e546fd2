"""Which value of a field counts, and where it comes from.

Rules kept: what a person settled counts first; then what files say, where they say one thing; then what a person
answered. Files that say different things are a conflict and none of them counts: nothing is averaged, and no source
wins in silence. Numbers are compared by value, text byte for byte.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct

from planner.builder.pointing import above, most_exact
from planner.builder.records import Draft, ReadValue, Settlement
from planner.canonical import canonical_bytes
from planner.identity import same
from planner.records.base import UnsetType
from planner.records.evidence import ValueSource

__all__ = ["Found", "Resolved", "apart", "resolved"]

Json = Any


class Found(Struct, frozen=True, kw_only=True, gc=False):
    """What one run of one file says of a field; ``value`` is as the field takes it."""

    run: str
    format: str
    read: ReadValue
    value: Json


class Resolved(Struct, frozen=True, kw_only=True, gc=False):
    """The value that counts with its source, or why none does."""

    value: Json = UNSET
    source: ValueSource | None = None
    conflict: bool = False
    settled: bool = False


NOTHING = Resolved()


def resolved(draft: Draft, field: str, found: Sequence[Found]) -> Resolved:
    """Return what counts of a field that files say ``found`` of, perhaps nothing."""
    differ = apart(found)
    how = _settlement(draft, field, found) if draft.settled else None
    if how is not None:
        return _as_settled(field, found, *how)
    if differ:
        return Resolved(conflict=True)
    if found:
        return Resolved(value=found[0].value, source=source_of(found[0]))
    answered = most_exact(draft.answers, field)
    if answered is None:
        return NOTHING
    return Resolved(value=answered[1].value, source=ValueSource(answered_by=answered[1].by))


def apart(found: Sequence[Found]) -> bool:
    """Say whether sources say different things."""
    return any(not same(found[0].value, other.value) for other in found[1:])


def _settlement(draft: Draft, field: str, found: Sequence[Found]) -> tuple[str, Settlement] | None:
    """Return the most exact settlement that says something of the field."""
    for at in above(field):
        how = draft.settled.get(at)
        if how is not None and (_own(how, at, field) or _chosen(how, found) is not None):
            return at, how
    return None


def _own(how: Settlement, at: str, field: str) -> bool:
    """Say whether a settlement is a value of this very field; of one above it would be of something else."""
    return how.value is not UNSET and at.count("/") == field.count("/")


def _chosen(how: Settlement, found: Sequence[Found]) -> Found | None:
    for one in found:
        if one.run == how.run or one.format == how.format:
            return one
    return None


def _as_settled(field: str, found: Sequence[Found], at: str, how: Settlement) -> Resolved:
    if _own(how, at, field):
        return Resolved(value=how.value, source=ValueSource(answered_by=how.by), conflict=apart(found), settled=True)
    chosen = [one for one in found if how.run == one.run or how.format == one.format]
    if apart(chosen):
        return Resolved(conflict=True)
    return Resolved(
        value=chosen[0].value,
        source=source_of(chosen[0], settled_by=how.by if apart(found) else UNSET),
        conflict=apart(found),
        settled=True,
    )


def source_of(found: Found, *, settled_by: str | UnsetType = UNSET) -> ValueSource:
    """Return where a value of a file stands; what the file writes is added where it is another number or unit."""
    read, place = found.read, found.read.place
    converted = read.raw_unit != read.unit or not same(read.raw, found.value)
    return ValueSource(
        file=found.run.partition(".")[0],
        pointer=place.pointer or UNSET,
        line=place.line or UNSET,
        column=UNSET if place.column is None else str(place.column),
        raw=(_written(read.raw) or UNSET) if converted else UNSET,
        raw_unit=(read.raw_unit or UNSET) if converted else UNSET,
        settled_by=settled_by,
    )


def _written(raw: Json) -> str:
    """Return a file's value as text; numbers as a stored draft has them, so that it gives the same document."""
    return raw if isinstance(raw, str) else canonical_bytes(raw).decode()
