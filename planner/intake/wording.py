"""What a record's type asks for, in words: the ``expected`` half of a problem."""

import json
from collections.abc import Sequence

from msgspec import inspect as mi

from planner.records.base import SAFE_INTEGER

__all__ = ["expected", "flat"]

_TITLED = {
    "id": "an id: 1 to 64 of a-z, 0-9, '.', '_', '-', first a letter or digit",
    "digest": "a digest: sha256: and 64 of 0-9, a-f",
    "UTC time, whole seconds": "a time such as 2026-09-20T09:40:00Z",
    "JSON pointer": "a JSON pointer of at most 512 characters, such as /trials/a/windows/w/start",
}


def flat(kind: mi.Type) -> tuple[mi.Type, ...]:
    """Return the alternatives of a type, one for a type that is no union; titles are kept around them."""
    if isinstance(kind, mi.UnionType):
        return tuple(leaf for part in kind.types for leaf in flat(part))
    return (kind,)


def expected(kind: mi.Type) -> str:
    """Say what a value of this type looks like."""
    alternatives = flat(kind)
    numbers = [part for part in alternatives if isinstance(part, mi.FloatType)]
    # An integer is a number too, so naming it beside a number would only be noise.
    named = [part for part in alternatives if not (numbers and isinstance(part, mi.IntType))]
    return ", or ".join(dict.fromkeys(map(_one, named)))


def _one(kind: mi.Type) -> str:
    if isinstance(kind, mi.Metadata):
        title = (kind.extra_json_schema or {}).get("title", "")
        return _TITLED.get(title) or _one(kind.type)
    if isinstance(kind, mi.IntType):
        return "an integer" + _bounds(kind.ge, kind.le)
    if isinstance(kind, mi.FloatType):
        return "a number" + _bounds(kind.ge, kind.le)
    if isinstance(kind, mi.StrType):
        return "text" + _length(kind.min_length, kind.max_length, "characters")
    if isinstance(kind, mi.LiteralType):
        return _choice(kind.values)
    if isinstance(kind, mi.VarTupleType | mi.ListType):
        return f"an array{_length(kind.min_length, kind.max_length, 'elements')}"
    if isinstance(kind, mi.DictType | mi.StructType):
        return "an object"
    return _PLAIN.get(type(kind), "a JSON value")


_PLAIN: dict[type, str] = {mi.BoolType: "true or false", mi.NoneType: "null"}


def _choice(values: Sequence[object]) -> str:
    words = [json.dumps(value) for value in values]
    return words[0] if len(words) == 1 else "one of " + ", ".join(words)


def _bounds(low: float | None, high: float | None) -> str:
    if high is None or high == SAFE_INTEGER:
        return "" if low is None else f" of at least {low:g}"
    return f" of at most {high:g}" if low is None else f" from {low:g} to {high:g}"


def _length(low: int | None, high: int | None, unit: str) -> str:
    if high is None:
        return "" if not low else f" of at least {low} {unit.removesuffix('s') if low == 1 else unit}"
    return f" of {low or 0} to {high:,} {unit}"
