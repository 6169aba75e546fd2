"""Two documents side by side: the leaves that were added, removed or changed, each with its pointer.

Rules kept: a leaf is what ``planner.identity`` compares, any JSON value that is no object with members; objects are
collections keyed by id, so their order carries no meaning, and one that both have differs by its members alone; an
array of objects has its places for ids (ranks, instances), any other array is one leaf; numbers are equal by value,
text byte for byte, and a boolean is no number. Changes come sorted by their place, whatever the order of the
documents. Not handled: what a change means for a plan.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from planner.identity import same
from planner.pointers import child, joined, steps

__all__ = ["ABSENT", "Absent", "FieldChange", "changes_by_section", "document_diff", "section_of"]

_OBSERVED_STEPS = 3
"""Steps down to a section of an identity as it was observed: ``identities``, its id, the section."""


class Absent:
    """The type of ``ABSENT``."""

    def __repr__(self) -> str:
        """Return the name."""
        return "ABSENT"


ABSENT = Absent()
"""Stands where a document has nothing; ``None`` is the ``null`` that it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One leaf that differs. ``whole`` is the largest part that came or went with it, its own pointer if none did.

    ``section`` is the part of the document that people speak of: ``identity/model``, ``gates``, ``trials``.
    """

    pointer: str
    kind: Literal["added", "removed", "changed"]
    before: Any
    after: Any
    whole: str

    @property
    def section(self) -> str:
        """The section that the leaf is in."""
        return section_of(self.pointer)


def document_diff(before: Any, after: Any) -> tuple[FieldChange, ...]:
    """Return every leaf that differs between two JSON trees, sorted by place."""
    return tuple(_differing(before, after, ""))


def changes_by_section(changes: tuple[FieldChange, ...]) -> dict[str, tuple[FieldChange, ...]]:
    """Return the changes of each section, sections in the order of their first change."""
    sections: dict[str, list[FieldChange]] = {}
    for change in changes:
        sections.setdefault(change.section, []).append(change)
    return {section: tuple(found) for section, found in sections.items()}


def section_of(pointer: str) -> str:
    """Return the section of a leaf: a member of the document, of its identity, or of an identity as observed."""
    path = steps(pointer)
    if not path:
        return ""
    if path[0] == "identity" and len(path) > 1:
        return joined(path[:2])[1:]
    if path[0] == "identities" and len(path) >= _OBSERVED_STEPS:
        return joined((path[0], path[2]))[1:]
    return joined(path[:1])[1:]


def _differing(before: Any, after: Any, pointer: str) -> Iterator[FieldChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            yield from _differing(before.get(name, ABSENT), after.get(name, ABSENT), child(pointer, name))
    elif _is_table(before) and _is_table(after):
        for place, (old, new) in enumerate(zip_longest(before, after, fillvalue=ABSENT)):
            yield from _differing(old, new, child(pointer, place))
    elif not same(before, after):
        yield from _one_sided(before, after, pointer)


def _one_sided(before: Any, after: Any, pointer: str) -> Iterator[FieldChange]:
    old, new = dict(_leaves(before, pointer)), dict(_leaves(after, pointer))
    for place in dict.fromkeys((*old, *new)):
        was, is_now = old.get(place, ABSENT), new.get(place, ABSENT)
        kind: Literal["added", "removed", "changed"] = (
            "added" if was is ABSENT else "removed" if is_now is ABSENT else "changed"
        )
        yield FieldChange(
            pointer=place, kind=kind, before=was, after=is_now, whole=place if kind == "changed" else pointer
        )


def _leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if value is ABSENT:
        return
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from _leaves(value[name], child(pointer, name))
    elif _is_table(value):
        for place, item in enumerate(value):
            yield from _leaves(item, child(pointer, place))
    else:
        yield pointer, value


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
