"""No gate without its cases: each outcome that a gate can give stands in a table, and what it declares is true."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from planner.errors import DocumentRefusedError
from planner.evaluate import judge
from planner.gates import FAMILIES, GATES
from planner.gates.base import Gate
from planner.intake import read_contract, read_evidence
from planner.order import order_expand
from planner.view import views
from tests.planner import gates as package
from tests.planner.documents import changed, raw
from tests.planner.factories import AS_OF, BECAUSE, a_contract, an_evidence, judged
from tests.planner.gates.cases import Case, answer
from tests.planner.test_never_raises import pointers

PRICE = {"load_point": "saturated", "max_usd_per_hour": 100, "because": BECAUSE}
ALWAYS_OWED = {"PASS", "FAIL", "UNKNOWN"}


def tables() -> Iterator[ModuleType]:
    """Every test module of this package that has a table."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.name.rpartition(".")[2].startswith("test_") and module.name != __name__:
            found = importlib.import_module(module.name)
            if hasattr(found, "CASES"):
                yield found


TABLES = tuple(tables())
CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.CASES)
NEVER: dict[str, set[str]] = {
    gate: outcomes for table in TABLES for gate, outcomes in getattr(table, "NEVER", {}).items()
}
BY_ID = pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.id)


@BY_ID
def test_gate_has_a_case_for_every_outcome_it_can_give(gate: Gate) -> None:
    covered = {case.outcome for case in CASES if case.gate == gate.id}
    assert ALWAYS_OWED - NEVER.get(gate.id, set()) - covered == set()


@BY_ID
def test_no_case_shows_an_outcome_that_the_gate_is_said_never_to_give(gate: Gate) -> None:
    covered = {case.outcome for case in CASES if case.gate == gate.id}
    assert covered & NEVER.get(gate.id, set()) == set()


@BY_ID
def test_gate_stands_in_a_file_of_its_family(gate: Gate) -> None:
    package, _, module = gate.rule.__module__.rpartition(".")
    assert (package, module.partition("_")[0]) == ("planner.gates", gate.family)


@BY_ID
def test_gate_says_its_rule_in_a_title_and_a_doc(gate: Gate) -> None:
    assert gate.title
    assert not gate.title.endswith(".")
    assert len(gate.doc) > len(gate.title)
    assert gate.doc.endswith(".")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.limit is not None], ids=lambda case: f"{case.gate} {case.name}"
)
def test_a_limit_asks_only_for_what_its_gate_says_it_reads(case: Case) -> None:
    gate = next(gate for gate in GATES if gate.id == case.gate)
    assert gate.limit is not None
    assert case.limit is not None
    asked = {ask.metric for ask in gate.limit(because="A reason.", **case.limit).asks()}
    assert asked <= set(gate.reads)


def test_families_are_listed_in_the_order_of_the_specification() -> None:
    assert len(FAMILIES) == len(set(FAMILIES))
    assert list(dict.fromkeys(gate.family for gate in GATES)) == [
        "shape",
        "fabric",
        "evidence",
        "memory",
        "slo",
        "balance",
        "service",
        "failure",
        "cost",
        "handoff",
    ]


def compares_numbers(gate: Gate) -> bool:
    """Say whether some case of the gate has a margin: a limit that a reading can meet exactly."""
    return any(answer(case).margin is not None for case in CASES if case.gate == gate.id)


@BY_ID
def test_gate_that_compares_numbers_passes_exactly_at_its_limit(gate: Gate) -> None:
    margins = {answer(case).margin for case in CASES if (case.gate, case.outcome) == (gate.id, "PASS")}
    assert 0 in margins or not compares_numbers(gate)


@BY_ID
def test_gate_that_may_not_apply_has_a_case_for_it(gate: Gate) -> None:
    covered = {case.outcome for case in CASES if case.gate == gate.id}
    rule = inspect.getsource(gate.rule)
    assert "NOT_APPLICABLE" in covered or not ("not_applicable(" in rule or "NOT_APPLICABLE" in rule)


DECLARABLE = [gate for gate in GATES if gate.limit is not None]


@pytest.mark.parametrize("gate", DECLARABLE, ids=lambda gate: gate.id)
def test_gate_without_a_limit_is_not_declared_and_holds_nothing(gate: Gate) -> None:
    other = {"cost": {"price": PRICE}} if gate.id != "cost" else None
    found = judged(other)
    assert (found.gates[gate.id].outcome, found.gates[gate.id].limits) == ("NOT_DECLARED", {})
    assert gate.id not in (*found.failing, *found.unknown)


@pytest.mark.parametrize("gate", [gate for gate in GATES if gate.limit is None], ids=lambda gate: gate.id)
def test_gate_that_is_always_on_answers_whatever_is_declared(gate: Gate) -> None:
    assert judged({"cost": {"price": PRICE}}).gates[gate.id].outcome != "NOT_DECLARED"


@BY_ID
def test_gate_that_fails_names_what_decided(gate: Gate) -> None:
    failing = [answer(case) for case in CASES if (case.gate, case.outcome) == (gate.id, "FAIL")]
    assert [found.sentence for found in failing if not (found.worst or gate.id in WHOLE)] == []


WHOLE = {"cost", "equal_service", "rank_count"}
"""Gates that may fail as a whole: by a price, or by the number of devices."""


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
