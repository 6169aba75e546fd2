"""Trial ``t`` of the small documents under stress: one injection, one cell, or the changed copy itself."""

from collections.abc import Mapping
from typing import Any

import msgspec

from planner.evaluate import judge
from planner.order import order_expand
from planner.records.evidence import Trial
from planner.records.stress import StressCell
from planner.stress import INJECTIONS, stress_matrix
from planner.stress.base import Case, Fault, Injected
from planner.stress.matrix import fault_sizes
from planner.view import TrialView, views
from tests.planner.documents import Change
from tests.planner.factories import AS_OF, BECAUSE, NO_CHANGE, Changes, documents

BY_ID = {injection.id: injection for injection in INJECTIONS}


def limits(**gates: Mapping[str, Any]) -> dict[str, Any]:
    """Return gates with one limit ``limit`` each."""
    return {gate: {"limit": {"because": BECAUSE, **limit}} for gate, limit in gates.items()}


def cell(
    injection: str, gates: Mapping[str, Any] | None = None, changes: Changes = NO_CHANGE, *, target: str = ""
) -> StressCell:
    """Return what an injection leads to in trial ``t``."""
    matrix = stress_matrix(*documents(gates, changes), AS_OF)
    return next(row.cells["t"] for row in matrix.rows if (row.injection, row.target) == (injection, target))


def summary(found: StressCell) -> tuple[str, str | None, Any, Any]:
    """Return result, gate, and the reading before and after."""
    return found.result, found.gate, found.before, found.after


def fault(
    injection: str, gates: Mapping[str, Any] | None = None, changes: Changes = NO_CHANGE, *, target: str = ""
) -> tuple[TrialView, Fault]:
    """Return the view of trial ``t`` and what an injection makes of it."""
    contract, evidence = documents(gates, changes)
    view = views(contract, evidence, AS_OF)["t"]
    order = order_expand(contract.record).keys
    sizes, _ = fault_sizes(contract.record)
    case = Case(view=view, before=judge(view, order), sizes=sizes, order=order, target=target)
    return view, BY_ID[injection].rule(case)


def injected(
    injection: str, gates: Mapping[str, Any] | None = None, changes: Changes = NO_CHANGE, *, target: str = ""
) -> Any:
    """Return the changed copy of trial ``t`` as a tree."""
    _, found = fault(injection, gates, changes, target=target)
    assert isinstance(found, Injected), found
    return msgspec.to_builtins(found.trial)


def original(changes: Changes = NO_CHANGE) -> Any:
    """Return trial ``t`` as a tree."""
    _, evidence = documents(None, changes)
    trial: Trial = evidence.record.trials["t"]
    return msgspec.to_builtins(trial)


def differences(before: Any, after: Any, at: str = "") -> dict[str, tuple[Any, Any]]:
    """Return pointer -> (before, after) of every leaf that differs."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {
            pointer: values
            for key in sorted(before.keys() | after.keys())
            for pointer, values in differences(before.get(key), after.get(key), f"{at}/{key}").items()
        }
    if isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        return {
            pointer: values
            for index, pair in enumerate(zip(before, after, strict=True))
            for pointer, values in differences(*pair, f"{at}/{index}").items()
        }
    return {} if before == after else {at: (before, after)}


def traced(**sections: Any) -> Change:
    """Return an instrumented window ``trace`` with these sections and nothing else."""
    window = {
        "purpose": "instrumented",
        "load_point": "saturated",
        "start": "2026-10-01T12:30:00Z",
        "end": "2026-10-01T12:30:10Z",
    }
    return "/windows/trace", {**window, **sections}
