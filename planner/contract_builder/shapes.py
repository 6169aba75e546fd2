"""The type of every place in a contract, from the records that read it: the one description that forms follow."""

from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import inspect as mi

from planner.intake.limit_rules import LIMIT_RECORDS
from planner.intake.wording import flat
from planner.pointers import place_of
from planner.records.contract import Contract

__all__ = ["Path", "alternatives", "bare", "described", "in_document_order", "kind_at", "limit_record", "skeleton"]

Path = tuple[str, ...]
"""The steps of a pointer (``planner.pointers.steps``)."""

_LIMIT_DEPTH = 3
"""Steps down to a limit: ``gates``, the gate, the limit's id."""


@cache
def described(record: type[msgspec.Struct]) -> mi.StructType:
    """Return the description of a record.

    Raises:
        TypeError: it is no record.
    """
    kind = mi.type_info(record)
    if not isinstance(kind, mi.StructType):
        raise TypeError(f"{record.__name__} is no record")
    return kind


def bare(kind: mi.Type) -> mi.Type:
    """Return a type without the metadata around it."""
    return bare(kind.type) if isinstance(kind, mi.Metadata) else kind


def alternatives(kind: mi.Type) -> tuple[mi.Type, ...]:
    """Return the alternatives of a type, without the metadata around them."""
    return tuple(map(bare, flat(kind)))


def limit_record(path: Path) -> type[msgspec.Struct] | None:
    """Return the record of the limit at a path, None where no limit of a known gate stands there."""
    return LIMIT_RECORDS.get(path[1]) if len(path) == _LIMIT_DEPTH and path[0] == "gates" else None


@lru_cache(maxsize=4096)
def kind_at(path: Path) -> mi.Type | None:
    """Return the type of what may stand at a path of a contract, None where nothing may.

    Entries of collections need not be there: the type of ``/gates/ttft/p95/max_ms`` is known without that limit.
    """
    if not path:
        return described(Contract)
    if len(path) == _LIMIT_DEPTH and path[0] == "gates":
        record = limit_record(path)
        return None if record is None else described(record)
    parent = kind_at(path[:-1])
    return None if parent is None else _below(parent, path[-1])


def _below(kind: mi.Type, step: str) -> mi.Type | None:
    for part in alternatives(kind):
        if isinstance(part, mi.StructType):
            return next((field.type for field in part.fields if field.encode_name == step), None)
        if isinstance(part, mi.DictType):
            return part.value_type
        if isinstance(part, mi.VarTupleType):
            return None if place_of(step) is None else part.item_type
        if isinstance(part, mi.AnyType):
            return part
    return None


def skeleton() -> dict[str, Any]:
    """Return a contract of which nothing is said yet: its schema, and the objects that every contract has."""
    return {"schema": "topogate.contract/v1"} | _required(described(Contract))


def _required(kind: mi.StructType) -> dict[str, Any]:
    return {
        field.encode_name: _required(part)
        for field in kind.fields
        if field.required and isinstance(part := bare(field.type), mi.StructType)
    }


def in_document_order(tree: Any, path: Path = ()) -> Any:
    """Return a tree with the members of records in the order of the records, those of collections as they came."""
    if isinstance(tree, list):
        return [in_document_order(item, (*path, str(place))) for place, item in enumerate(tree)]
    if not isinstance(tree, dict):
        return tree
    kind = kind_at(path)
    parts = () if kind is None else alternatives(kind)
    known = [field.encode_name for part in parts if isinstance(part, mi.StructType) for field in part.fields]
    names = [*(name for name in known if name in tree), *(name for name in tree if name not in known)]
    return {name: in_document_order(tree[name], (*path, name)) for name in names}
