"""Read parts of a tree that may be wrong anywhere: a part of another shape counts as empty.

The shape has been judged elsewhere; rules that join fields then run on what is sound, so that one wrong field does
not hide the next problem.
"""

from collections.abc import Container, Iterator
from typing import Any

from planner.errors import Problem
from planner.pointers import child
from planner.shown import shown

__all__ = ["array_at", "missing", "object_at", "objects_at", "referenced", "value_at"]


def value_at(tree: Any, *path: str) -> Any:
    """Return what stands at the path, None where a step is no object or has no such member."""
    for step in path:
        tree = tree.get(step) if type(tree) is dict else None
    return tree


def object_at(tree: Any, *path: str) -> dict[str, Any]:
    """Return the object at the path, else an empty one."""
    found = value_at(tree, *path)
    return found if type(found) is dict else {}


def array_at(tree: Any, *path: str) -> list[Any]:
    """Return the array at the path, else an empty one."""
    found = value_at(tree, *path)
    return found if type(found) is list else []


def objects_at(tree: Any, *path: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (pointer, id, member) of every member of the object at the path that is itself an object."""
    pointer = "".join(f"/{step}" for step in path)
    for key, item in object_at(tree, *path).items():
        if type(item) is dict:
            yield child(pointer, key), key, item


def referenced(value: Any, known: Container[str], what: str, pointer: str) -> Iterator[Problem]:
    """Yield a problem if text names nothing in ``known``."""
    if type(value) is str and value not in known:
        yield Problem("document/unknown_reference", pointer, what, shown(value))


def missing(pointer: str, expected: str) -> Problem:
    """Return the problem of a field that another field makes necessary."""
    return Problem("document/missing_field", pointer, expected, "nothing", is_lacking=True)
