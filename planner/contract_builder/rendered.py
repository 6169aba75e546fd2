"""The bytes of a contract that is being written: what is shown, downloaded, judged and submitted is this one text.

Members of records stand in the order of the records; what is short stands on one line, so that a fleet of devices reads
as a table. The layout is for people: a contract is known by its content id, which no layout changes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from planner.contract_builder.shapes import in_document_order
from planner.errors import DocumentRefusedError, Problem
from planner.intake import ContractDocument, read_contract
from planner.pointers import child

__all__ = ["Judged", "Line", "judged", "lines_of", "rendered"]

WIDTH = 110
INDENT = "  "


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file, and the pointer of what it is a line of."""

    pointer: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A contract as it would be stored: its bytes, and what intake says of them.

    ``document`` is None while there is any problem.
    """

    raw: bytes
    lines: tuple[Line, ...]
    document: ContractDocument | None
    problems: tuple[Problem, ...]

    @property
    def wrong(self) -> tuple[Problem, ...]:
        """Problems of what is there; the rest is still to be said."""
        return tuple(problem for problem in self.problems if not problem.is_lacking)


def judged(tree: Mapping[str, Any]) -> Judged:
    """Judge a tree by the bytes that it would be stored as."""
    lines = lines_of(tree)
    raw = _joined(lines)
    try:
        return Judged(raw=raw, lines=lines, document=read_contract(raw), problems=())
    except DocumentRefusedError as refused:
        return Judged(raw=raw, lines=lines, document=None, problems=refused.problems)


def rendered(tree: Mapping[str, Any]) -> bytes:
    """Return the contract as a file."""
    return _joined(lines_of(tree))


def _joined(lines: Iterable[Line]) -> bytes:
    return "".join(f"{line.text}\n" for line in lines).encode("utf-8", "surrogatepass")


def lines_of(tree: Mapping[str, Any]) -> tuple[Line, ...]:
    """Return the lines of the file; a line that closes an object belongs to it."""
    lines: list[Line] = []
    _write(in_document_order(tree), "", "", "", "", lines)
    return tuple(lines)


def _write(value: Any, pointer: str, indent: str, lead: str, end: str, lines: list[Line]) -> None:
    """Append the lines of a value; ``lead`` stands before it on its first line, ``end`` after it on its last."""
    short = _on_one_line(value, len(indent) + len(lead))
    if short is not None:
        lines.append(Line(pointer, f"{indent}{lead}{short}{end}"))
        return
    is_object = isinstance(value, dict)
    members = [*value.items()] if is_object else [*enumerate(value)]
    lines.append(Line(pointer, f"{indent}{lead}{'{' if is_object else '['}"))
    for place, (name, item) in enumerate(members):
        own_lead = f"{_json(name)}: " if is_object else ""
        own_end = "," if place < len(members) - 1 else ""
        _write(item, child(pointer, name), indent + INDENT, own_lead, own_end, lines)
    lines.append(Line(pointer, f"{indent}{'}' if is_object else ']'}{end}"))


def _on_one_line(value: Any, taken: int) -> str | None:
    """Return the value's text where it fits and holds no object with members."""
    if not isinstance(value, dict | list) or not value:
        return _json(value)
    inside = value.values() if isinstance(value, dict) else value
    if any(isinstance(item, dict) and item for item in inside):
        return None
    text = _json(value)
    return text if taken + len(text) <= WIDTH else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
