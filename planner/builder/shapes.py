"""What a field of an evidence document holds: its type by its pointer, and how a person is asked for it.

Pointers may hold ``*`` for a trial or window. Fields below an identity have the type that the contract's identity
gives them; ``"unknown"`` is welcome there too. Fields that only a draft has (``DRAFT_FIELDS``) are typed here.
"""

from dataclasses import replace
from functools import cache, lru_cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from planner.builder.pointing import ANY
from planner.builder.state import QuestionKind
from planner.canonical import canonical_bytes
from planner.errors import DocumentRefusedError, Problem
from planner.intake.shape import shape_problems
from planner.intake.texts import text_problems
from planner.pointers import place_of, steps
from planner.records import base
from planner.records.contract import Identity
from planner.records.evidence import Evidence
from planner.strict_json import read

__all__ = ["DEVICE_NAMES", "LINK_NAMES", "SAME_RUN", "choices_of", "is_field", "kind_of", "problems_of"]

SAME_RUN = "same_run"
DEVICE_NAMES = "device_names"
LINK_NAMES = "link_names"
DRAFT_FIELDS: dict[str, Any] = {SAME_RUN: bool, DEVICE_NAMES: dict[str, str], LINK_NAMES: dict[str, str]}
"""Members of a trial that no document has: they say how to read its files."""

UNKNOWN = "unknown"
MAX_PLACES = 100_000
"""No array of evidence is longer than its ranks."""


@lru_cache(maxsize=4096)
def _type_at(pointer: str) -> Any:
    """Return the type of a field, None where a document has no such field."""
    path = steps(pointer)
    if len(path) == 3 and path[0] == "trials" and path[2] in DRAFT_FIELDS:
        return DRAFT_FIELDS[path[2]]
    if path[:1] == ("identities",) and len(path) > 2:
        return _descend(Identity, path[2:])
    return _descend(Evidence, path) if path else None


def _descend(kind: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        options = [found for part in _parts(kind) if (found := _member(part, step)) is not None]
        if not options:
            return None
        kind = options[0]
    return kind


def _parts(kind: Any) -> tuple[Any, ...]:
    """Return the alternatives of a type, without annotations and without being unset."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _parts(get_args(kind)[0])
    if origin in (Union, UnionType):
        return tuple(part for each in get_args(kind) for part in _parts(each))
    return () if kind is msgspec.UnsetType else (kind,)


def _member(kind: Any, step: str) -> Any:
    """Return the type of one member of a type, None where it has none of that name."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
        return _hints(kind)[fields[step]] if step in fields else None
    arguments = get_args(kind)
    if get_origin(kind) is dict:
        return arguments[1] if step == ANY or _is_key(step, arguments[0]) else None
    if get_origin(kind) is tuple:
        return None if place_of(step, MAX_PLACES) is None else arguments[0]
    return Any if kind is Any else None


def _is_key(step: str, kind: Any) -> bool:
    try:
        msgspec.convert(step, kind)
    except msgspec.ValidationError:
        return False
    return True


@cache
def _hints(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def is_field(pointer: str) -> bool:
    """Say whether the evidence document has such a field."""
    return _type_at(pointer) is not None


def problems_of(pointer: str, value: Any) -> tuple[Problem, ...]:
    """Return why a field does not take a value, with pointers from the document's root; none where it does."""
    kind = _type_at(pointer)
    if kind is None:
        return (Problem("builder/field", pointer, "a field of the evidence document", "none of that name"),)
    if value == UNKNOWN and pointer.startswith("/identities/"):
        return ()
    try:
        raw = canonical_bytes({MEMBER: value})
    except (TypeError, ValueError, RecursionError) as error:
        return (Problem("builder/value", pointer, "a JSON value", str(error)),)
    try:
        reading = read(raw)
    except DocumentRefusedError as refused:
        return tuple(_at(pointer, problem) for problem in refused.problems)
    found = (*reading.problems, *text_problems(reading.tree, raw), *shape_problems(reading.tree, _holder(pointer)))
    return tuple(_at(pointer, problem) for problem in found)


MEMBER = "value"


@lru_cache(maxsize=1024)
def _holder(pointer: str) -> type[msgspec.Struct]:
    """Return a record whose one member has the type of a field, so that problems have the words of intake."""
    return msgspec.defstruct("Holder", [(MEMBER, _type_at(pointer))], kw_only=True)


def _at(pointer: str, problem: Problem) -> Problem:
    return replace(problem, pointer=pointer + problem.pointer.removeprefix(f"/{MEMBER}"), line=None, column=None)


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def choices_of(pointer: str) -> tuple[str, ...]:
    """Return the words that a field takes, none where it takes others."""
    kind = _type_at(pointer)
    return tuple(word for part in _parts(kind) if get_origin(part) is Literal for word in get_args(part))


def kind_of(pointer: str) -> QuestionKind:
    """Return how a person is asked for a field."""
    named = _NAMED.get(steps(pointer)[-1] if pointer else "")
    if named is not None:
        return named
    kind = _type_at(pointer)
    if choices_of(pointer):
        return "choice"
    if _holds(kind, base.Time):
        return "time"
    if _holds(kind, base.Digest):
        return "digest"
    plain = {part for part in _parts(kind) if isinstance(part, type)} - {type(None)}
    return _KINDS.get(frozenset(plain), "json")


_NAMED: dict[str, QuestionKind] = {
    "instances": "instances",
    "rank_map": "rank_map",
    DEVICE_NAMES: "names",
    LINK_NAMES: "names",
}
_KINDS: dict[frozenset[type], QuestionKind] = {
    frozenset({bool}): "switch",
    frozenset({int}): "count",
    frozenset({int, float}): "number",
    frozenset({str}): "text",
}


def _holds(kind: Any, wanted: Any) -> bool:
    return kind == wanted or (_is_union(kind) and wanted in get_args(kind))
