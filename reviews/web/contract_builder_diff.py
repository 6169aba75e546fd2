"""Differences of two contracts as rows: what came, went and changed, by section, and who owns each of them. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from planner.document_diff import ABSENT, FieldChange, changes_by_section, document_diff
from planner.shown import shown
from reviews.policies.document import PolicyDocument
from reviews.policies.owners import field_owner
from reviews.web.formats import count

__all__ = ["ChangeRow", "SectionRow", "change_rows", "section_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One difference. A part that came or went as a whole is one row with the number of its fields."""

    pointer: str
    word: str
    before: str
    after: str
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRow:
    """The differences of a section; ``owners`` are the teams whose part of it changed."""

    section: str
    rows: tuple[ChangeRow, ...]
    owners: tuple[str, ...]


def section_rows(before: Any, after: Any, policy: PolicyDocument | None) -> tuple[SectionRow, ...]:
    """Return the differences from one contract to another; no owners where there is no policy."""
    sections = changes_by_section(document_diff(before, after))
    made = [(section, change_rows(changes, policy)) for section, changes in sections.items()]
    return tuple(
        SectionRow(
            section=section,
            rows=rows,
            owners=tuple(dict.fromkeys(owner for row in rows for owner in row.owners)),
        )
        for section, rows in made
    )


def change_rows(changes: Sequence[FieldChange], policy: PolicyDocument | None) -> tuple[ChangeRow, ...]:
    """Return changes of one document as rows, in their order."""
    return tuple(_rows(changes, policy))


def _rows(changes: Sequence[FieldChange], policy: PolicyDocument | None) -> Iterator[ChangeRow]:
    for _, group in groupby(changes, key=lambda change: (change.whole, change.kind)):
        members = list(group)
        first = members[0]
        yield ChangeRow(
            pointer=first.whole,
            word=first.kind,
            before=_side([member.before for member in members]),
            after=_side([member.after for member in members]),
            owners=tuple(dict.fromkeys(owner for member in members for owner in _owner(member.pointer, policy))),
        )


def _side(values: list[Any]) -> str:
    if values[0] is ABSENT:
        return "–"
    if len(values) > 1:
        return count(len(values), "field")
    (value,) = values
    return ", ".join(map(str, value)) if isinstance(value, list) and 0 < len(value) <= _LISTED else shown(value)


_LISTED = 8


def _owner(pointer: str, policy: PolicyDocument | None) -> Iterator[str]:
    owner = field_owner(policy, pointer) if policy else None
    if policy and owner:
        yield policy.teams[owner].title
