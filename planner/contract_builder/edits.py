"""What a form changes in a contract that is being written: fields set and emptied, entries added, moved and removed.

Rules kept: every edit returns a new tree and leaves the old one as it was; a field that a form does not send is not
touched; an emptied field leaves the document, and an optional object that holds nothing any more goes with it.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import inspect as mi

from planner.contract_builder.shapes import Path, alternatives, kind_at
from planner.contract_builder.typed import field_text, typed_value
from planner.errors import PlannerError
from planner.pointers import place_of, steps

__all__ = [
    "EMPTY_LIST",
    "UnknownFieldError",
    "entry_added",
    "fields_set",
    "found_at",
    "merge_into",
    "merged",
    "moved_up",
    "removed",
    "value_set",
]

EMPTY_LIST = "[]"
"""What stands in the field of a list that is said to be empty, which is more than saying nothing."""


class UnknownFieldError(PlannerError):
    """A form sent a field that no contract has; ``pointer`` says which."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"no field of a contract: {pointer}")
        self.pointer = pointer


def fields_set(tree: Mapping[str, Any], sent: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the tree with the fields of a form: pointer -> what was typed, several texts for a list of ticks.

    Raises:
        UnknownFieldError: a pointer leads to no field of a contract.
    """
    edited = copy.deepcopy(dict(tree))
    for pointer, texts in sent.items():
        path = steps(pointer)
        kind = kind_at(path)
        if not path or kind is None:
            raise UnknownFieldError(pointer)
        if _is_list(kind):
            _set_list(edited, path, [text for text in map(str.strip, _lines(texts)) if text])
        else:
            _set_text(edited, path, kind, texts[-1] if texts else "")
    return edited


def _is_list(kind: mi.Type) -> bool:
    return any(isinstance(part, mi.VarTupleType) for part in alternatives(kind))


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines()]


def _set_list(tree: dict[str, Any], path: Path, items: list[str]) -> None:
    if items == [EMPTY_LIST]:
        _set(tree, path, ())
    elif items != found_at(tree, path) or not items:
        _set(tree, path, items or None)


def _set_text(tree: dict[str, Any], path: Path, kind: mi.Type, text: str) -> None:
    parent = found_at(tree, path[:-1])
    has = isinstance(parent, dict) and path[-1] in parent
    if has and _without_breaks(field_text(parent[path[-1]], kind)) == _without_breaks(text):
        return  # a control changes line breaks of what nobody touched
    plain = text.replace("\r\n", "\n")
    _set(tree, path, typed_value(plain, kind, path[-1]) if plain.strip() else None)


def _without_breaks(text: str) -> str:
    return text.replace("\r", "").replace("\n", "")


def _set(tree: dict[str, Any], path: Path, value: Any) -> None:
    """Set a value; None takes the member away, and what held nothing else with it."""
    if value is not None:
        value = [] if value == () else value
        parent = _made(tree, path[:-1])
        if isinstance(parent, dict):
            parent[path[-1]] = value
        elif isinstance(parent, list) and (place := place_of(path[-1], len(parent))) is not None:
            parent[place] = value
        return
    parent = found_at(tree, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)
        _prune(tree, path[:-1])


def _prune(tree: dict[str, Any], path: Path) -> None:
    """Take away what is left empty, from the inside out; an entry that somebody added stays."""
    while path and found_at(tree, path) in ({}, []) and _is_prunable(path):
        parent = found_at(tree, path[:-1])
        if not isinstance(parent, dict):
            return
        del parent[path[-1]]
        path = path[:-1]


def _is_prunable(path: Path) -> bool:
    """Say whether an empty object means no more than none: a collection, or a record that may be left out."""
    kind, parent = kind_at(path), kind_at(path[:-1])
    if kind is None or parent is None or not any(isinstance(part, mi.StructType) for part in alternatives(kind)):
        return True
    fields = (field for part in alternatives(parent) if isinstance(part, mi.StructType) for field in part.fields)
    return any(field.encode_name == path[-1] and not field.required for field in fields)


def found_at(tree: Any, path: Path) -> Any:
    """Return what stands at a path through objects and arrays, None where nothing does."""
    for step in path:
        if isinstance(tree, Mapping):
            tree = tree.get(step)
        elif isinstance(tree, list) and (place := place_of(step, len(tree))) is not None:
            tree = tree[place]
        else:
            return None
    return tree


def _made(tree: dict[str, Any], path: Path) -> Any:
    """Return the object at a path, made where nothing stands; what is no object gives way to it."""
    here: Any = tree
    for depth, step in enumerate(path):
        if isinstance(here, list):
            here = {} if (place := place_of(step, len(here))) is None else here[place]
            continue
        if not isinstance(here.get(step), dict | list):
            kind = kind_at(path[: depth + 1])
            here[step] = [] if kind is not None and _is_list(kind) else {}
        here = here[step]
    return here


def entry_added(tree: Mapping[str, Any], pointer: str, name: str, value: Any = None) -> dict[str, Any]:
    """Return the tree with an entry in the collection at a pointer; one of that name that is there stays as it is.

    Raises:
        UnknownFieldError: the pointer leads to no collection.
    """
    edited = copy.deepcopy(dict(tree))
    path = steps(pointer)
    kind = kind_at((*path, name)) if path else None
    if kind is None:
        raise UnknownFieldError(pointer)
    own_kind = kind_at(path)
    if own_kind is not None and _is_list(own_kind):
        listed = _made(edited, path)
        listed.append({} if value is None else value)
        return edited
    _made(edited, path).setdefault(name, {} if value is None else value)
    return edited


def value_set(tree: Mapping[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """Return the tree with a value of any kind at a pointer, whether it fits or not; None takes it out.

    Raises:
        UnknownFieldError: the pointer leads to no field of a contract.
    """
    path = steps(pointer)
    if not path or kind_at(path) is None:
        raise UnknownFieldError(pointer)
    edited = copy.deepcopy(dict(tree))
    _set(edited, path, value)
    return edited


def removed(tree: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """Return the tree without what stands at a pointer; a collection that is left empty goes too."""
    edited = copy.deepcopy(dict(tree))
    path = steps(pointer)
    parent = found_at(edited, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1] if path else "", None)
    elif isinstance(parent, list) and (place := place_of(path[-1], len(parent))) is not None:
        del parent[place]
    _prune(edited, path[:-1])
    return edited


def moved_up(tree: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """Return the tree with an entry of an array one place further to the front."""
    edited = copy.deepcopy(dict(tree))
    path = steps(pointer)
    listed = found_at(edited, path[:-1])
    if isinstance(listed, list) and (place := place_of(path[-1], len(listed))):
        listed[place - 1], listed[place] = listed[place], listed[place - 1]
    return edited


def merged(tree: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree with every leaf of ``part`` in it, over what stood there."""
    edited = copy.deepcopy(dict(tree))
    merge_into(edited, part)
    return edited


def merge_into(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Put every leaf of ``part`` into a tree that is being built."""
    for name, value in part.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            merge_into(into[name], value)
        else:
            into[name] = copy.deepcopy(value)
