"""The bytes of a contract that is being written: what is shown, downloaded, judged and submitted is this one text.

Members of records stand in the order of the records; what is short stands on one line, so that a fleet of devices reads
as a table. The layout is for people: a contract is known by its content id, which no layout changes.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.contract_builder.shapes import in_document_order
from planner.errors import DocumentRefusedError, Problem
from planner.intake import ContractDocument, read_contract

__all__ = ["Judged", "is_open", "judged", "rendered"]

WIDTH = 110
INDENT = "  "
_NOTHING = frozenset({"nothing", "neither", "none of them", "an empty object", "an empty array"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A contract as it would be stored: its bytes, and what intake says of them.

    ``document`` is None while there is any problem.
    """

    raw: bytes
    document: ContractDocument | None
    problems: tuple[Problem, ...]

    @property
    def wrong(self) -> tuple[Problem, ...]:
        """Problems of what is there; the rest is still to be said."""
        return tuple(problem for problem in self.problems if not is_open(problem))


def is_open(problem: Problem) -> bool:
    """Say whether a problem only says that something is not there yet."""
    return problem.found in _NOTHING


def judged(tree: Mapping[str, Any]) -> Judged:
    """Judge a tree by the bytes that it would be stored as."""
    raw = rendered(tree)
    try:
        return Judged(raw=raw, document=read_contract(raw), problems=())
    except DocumentRefusedError as refused:
        return Judged(raw=raw, document=None, problems=refused.problems)


def rendered(tree: Mapping[str, Any]) -> bytes:
    """Return the contract as a file."""
    text = "\n".join(_lines(in_document_order(tree), "", ""))
    return f"{text}\n".encode("utf-8", "surrogatepass")


def _lines(value: Any, indent: str, lead: str) -> Iterator[str]:
    """Yield the lines of a value; ``lead`` stands before it on its first line."""
    short = _on_one_line(value, len(indent) + len(lead))
    if short is not None:
        yield f"{indent}{lead}{short}"
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    members = (
        [(f"{_json(name)}: ", item) for name, item in value.items()] if opening == "{" else [("", v) for v in value]
    )
    yield f"{indent}{lead}{opening}"
    for place, (name, item) in enumerate(members):
        *earlier, last = _lines(item, indent + INDENT, name)
        yield from earlier
        yield last + ("," if place < len(members) - 1 else "")
    yield f"{indent}{closing}"


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
