"""Settings: values of the contract put, changed or left out, and the contract that intake makes of it.

Rules kept: only sections that evidence is not bound to are changed; the changed contract passes the same intake as any
other; every problem is told, not only the first.
"""

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from planner.canonical import canonical_bytes
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError, Problem
from planner.intake import read_contract
from planner.pointers import steps
from planner.records.overrides import Override
from planner.shown import printable, shown

__all__ = ["CODE", "SECTIONS", "Setting", "changed_contract", "repeated"]

SECTIONS = (
    "gates",
    "needs",
    "headroom",
    "comparison",
    "steady_state",
    "evidence_required",
    "fleet",
    "selection",
    "validity",
)
"""Sections of a contract that an override may change; evidence is bound to all others."""
CODE = "document/override"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value of the contract to put at the pointer ``at``; with ``removes``, what stands there is left out."""

    at: str
    value: Any = None
    removes: bool = False


def changed_contract(tree: Any, settings: Sequence[Setting]) -> tuple[ContractDocument, tuple[Override, ...]]:
    """Return the changed contract as intake reads it, and what was changed; ``tree`` is changed in place.

    Raises:
        DocumentRefusedError: a setting has no place or no value in JSON, is given twice, or the contract is refused.
    """
    made = [_put(tree, setting) for setting in settings]
    problems = (*(found for found in made if isinstance(found, Problem)), *repeated(each.at for each in settings))
    if problems:
        raise DocumentRefusedError(problems)
    try:
        changed = read_contract(canonical_bytes(tree))
    except DocumentRefusedError as error:
        # Lines and columns of a text that nobody wrote say nothing.
        raise DocumentRefusedError(tuple(replace(each, line=None, column=None) for each in error.problems)) from error
    return changed, tuple(found for found in made if isinstance(found, Override))


def _put(tree: Any, setting: Setting) -> Override | Problem:
    """Make one change in the tree; what stands around it has to be there."""
    path = steps(setting.at)
    if not path or path[0] not in SECTIONS:
        return Problem(
            CODE, setting.at, f"a pointer into {', '.join(SECTIONS)}", shown(path[0] if path else setting.at)
        )
    holder = tree
    for step in path[:-1]:
        holder = holder.get(step) if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        return Problem(CODE, setting.at, "a place inside an object of the contract", "nothing that holds it")
    old = copy.deepcopy(holder.get(path[-1]))
    if not setting.removes:
        try:
            written = canonical_bytes([setting.at, setting.value])
        except (TypeError, ValueError, RecursionError):
            return Problem(CODE, printable(setting.at), "a pointer and a value as JSON has them", "another")
        # Its own copies: a later setting may change what stands inside, and the caller keeps what is theirs.
        _, value = msgspec.json.decode(written)
        holder[path[-1]] = value
        return Override(kind="set", at=setting.at, old=old, new=copy.deepcopy(value))
    if path[-1] not in holder:
        return Problem(CODE, setting.at, "something that the contract has", "nothing")
    del holder[path[-1]]
    if not holder and path[0] == "gates" and len(path) == 3:
        # A gate that is left without a limit is not declared.
        del tree["gates"][path[1]]
    return Override(kind="without", at=setting.at, old=old)


def repeated(names: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each name that is there more than once."""
    for name, times in sorted(Counter(names).items()):
        if times > 1:
            yield Problem(CODE, name, "one value", f"{times} values")
