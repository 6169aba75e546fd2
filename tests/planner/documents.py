"""Documents for tests: the shipped examples as trees, changed at one pointer at a time."""

import copy
import json
from pathlib import Path
from typing import Any

from planner.errors import DocumentRefusedError, Problem
from planner.intake import ContractDocument, EvidenceDocument, read_contract, read_evidence

EXAMPLES = Path(__file__).parents[2] / "examples"
ABSENT = object()
"""Stands for "take the field away" in a change."""

Change = tuple[str, Any]
"""A pointer and the value to put there."""


def example(name: str, kind: str) -> Any:
    """Return the tree of ``examples/<name>/<kind>.json``, new at every call."""
    return json.loads((EXAMPLES / name / f"{kind}.json").read_bytes())


def changed(tree: Any, *changes: Change) -> Any:
    """Return a copy of the tree with every change made; a new member may be put into an object."""
    tree = copy.deepcopy(tree)
    for pointer, value in changes:
        *path, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        node = tree
        for step in path:
            node = node[int(step)] if isinstance(node, list) else node[step]
        key = int(last) if isinstance(node, list) else last
        if value is ABSENT:
            del node[key]
        else:
            node[key] = value
    return tree


def raw(tree: Any) -> bytes:
    """Return the bytes of a file with this tree."""
    return json.dumps(tree, indent=1).encode()


def contract(*changes: Change, name: str = "worked") -> ContractDocument:
    """Return an example's contract as intake reads it, changed."""
    return read_contract(raw(changed(example(name, "contract"), *changes)))


def evidence(*changes: Change, name: str = "worked") -> EvidenceDocument:
    """Return an example's evidence as intake reads it, changed and not held against a contract."""
    return read_evidence(raw(changed(example(name, "evidence"), *changes)))


def problems_of(read: Any, tree: Any, *arguments: Any) -> tuple[Problem, ...]:
    """Return what a reader says against a tree; none where it is accepted."""
    try:
        read(tree if isinstance(tree, bytes) else raw(tree), *arguments)
    except DocumentRefusedError as refused:
        return refused.problems
    return ()


def findings(read: Any, tree: Any, *arguments: Any) -> list[tuple[str, str, str, str]]:
    """Return (code, pointer, expected, found) of every problem."""
    return [(p.code, p.pointer, p.expected, p.found) for p in problems_of(read, tree, *arguments)]
