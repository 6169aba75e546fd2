"""Read values of a ``config.json`` by key, and keep which key of which file gave each of them.

Rules kept: strict JSON; a value that is read is checked for type and range; a key that is ``null`` is the same as
absent. What is wrong with values that nothing reads (published files hold ``Infinity``) is said, not refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import Problem
from planner.pointers import child
from planner.shown import shown
from planner.strict_json import Reading

__all__ = ["LARGEST", "File", "Keys", "Missing", "Source"]

LARGEST = 2**24
"""Largest width, head count or vocabulary; the largest published ones are an order smaller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file: its name and what the strict parser found."""

    name: str
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the value of ``field`` comes from: pointers in a file, and the rule where it is not the value itself."""

    field: str
    file: str
    pointers: tuple[str, ...]
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A fact that no file states; ``asked`` says what is wanted."""

    field: str
    asked: str


class Keys:
    """The objects of one file in which keys are looked up, innermost first, and what was found.

    ``scopes`` are pointers of objects. ``sources`` and ``problems`` grow while values are read.
    """

    def __init__(self, file: File, scopes: Sequence[str] = ("",)) -> None:
        self.name = file.name
        self._file = file
        self._scopes = [(scope, _at(file.reading.tree, scope)) for scope in scopes]
        self.sources: list[Source] = []
        self.problems: list[Problem] = []
        self._read: set[str] = set()

    def has(self, *keys: str) -> bool:
        """Say whether any of the keys is there and not null."""
        return self._found(keys) is not None

    def value(self, *keys: str) -> Any:
        """Return the first of the keys that is there, whatever it holds; None without one. It counts as read."""
        found = self._found(keys)
        if found is None:
            return None
        self._read.add(found[0])
        return found[1]

    def count(self, field: str, *keys: str, least: int = 1, most: int = LARGEST) -> int | None:
        """Return a whole number, None where no key is there or the value is wrong; the latter is a problem."""
        found = self._found(keys)
        if found is None:
            return None
        pointer, value = found
        self._read.add(pointer)
        expected = f"a whole number from {least} to {most}"
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(pointer, "document/type", expected, value)
        elif not least <= value <= most:
            self.refuse(pointer, "document/range", expected, value)
        else:
            self._note(field, pointer)
            return value
        return None

    def flag(self, field: str, *keys: str) -> bool | None:
        """Return true or false, None as in ``count``."""
        found = self._typed(field, keys, bool, "true or false")
        return found if isinstance(found, bool) else None

    def text(self, field: str, *keys: str) -> str | None:
        """Return a text, None as in ``count``."""
        found = self._typed(field, keys, str, "a text")
        return found if isinstance(found, str) else None

    def array(self, field: str, *keys: str) -> list[Any] | None:
        """Return an array, None as in ``count``."""
        found = self._typed(field, keys, list, "an array")
        return found if isinstance(found, list) else None

    def texts(self, field: str, *keys: str) -> tuple[str, ...] | None:
        """Return an array of texts, None as in ``count``."""
        found = self.array(field, *keys)
        if found is None:
            return None
        wrong = [item for item in found if not isinstance(item, str)]
        if wrong:
            self.refuse(self.pointer(*keys), "document/type", "an array of texts", wrong[0])
            return None
        return tuple(found)

    def ruled(self, field: str, rule: str, *keys: str) -> None:
        """Note that a field follows from keys by a rule."""
        pointers = tuple(self.pointer(key) for key in keys if self.has(key))
        self._read.update(pointers)
        self.sources.append(Source(field=field, file=self._file.name, pointers=pointers, rule=rule))

    def pointer(self, *keys: str) -> str:
        """Return the pointer of the first key that is there, or of where it would be."""
        found = self._found(keys)
        return found[0] if found else child(self._scopes[-1][0], keys[0])

    def refuse(self, pointer: str, code: str, expected: str, found: Any) -> None:
        """Keep a problem."""
        self._read.add(pointer)
        self.problems.append(Problem(code, pointer, expected, shown(found)))

    def flaws(self) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """Return what the strict parser found at places that were read, and at others."""
        places = tuple(self._read)
        of_read = [
            problem
            for problem in self._file.reading.problems
            if any(f"{problem.pointer}/".startswith(f"{place}/") for place in places)
        ]
        others = [problem for problem in self._file.reading.problems if problem not in of_read]
        return tuple(of_read), tuple(others)

    def _typed(self, field: str, keys: Sequence[str], kind: type, expected: str) -> Any:
        found = self._found(keys)
        if found is None:
            return None
        pointer, value = found
        self._read.add(pointer)
        if not isinstance(value, kind):
            self.refuse(pointer, "document/type", expected, value)
            return None
        self._note(field, pointer)
        return value

    def _note(self, field: str, pointer: str) -> None:
        if field:
            self.sources.append(Source(field=field, file=self._file.name, pointers=(pointer,)))

    def _found(self, keys: Sequence[str]) -> tuple[str, Any] | None:
        for key in keys:
            for scope, node in self._scopes:
                if node.get(key) is not None:
                    return child(scope, key), node[key]
        return None


def _at(tree: Any, pointer: str) -> Mapping[str, Any]:
    """Return the object that a pointer of plain keys leads to; an empty one where it leads elsewhere."""
    node = tree
    for step in pointer.split("/")[1:]:
        node = node.get(step) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}
