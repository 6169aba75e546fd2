"""Differences of two contracts as rows: what came, went and changed, by section, and who owns each of them. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from planner.document_diff import ABSENT, FieldChange, changes_by_section, document_diff
from planner.gates import GATES
from planner.pointers import steps
from planner.shown import shown
from reviews.policies.document import PolicyDocument, gate_owner, identity_owner
from reviews.web.formats import count

__all__ = ["ChangeRow", "SectionRow", "section_rows"]

_FAMILIES = {gate.id: gate.family for gate in GATES}


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
    made = [(section, tuple(_rows(changes, policy))) for section, changes in sections.items()]
    return tuple(
        SectionRow(
            section=section,
            rows=rows,
            owners=tuple(dict.fromkeys(owner for row in rows for owner in row.owners)),
        )
        for section, rows in made
    )


def _rows(changes: tuple[FieldChange, ...], policy: PolicyDocument | None) -> Iterator[ChangeRow]:
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
    path = steps(pointer)
    if policy is None:
        return
    if path[0] == "identity":
        yield policy.teams[identity_owner(policy, pointer.removeprefix("/identity"))].title
    elif path[0] == "gates" and len(path) > 1 and path[1] in _FAMILIES:
        yield policy.teams[gate_owner(policy, _FAMILIES[path[1]])].title
