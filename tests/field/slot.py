"""A slot to decide in tests of what goes wrong in the field: small contracts, trials and plans built from parts.

The cases they carry are known by their ids (F-01 to F-19); each was reported in public by users of serving engines.
Units and fields are this project's own. Devices are ``g0``, ``g1``, ... on nodes ``n0``, ``n1``, ...
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from planner.intake import read_contract, read_evidence
from planner.plan import plan_parallelism
from planner.records.plan import LimitOutcome, Plan
from tests.planner.documents import changed, raw

Tree = dict[str, Any]
AS_OF = "2026-10-01T00:00:00Z"
GIB = 2**30
AT = "saturated"
WHY = {"because": "Agreed with the service's owners."}
SECONDS = 100


def a_limit(gate: str, **fields: Any) -> Tree:
    """Return one limit of one gate, at ``saturated`` where the gate reads a load point."""
    return {gate: {"limit": {**fields, **WHY}}}


def a_contract(
    *gates: Tree,
    devices: int = 4,
    per_node: int | None = None,
    memory_bytes: int = 80 * GIB,
    hardware: Tree | None = None,
    model: Tree | None = None,
    precision: Tree | None = None,
    workload: Tree | None = None,
    stack: Tree | None = None,
    keys: Sequence[Tree] = ({"key": "charged_devices"},),
    **sections: Any,
) -> Tree:
    """Return the tree of a contract for so many equal devices, of a dense model unless ``model`` says more."""
    nodes = [f"n{index // (per_node or devices)}" for index in range(devices)]
    shape = {"architecture": "dense", "layers": 64, "attention_heads": 64, "kv_heads": 8}
    return {
        "schema": "topogate.contract/v1",
        "slot": "field/slot",
        "owner": "serving",
        "identity": {
            "model": {"name": "model", "revision": "r1", **shape, **(model or {})},
            "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16", **(precision or {})},
            "workload": {
                "name": "chat",
                "load_points": {AT: {"arrival": "closed", "concurrent_requests": 16}},
                **(workload or {}),
            },
            "stack": {"engine": {"name": "engine", "version": "1"}, **(stack or {})},
            "hardware": {
                "nodes": {node: {} for node in nodes},
                "devices": {
                    f"g{index}": {"node": node, "type": "accel", "memory_bytes": memory_bytes}
                    for index, node in enumerate(nodes)
                },
                **(hardware or {}),
            },
        },
        "gates": {name: limits for gate in gates for name, limits in gate.items()},
        "selection": {"keys": [*keys, {"key": "topology"}, {"key": "trial_content_id"}]},
        **sections,
    }


def a_trial(
    load: Tree | None = None,
    *,
    layout: str = "closed",
    devices: Sequence[str] | None = None,
    instances: Sequence[Tree] | None = None,
    window: Tree | None = None,
    identity: str = "run",
    **degrees: Any,
) -> Tree:
    """Return the tree of a trial with one counted window; ranks sit on ``devices``, by default g0, g1, ..."""
    parts = [dict.fromkeys(("tp", "pp", "ep", "dp"), 1) | part for part in instances or [degrees]]
    for part in parts:
        multiplies = ("tp", "pp", "ep", "dp") if layout == "closed" else ("tp", "pp", "dp")
        part.setdefault("world_size", _product(part[name] for name in multiplies))
    ranks = sum(part["world_size"] for part in parts)
    return {
        "topology": {"layout": layout, "instances": parts},
        "rank_map": [
            {"rank": rank, "node": "n0", "device": device}
            for rank, device in enumerate(devices or [f"g{rank}" for rank in range(ranks)])
        ],
        "identity_id": identity,
        "windows": {"w1": a_window(**{"load": load, **(window or {})})},
    }


def a_window(load: Tree | None = None, **more: Any) -> Tree:
    """Return a counted window of 100 s."""
    return {
        "purpose": "counted",
        "load_point": AT,
        "start": "2026-09-20T10:00:00Z",
        "end": "2026-09-20T10:01:40Z",
        "compile_events": 0,
        "concurrent_runs": 0,
        "load": load or {},
        **more,
    }


def served(rate: float, **more: Any) -> Tree:
    """Return what a client saw that received so many output tokens per second."""
    return {
        "duration_s": SECONDS,
        "output_tokens_total": round(rate * SECONDS),
        "requests": {"completed": 2000},
        **more,
    }


def evidence_tree(contract: Tree, trials: Mapping[str, Tree], identities: Mapping[str, Any] | None = None) -> Tree:
    """Return the tree of evidence; ``identities`` are changes of the contract's own, by id."""
    seen = {"run": (), **(identities or {})}
    return {
        "schema": "topogate.evidence/v1",
        "contract_content_id": read_contract(raw(contract)).content_id,
        "scope": contract["slot"],
        "provenance": {
            "collected_by": "benchmark",
            "collected_at": "2026-09-20T12:00:00Z",
            "tool": {"name": "client", "version": "1"},
        },
        "identities": {name: changed(contract["identity"], *changes) for name, changes in seen.items()},
        "trials": copy.deepcopy(dict(trials)),
    }


def decided(contract: Tree, trials: Mapping[str, Tree], identities: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan over both documents as intake reads them."""
    bound = read_contract(raw(contract))
    return plan_parallelism(bound, read_evidence(raw(evidence_tree(contract, trials, identities)), bound), AS_OF)


def outcome(plan: Plan, trial: str, gate: str) -> LimitOutcome:
    """Return what a gate with one limit said of a trial."""
    (found,) = plan.candidates[trial].gates[gate].limits.values()
    return found


def states(plan: Plan) -> dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return (state, failing gates, unknown gates) of every trial."""
    return {name: (found.state, found.failing, found.unknown) for name, found in sorted(plan.candidates.items())}


def winner(plan: Plan) -> str | None:
    """Return the selected trial, None where there is none."""
    return None if plan.selected is None else plan.selected.trial


ELIGIBLE: tuple[str, tuple[str, ...], tuple[str, ...]] = ("ELIGIBLE", (), ())


def rejected(*failing: str, unknown: tuple[str, ...] = ()) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the state of a rejected trial."""
    return ("REJECTED", failing, unknown)


def inconclusive(*unknown: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the state of a trial that the evidence does not decide."""
    return ("INCONCLUSIVE", (), unknown)


def _product(numbers: Any) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result
