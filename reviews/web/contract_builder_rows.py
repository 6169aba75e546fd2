"""The parts of a contract's form as rows of a template: what stands in each control, and what is said of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from typing import Literal

from planner.contract_builder.form import Closed, Collection, Field, Group, Part
from planner.errors import Problem

__all__ = [
    "CollectionRow",
    "FieldRow",
    "GroupRow",
    "PartRow",
    "Said",
    "dom_id",
    "field_ids",
    "needed_sentence",
    "part_row",
    "parts_of",
    "wrong_sentence",
]


MOST_CLOSED = 128
"""Entries that a collection lists; of a whole fleet the rest is opened by id."""
_LONG = 24
"""Letters of a suggestion from which on a field needs the whole line."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is said at a place: ``wrong`` of what is there, ``needed`` of what is not."""

    wrong: tuple[str, ...] = ()
    needed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """One control. ``options`` are (value, whether it is chosen); ``hints`` is what the control is described by."""

    kind: Literal["field"] = "field"
    id: str
    name: str
    label: str
    control: str
    text: str
    takes: str
    unit: str
    help: str
    options: tuple[tuple[str, bool], ...]
    suggestions: tuple[str, ...]
    decides: bool
    is_required: bool
    said: Said
    origin: str

    @property
    def is_wide(self) -> bool:
        """Whether it takes a whole line of the form."""
        is_long = self.takes.startswith("a digest") or max(map(len, self.suggestions), default=0) > _LONG
        return is_long or self.control in ("prose", "ticks")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """Fields that belong together; ``alternatives`` are those of which exactly one is given.

    ``is_closed`` folds what is optional and empty. ``remove`` is the pointer of an entry that can be taken out.
    """

    kind: Literal["group"] = "group"
    id: str
    name: str
    label: str
    help: str
    is_closed: bool
    is_entry: bool
    parts: tuple[PartRow, ...]
    alternatives: tuple[PartRow, ...]
    said: Said
    can_rise: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRow:
    """Entries, and how another is added."""

    kind: Literal["collection"] = "collection"
    id: str
    name: str
    label: str
    help: str
    holds: str
    unit: str
    is_entry: bool
    is_closed: bool
    parts: tuple[PartRow, ...]
    closed: tuple[ClosedRow, ...]
    more: int
    keys: tuple[str, ...]
    next_place: int
    said: Said


@dataclass(frozen=True, slots=True)
class ClosedRow:
    """An entry whose fields are not shown, and what is wrong inside."""

    id: str
    name: str
    label: str
    summary: str
    wrong: int
    needed: int


PartRow = FieldRow | GroupRow | CollectionRow


def dom_id(pointer: str) -> str:
    """Return the id of the element that stands for a pointer: short, the same every time, and fit for a selector."""
    return f"p{blake2s(pointer.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def part_row(part: Part, problems: Sequence[Problem], origins: Mapping[str, str]) -> PartRow:
    """Return the row of a part with the problems at it and in it."""
    return _Rows(problems, origins).row(part, is_entry=False)


def field_ids(row: PartRow) -> list[str]:
    """Return the ids of a part and of everything in it that says what is wrong with it."""
    return [row.id, *(name for part in parts_of(row) for name in field_ids(part))]


def parts_of(row: PartRow) -> tuple[PartRow, ...]:
    """Return the parts inside a part; a field has none."""
    if isinstance(row, FieldRow):
        return ()
    return (*row.parts, *row.alternatives) if isinstance(row, GroupRow) else row.parts


class _Rows:
    def __init__(self, problems: Sequence[Problem], origins: Mapping[str, str]) -> None:
        self.at: dict[str, list[Problem]] = {}
        self.inside: dict[str, list[Problem]] = {}
        for problem in problems:
            self.at.setdefault(problem.pointer, []).append(problem)
            for end in (place for place, sign in enumerate(f"{problem.pointer}/") if sign == "/"):
                self.inside.setdefault(problem.pointer[:end], []).append(problem)
        self.origins = origins
        self.is_repeated = False

    def row(self, part: Part, *, is_entry: bool, can_rise: bool = False) -> PartRow:
        if isinstance(part, Field):
            return self._field(part)
        if isinstance(part, Group):
            return self._group(part, is_entry=is_entry, can_rise=can_rise)
        return self._collection(part, is_entry=is_entry)

    def _said(self, pointer: str) -> Said:
        here = self.at.get(pointer, [])
        wrong = tuple(wrong_sentence(problem) for problem in here if not problem.is_lacking)
        needed = next((needed_sentence(problem) for problem in here if problem.is_lacking), "")
        return Said(wrong, needed)

    def _said_of_group(self, pointer: str, *, has_alternatives: bool) -> Said:
        said = self._said(pointer)
        # Which ones stands below, each with its own words.
        return Said(said.wrong, "Still needed: one of the values below.") if said.needed and has_alternatives else said

    def _has_problem(self, pointer: str) -> bool:
        return pointer in self.inside

    def _field(self, field: Field) -> FieldRow:
        chosen = set(field.chosen) if field.control == "ticks" else {field.text}
        choices = field.choices
        if field.control == "choice" and field.text and field.text not in choices:
            choices = (*choices, field.text)  # what fits nowhere is still what the document holds
        said = self._said(field.pointer)
        if said.needed and field.control == "choice":
            # What it may be is in the list; how its words are written is of no use beside it.
            said = Said(said.wrong, "Still needed.")
        return FieldRow(
            id=dom_id(field.pointer),
            name=field.pointer,
            label=field.label,
            control=field.control,
            text=field.text,
            takes=field.takes,
            unit=field.unit,
            help="" if self.is_repeated else field.help,
            options=tuple((choice, choice in chosen) for choice in choices),
            suggestions=field.suggestions,
            decides=field.decides,
            is_required=field.is_required,
            said=said,
            origin=self.origins.get(field.pointer, ""),
        )

    def _group(self, group: Group, *, is_entry: bool, can_rise: bool) -> GroupRow:
        # What has fields of its own comes after the fields, or it would tear their grid apart.
        ordered = sorted(group.parts, key=lambda part: not isinstance(part, Field))
        rows = [self.row(part, is_entry=False) for part in ordered]
        one_of = {f"{group.pointer}/{name}" for name in group.one_of}
        return GroupRow(
            id=dom_id(group.pointer),
            name=group.pointer,
            label=group.label,
            help=group.help,
            is_closed=not (group.is_required or group.is_present or self._has_problem(group.pointer)),
            is_entry=is_entry,
            parts=tuple(row for row in rows if row.name not in one_of),
            alternatives=tuple(row for row in rows if row.name in one_of),
            said=self._said_of_group(group.pointer, has_alternatives=bool(one_of)),
            can_rise=can_rise,
        )

    def _collection(self, part: Collection, *, is_entry: bool) -> CollectionRow:
        is_empty = not (part.parts or part.closed)
        return CollectionRow(
            id=dom_id(part.pointer),
            name=part.pointer,
            label=part.label,
            help=part.help,
            holds=part.holds,
            unit=part.value_unit,
            is_entry=is_entry,
            is_closed=is_empty and not part.is_required and not part.keys and not self._has_problem(part.pointer),
            parts=tuple(self._entry(part, inner, place) for place, inner in enumerate(part.parts)),
            closed=tuple(map(self._closed, part.closed[:MOST_CLOSED])),
            more=max(0, len(part.closed) - MOST_CLOSED),
            keys=part.keys,
            next_place=len(part.parts),
            said=self._said(part.pointer),
        )

    def _entry(self, part: Collection, inner: Part, place: int) -> PartRow:
        """Return an entry; what is said of a field stands at the first entry alone."""
        was_repeated = self.is_repeated
        self.is_repeated = was_repeated or (place > 0 and not isinstance(inner, Collection))
        row = self.row(inner, is_entry=part.holds != "values", can_rise=part.holds == "places" and place > 0)
        self.is_repeated = was_repeated
        return row

    def _closed(self, entry: Closed) -> ClosedRow:
        inside = self.inside.get(entry.pointer, [])
        needed = sum(problem.is_lacking for problem in inside)
        return ClosedRow(
            id=dom_id(entry.pointer),
            name=entry.pointer,
            label=entry.label,
            summary=entry.summary,
            wrong=len(inside) - needed,
            needed=needed,
        )


def wrong_sentence(problem: Problem) -> str:
    """Say what is wrong with what is there."""
    return f"Expected {problem.expected}. Found {problem.found}."


def needed_sentence(problem: Problem) -> str:
    """Say what is not there yet; that a text is a text goes without saying."""
    expected = _PLAINLY.get(problem.expected, problem.expected)
    return "Still needed." if expected.startswith("text of ") else f"Still needed: {expected}."


_PLAINLY = {"an object": "at least one", "an array of at least 1 element": "at least one"}
