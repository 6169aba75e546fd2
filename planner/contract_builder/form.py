"""A part of a contract as a form: groups, collections and fields, with what each of them takes and holds now.

Rules kept: what there is follows from the records; only what bears on the rest is shown (experts where the model has
some), but what the document holds is shown always; long collections are listed and opened entry by entry.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import inspect as mi

from planner.contract_builder.edits import EMPTY_LIST, found_at
from planner.contract_builder.labels import help_at, label_of, unit_of
from planner.contract_builder.references import choices_at, suggestions_at
from planner.contract_builder.relevance import DECIDING, is_relevant
from planner.contract_builder.shapes import Path, alternatives, kind_at, limit_record
from planner.contract_builder.typed import field_text
from planner.gates import GATES
from planner.gates.wording import gib
from planner.intake.wording import expected
from planner.pointers import is_below, joined, steps

__all__ = ["LISTED", "Closed", "Collection", "Field", "Group", "Part", "form_at", "summary"]

LISTED = 4
"""Entries up to which a collection shows the fields of every one; a longer one shows those that are opened."""
_TICKED = 24
"""Choices up to which a list is ticked; a longer one is written, one a line."""
_PROSE = 1000
"""Longest text from which on a field has several lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value. ``text`` is what stands in its control, ``chosen`` what is ticked; ``takes`` says what fits."""

    pointer: str
    label: str
    control: Literal["text", "prose", "number", "choice", "lines", "ticks"]
    text: str
    takes: str
    is_required: bool
    unit: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    decides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The fields of a record. ``one_of`` names those of which exactly one is given."""

    pointer: str
    label: str
    help: str
    is_required: bool
    is_present: bool
    parts: tuple["Part", ...]
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """An entry whose fields are not shown: its id, and what it holds in short."""

    pointer: str
    label: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Entries under ids of one's own, or an ordered list of them; ``closed`` are those whose fields are not shown.

    ``keys`` are ids that make sense here and are not taken. ``holds`` says what an entry is: a record or collection
    that is added by its id, or a value that is added with it.
    """

    pointer: str
    label: str
    help: str
    is_required: bool
    holds: Literal["entries", "values", "places"]
    parts: tuple["Part", ...]
    closed: tuple[Closed, ...] = ()
    keys: tuple[str, ...] = ()
    value_unit: str = ""


Part = Field | Group | Collection


def form_at(tree: Mapping[str, Any], pointer: str, *, opened: str = "") -> Part:
    """Return the form of what may stand at a pointer; ``opened`` points at an entry whose fields are wanted too.

    Raises:
        KeyError: nothing may stand there.
    """
    path = steps(pointer)
    kind = kind_at(path)
    if not path or kind is None:
        raise KeyError(pointer)
    return _Form(tree, opened).part(path, kind, is_required=_is_required(path))


def _is_required(path: Path) -> bool:
    parent = kind_at(path[:-1])
    for part in () if parent is None else alternatives(parent):
        if isinstance(part, mi.StructType):
            return any(field.encode_name == path[-1] and field.required for field in part.fields)
    return True


class _Form:
    """Builds the parts of one tree."""

    def __init__(self, tree: Mapping[str, Any], opened: str) -> None:
        self.tree = tree
        self.opened = opened

    def part(self, path: Path, kind: mi.Type, *, is_required: bool) -> Part:
        value = found_at(self.tree, path)
        for one in alternatives(kind):
            if isinstance(one, mi.StructType):
                return self._group(path, one, value, is_required)
            if isinstance(one, mi.DictType) and (isinstance(value, dict) or len(alternatives(kind)) == 1):
                return self._collection(path, one.value_type, value, is_required)
            if isinstance(one, mi.VarTupleType) and _holds_records(one.item_type):
                return self._places(path, one.item_type, value, is_required)
        return self._field(path, kind, value, is_required)

    def _group(self, path: Path, kind: mi.StructType, value: Any, is_required: bool) -> Group:
        record = limit_record(path)
        shown = [field for field in kind.fields if is_relevant(self.tree, (*path, field.encode_name))]
        # What a limit is for is said first, and what nobody may leave out before what one may.
        shown.sort(key=lambda field: (not record or field.encode_name != "because", not field.required))
        return Group(
            pointer=joined(path),
            label=self._label(path),
            help=help_at(path),
            is_required=is_required,
            is_present=isinstance(value, dict) and bool(value),
            one_of=getattr(record, "one_of", ()),
            parts=tuple(
                self.part((*path, field.encode_name), field.type, is_required=field.required) for field in shown
            ),
        )

    def _label(self, path: Path) -> str:
        parent = kind_at(path[:-1])
        parts = () if parent is None else alternatives(parent)
        if any(isinstance(part, mi.VarTupleType) for part in parts):
            return str(int(path[-1]) + 1)
        is_id = any(isinstance(part, mi.DictType | mi.AnyType) for part in parts) or limit_record(path) is not None
        return path[-1] if is_id else label_of(path[-1])

    def _collection(self, path: Path, kind: mi.Type, value: Any, is_required: bool) -> Collection:
        entries = value if isinstance(value, dict) else {}
        holds_values = not any(isinstance(one, mi.StructType | mi.DictType) for one in alternatives(kind))
        named = suggestions_at(self.tree, path)
        names = [*entries, *(name for name in named if name not in entries)] if holds_values else [*entries]
        is_short = holds_values or len(names) <= LISTED or path[0] == "gates"
        open_names = [name for name in names if is_short or self._is_opened((*path, name))]
        return Collection(
            pointer=joined(path),
            label=self._label(path),
            help=_gate_rule(path) or help_at(path),
            is_required=is_required,
            holds="values" if holds_values else "entries",
            parts=tuple(self._entry((*path, name), kind) for name in open_names),
            closed=tuple(
                Closed(pointer=joined((*path, name)), label=name, summary=summary(entries[name]))
                for name in names
                if name not in open_names
            ),
            keys=tuple(name for name in named if name not in names),
            value_unit=unit_of(path[-1]),
        )

    def _entry(self, path: Path, kind: mi.Type) -> Part:
        # A limit has the record of its gate, which the type of the collection does not say.
        return self.part(path, kind_at(path) or kind, is_required=True)

    def _is_opened(self, path: Path) -> bool:
        return is_below(self.opened, joined(path))

    def _places(self, path: Path, kind: mi.Type, value: Any, is_required: bool) -> Collection:
        count = len(value) if isinstance(value, list) else 0
        return Collection(
            pointer=joined(path),
            label=self._label(path),
            help=help_at(path),
            is_required=is_required,
            holds="places",
            parts=tuple(self.part((*path, str(place)), kind, is_required=True) for place in range(count)),
        )

    def _field(self, path: Path, kind: mi.Type, value: Any, is_required: bool) -> Field:
        parts = alternatives(kind)
        is_list = any(isinstance(one, mi.VarTupleType) for one in parts)
        choices = _literals(parts) or choices_at(self.tree, path)
        return Field(
            pointer=joined(path),
            label=self._label(path),
            control=_list_control(choices) if is_list else _control(parts, choices),
            text=_list_text(value) if is_list else "" if value is None else field_text(value, kind),
            takes="" if _literals(parts) else expected(kind),
            is_required=is_required,
            unit=unit_of(path[-1]),
            help=help_at(path),
            choices=choices if not is_list else tuple(dict.fromkeys((*choices, *_texts(value)))),
            suggestions=() if choices else suggestions_at(self.tree, path),
            chosen=tuple(_texts(value)),
            decides=path[-1] in DECIDING,
        )


def summary(entry: Any) -> str:
    """Return the values of an entry on one line, in the order of the document."""
    values = entry.items() if isinstance(entry, dict) else ()
    return " · ".join(text for name, value in values if (text := _short(name, value)))


def _short(name: str, value: Any) -> str:
    if isinstance(value, list):
        return f"{label_of(name).lower()} {len(value)}"
    if isinstance(value, dict) or name == "because":
        return ""
    if name.endswith("_bytes") and isinstance(value, int):
        return gib(value)
    unit = unit_of(name)
    return f"{value:,} {unit}".strip() if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _gate_rule(path: Path) -> str:
    return _RULES.get(path[1], "") if len(path) == len(("gates", "gate")) and path[0] == "gates" else ""


_RULES = {gate.id: f"{gate.title}. {gate.doc}" for gate in GATES}


def _holds_records(kind: mi.Type) -> bool:
    return any(isinstance(one, mi.StructType) for one in alternatives(kind))


def _literals(parts: tuple[mi.Type, ...]) -> tuple[str, ...]:
    found = [value for part in parts if isinstance(part, mi.LiteralType) for value in part.values]
    if any(isinstance(part, mi.BoolType) for part in parts):
        found += [True, False]
    return tuple(value if isinstance(value, str) else str(value).lower() for value in found)


def _control(
    parts: tuple[mi.Type, ...], choices: tuple[str, ...]
) -> Literal["text", "prose", "number", "choice", "lines", "ticks"]:
    if choices:
        return "choice"
    if any(isinstance(part, mi.IntType | mi.FloatType) for part in parts):
        return "number"
    longest = max((part.max_length or 0 for part in parts if isinstance(part, mi.StrType)), default=0)
    return "prose" if longest > _PROSE else "text"


def _list_control(choices: tuple[str, ...]) -> Literal["lines", "ticks"]:
    return "ticks" if 0 < len(choices) <= _TICKED else "lines"


def _texts(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else ():
        yield item if isinstance(item, str) else str(item)


def _list_text(value: Any) -> str:
    return EMPTY_LIST if value == [] else "\n".join(_texts(value)) if isinstance(value, list) else str(value or "")
