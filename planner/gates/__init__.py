"""The gates: families in the order in which they are listed, and every gate in them.

A new gate is one function in a module of its family and a table in that module's twin test; a new module also stands
in ``FAMILIES``, beside those of its family.
"""

from types import ModuleType

from planner.gates import (
    balance,
    balance_experts,
    balance_replicas,
    balance_stages,
    cost,
    cost_power,
    evidence,
    evidence_steady,
    evidence_workload,
    fabric,
    fabric_links,
    fabric_paths,
    failure,
    failure_recovery,
    handoff,
    memory,
    memory_kv,
    service,
    service_load,
    service_scale,
    shape,
    slo,
)
from planner.gates.base import Gate
from planner.registry import collect

FAMILIES: tuple[ModuleType, ...] = (
    shape,
    fabric,
    fabric_links,
    fabric_paths,
    evidence,
    evidence_steady,
    evidence_workload,
    memory,
    memory_kv,
    slo,
    balance,
    balance_stages,
    balance_experts,
    balance_replicas,
    service,
    service_load,
    service_scale,
    failure,
    failure_recovery,
    cost,
    cost_power,
    handoff,
)
GATES: tuple[Gate, ...] = collect(FAMILIES, Gate)

__all__ = ["FAMILIES", "GATES", "Gate"]
