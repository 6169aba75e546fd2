"""The doubles in a record, found by its type alone.

A field that is added to a record is read here without being named, and one of a type that is not known here is an error
when this is imported, not a double that nobody sees. Records of one type are read together, a field of all of them at a
time, which takes a tenth of what reading them one by one does.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

from msgspec import NODEFAULT, UNSET, inspect

__all__ = ["Doubles", "doubles_in"]

Reader = Callable[[Iterable[Any]], Iterable[Any]]
"""Finds, in many values of one type, everything that may be a double."""
Doubles = Callable[[Any], list[float]]

_WITHOUT = (
    inspect.StrType,
    inspect.IntType,
    inspect.BoolType,
    inspect.NoneType,
    inspect.LiteralType,
)


def doubles_in(record: type) -> Doubles:
    """Return what lists the doubles of a record of this type.

    Raises:
        TypeError: it has a field of a type that is not known here.
    """
    read = _reader(inspect.type_info(record)) or (lambda values: ())
    return lambda value: [found for found in read((value,)) if type(found) is float]


def _reader(kind: inspect.Type) -> Reader | None:
    """Return the reader of a type, None where it has no room for a double."""
    if isinstance(kind, inspect.FloatType):
        return _itself
    if isinstance(kind, inspect.Metadata):
        return _reader(kind.type)
    if isinstance(kind, inspect.UnionType):
        return _of_union(kind)
    if isinstance(kind, inspect.StructType):
        return _of_struct(kind)
    if isinstance(kind, inspect.DictType):
        return _inside(_reader(kind.value_type), _values_of_all)
    if isinstance(kind, inspect.VarTupleType):
        return _inside(_reader(kind.item_type), chain.from_iterable)
    if isinstance(kind, _WITHOUT):
        return None
    raise TypeError(f"doubles of {type(kind).__name__} are not known")


def _values_of_all(mappings: Iterable[dict[str, Any]]) -> list[Any]:
    # Most gates of most plans have no limits.
    return [value for mapping in filter(None, mappings) for value in mapping.values()]


def _of_union(kind: inspect.UnionType) -> Reader | None:
    has_doubles = any(isinstance(member, inspect.FloatType) for member in kind.types)
    others = (member for member in kind.types if not isinstance(member, inspect.FloatType))
    deeper = [reader for member in others if (reader := _reader(member)) is not None]
    if not deeper:
        return _itself if has_doubles else None
    if sum(not isinstance(member, inspect.NoneType) for member in kind.types) > 1:
        raise TypeError("doubles of a choice between what holds some and something else are not known")
    return _inside(deeper[0], _given)


def _itself(values: Iterable[Any]) -> Iterable[Any]:
    return values


def _of_struct(kind: inspect.StructType) -> Reader | None:
    fields = [(attrgetter(field.name), reader) for field in kind.fields if (reader := _of_field(field)) is not None]

    def read(values: Iterable[Any]) -> Iterator[Any]:
        records = tuple(values)
        return chain.from_iterable(reader(map(get, records)) for get, reader in fields)

    return read if fields else None


def _of_field(field: inspect.Field) -> Reader | None:
    reader = _reader(field.type)
    # A default of UNSET is told as none, and UnsetType is left out of the type.
    may_be_unset = not field.required and field.default is field.default_factory is NODEFAULT
    return _inside(reader, _given) if may_be_unset else reader


def _given(values: Iterable[Any]) -> Iterator[Any]:
    return (value for value in values if value is not None and value is not UNSET)


def _inside(inner: Reader | None, opened: Reader) -> Reader | None:
    """Return the reader of what lies one level deeper."""
    return None if inner is None else lambda values: inner(opened(values))
