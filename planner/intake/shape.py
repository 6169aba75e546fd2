"""Every way in which a tree differs from a record's type, each with its pointer.

msgspec stops at the first difference and says nothing of the rest, so its verdict is taken as the only one and this
walk explains it: a part that msgspec accepts is never looked at again. Differences between fields that the types
cannot say are not handled here (``planner.intake.contract``, ``planner.intake.evidence``).
"""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as mi

from planner.errors import Problem
from planner.intake.wording import expected, flat
from planner.pointers import child
from planner.shown import shown

__all__ = ["shape_problems"]


def shape_problems(tree: Any, record: type[msgspec.Struct], pointer: str = "") -> Iterator[Problem]:
    """Yield every difference between the tree at ``pointer`` and the record, none if it is accepted."""
    yield from _struct(tree, _described(record), pointer)


@cache
def _described(record: type[msgspec.Struct]) -> mi.StructType:
    described = mi.type_info(record)
    if not isinstance(described, mi.StructType):
        raise TypeError(f"{record.__name__} is no record")
    return described


def _walk(value: Any, kind: mi.Type, pointer: str) -> Iterator[Problem]:
    alternatives = [part for part in flat(kind) if _has_json_type(value, _bare(part))]
    if not alternatives:
        yield Problem("document/type", pointer, expected(kind), _with_type(value))
        return
    descend = _DESCEND.get(type(_bare(alternatives[0])))
    if descend:
        yield from descend(value, _bare(alternatives[0]), pointer)
        return
    faults = [_fault(value, _bare(part)) for part in alternatives]
    if None not in faults:
        yield Problem(f"document/{faults[0]}", pointer, expected(kind), shown(value))


def _bare(kind: mi.Type) -> mi.Type:
    return _bare(kind.type) if isinstance(kind, mi.Metadata) else kind


def _struct(value: Any, kind: Any, pointer: str) -> Iterator[Problem]:
    if type(value) is not dict:
        yield Problem("document/type", pointer, "an object", _with_type(value))
        return
    try:
        msgspec.convert(value, kind.cls)
    except msgspec.ValidationError as error:
        problems = _fields(value, kind, pointer)
        first = next(problems, None)
        # A record may check its fields together; it then says what it wants in one sentence.
        yield first or Problem("document/fields", pointer, _sentence(error), "other fields")
        yield from problems


def _fields(value: dict[str, Any], kind: mi.StructType, pointer: str) -> Iterator[Problem]:
    known = {field.encode_name: field for field in kind.fields}
    for name, field in known.items():
        if name in value:
            yield from _walk(value[name], field.type, child(pointer, name))
        elif field.required:
            at = child(pointer, name)
            yield Problem("document/missing_field", at, expected(field.type), "nothing", is_lacking=True)
    for name in value:
        if name not in known:
            yield _unknown_field(name, list(known), pointer)


def _unknown_field(name: str, known: list[str], pointer: str) -> Problem:
    nearest = get_close_matches(name[:64], known, n=1)
    wanted = f"a known field, such as {nearest[0]}" if nearest else "a known field"
    return Problem("document/unknown_field", child(pointer, name), wanted, shown(name))


def _sentence(error: msgspec.ValidationError) -> str:
    return re.sub(r" - at `.*\Z", "", str(error), flags=re.DOTALL)


def _mapping(value: dict[str, Any], kind: Any, pointer: str) -> Iterator[Problem]:
    if kind.min_length and len(value) < kind.min_length:
        wanted = "an object with at least one entry"
        yield Problem("document/length", pointer, wanted, "an empty object", is_lacking=True)
    for key, item in value.items():
        here = child(pointer, key)
        for problem in _walk(key, kind.key_type, here):
            yield Problem("document/key", here, problem.expected, problem.found)
        yield from _walk(item, kind.value_type, here)


def _array(value: list[Any], kind: Any, pointer: str) -> Iterator[Problem]:
    if kind.min_length and len(value) < kind.min_length:
        yield Problem("document/length", pointer, expected(kind), shown(value), is_lacking=not value)
    for index, item in enumerate(value):
        yield from _walk(item, kind.item_type, child(pointer, index))


_DESCEND: dict[type, Callable[[Any, Any, str], Iterator[Problem]]] = {
    mi.StructType: _struct,
    mi.DictType: _mapping,
    mi.VarTupleType: _array,
}


def _fault(value: Any, kind: Any) -> str | None:
    """Name what is wrong with a value that has the right JSON type."""
    if isinstance(kind, mi.IntType | mi.FloatType):
        low, high = kind.ge, kind.le
        return "range" if (low is not None and value < low) or (high is not None and value > high) else None
    if isinstance(kind, mi.LiteralType):
        return None if value in kind.values else "enumeration"
    if isinstance(kind, mi.StrType):
        return _text_fault(value, kind)
    return None


def _text_fault(value: str, kind: mi.StrType) -> str | None:
    if kind.pattern is not None and not re.search(kind.pattern, value):
        return "pattern"
    if len(value) < (kind.min_length or 0) or (kind.max_length is not None and len(value) > kind.max_length):
        return "length"
    return None


def _has_json_type(value: Any, kind: mi.Type) -> bool:
    if isinstance(kind, mi.LiteralType):
        return type(value) in map(type, kind.values)
    return isinstance(kind, mi.AnyType) or type(value) in _JSON_TYPES[type(kind)]


_JSON_TYPES: dict[type, tuple[type, ...]] = {
    mi.NoneType: (type(None),),
    mi.BoolType: (bool,),
    mi.IntType: (int,),
    mi.FloatType: (int, float),
    mi.StrType: (str,),
    mi.DictType: (dict,),
    mi.StructType: (dict,),
    mi.VarTupleType: (list,),
}


def _with_type(value: Any) -> str:
    return f"{shown(value)} ({_TYPE_WORDS[type(value)]})" if type(value) in _TYPE_WORDS else shown(value)


_TYPE_WORDS: dict[type, str] = {
    str: "text",
    bool: "true or false",
    float: "a number with a point or exponent",
    int: "an integer",
}
