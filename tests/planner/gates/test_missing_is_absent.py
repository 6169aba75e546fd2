"""Whatever figure is 0: what a gate says is not recorded is not there."""

import re
from typing import Any

import pytest

from planner.errors import DocumentRefusedError
from planner.evaluate import judge
from planner.gates import GATES
from planner.gates.base import Gate
from planner.intake import read_contract, read_evidence
from planner.order import order_expand
from planner.view import views
from tests.planner.documents import changed, raw
from tests.planner.factories import AS_OF, BECAUSE, a_contract, an_evidence
from tests.planner.gates.test_coverage import CASES
from tests.planner.test_never_raises import pointers

PASSING = {case.gate: case for case in CASES if case.outcome == "PASS" and case.limit is not None}
"""A case of each gate in which all its evidence is there."""


def found_at(tree: Any, pointer: str) -> Any:
    """Return what stands at a pointer; None where nothing does."""
    for step in pointer.split("/")[1:]:
        if isinstance(tree, list):
            tree = tree[int(step)] if int(step) < len(tree) else None
        else:
            tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def spots(trial: Any, gate: Gate) -> list[str]:
    """Pointers of the figures that the gate may read in the first window or a baseline; one stands for an array."""
    read = {f"/windows/{window}/{name.partition('.')[0]}/" for window in ("w1", "i1") for name in gate.reads}
    figures = (at for at in pointers(trial) if at.startswith((*read, "/baseline/")))
    alike = {re.sub(r"/\d+$", "", at): at for at in figures if type(found_at(trial, at)) in (int, float)}
    return list(alike.values())


@pytest.mark.parametrize("gate", [gate for gate in GATES if gate.id in PASSING], ids=lambda gate: gate.id)
def test_what_is_not_recorded_is_not_there(gate: Gate) -> None:
    case = PASSING[gate.id]
    assert case.limit is not None
    contract = a_contract(*case.contract, gates={gate.id: {"limit": {"because": BECAUSE, **case.limit}}})
    below = tuple((f"/trials/t{pointer}", value) for pointer, value in case.trial)
    evidence = an_evidence(contract, *case.evidence, *below)
    read = read_contract(raw(contract))
    keys = order_expand(read.record).keys
    for spot in spots(evidence["trials"]["t"], gate):
        tree = changed(evidence, (f"/trials/t{spot}", 0))
        try:
            view = views(read, read_evidence(raw(tree), read), AS_OF)["t"]
        except DocumentRefusedError:
            continue
        said = judge(view, keys).gates[gate.id].limits["limit"]
        is_silent = said.outcome == "UNKNOWN" and "not recorded" in said.sentence
        there = [at for at in said.missing if is_silent and found_at(tree, at) is not None]
        assert there == [], (spot, said.sentence)
