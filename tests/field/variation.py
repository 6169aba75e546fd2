"""A row of a table of variations: one trial, one limit, the right answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.field.slot import AT, Tree, a_contract, a_limit, a_trial, decided, outcome

EXPERTS = {"enable_expert_parallel": True}
MOE = {
    "architecture": "moe",
    "experts": 64,
    "experts_per_token": 4,
    "shared_experts": 0,
    "expert_intermediate_size": 1024,
}
TWO_NODES: Tree = {"devices": 4, "per_node": 2}
ACROSS = [("n0", "g0"), ("n0", "g1"), ("n1", "g2"), ("n1", "g3")]
QUIET = a_limit("steady_state", load_point=AT)
"""A limit for contracts whose always-on gates are asked."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One limit, and the contract's and the trial's parts as ``slot`` takes them.

    ``says`` is a part of the sentence; ``more`` stands on the trial, ``identity`` is what ran otherwise.
    """

    gate: str
    says: str
    outcome: str
    limit: Mapping[str, Any] = field(default_factory=dict)
    contract: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)
    window: Mapping[str, Any] = field(default_factory=dict)
    trial: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    places: list[tuple[str, str]] | None = None
    nics: list[str] | None = None
    identity: tuple[tuple[str, Any], ...] = ()


def check(row: Row) -> None:
    """Decide over the row's documents and compare the gate's answer."""
    is_declared = row.limit or row.gate == "nic_map"
    gates = a_limit(row.gate, **row.limit) if is_declared else QUIET
    trial = a_trial(dict(row.load), window=dict(row.window), **row.trial) | dict(row.more)
    for at, place in enumerate(trial["rank_map"]):
        if row.places is not None:
            place["node"], place["device"] = row.places[at]
        if row.nics is not None:
            place["nic"] = row.nics[at]
    plan = decided(a_contract(gates, **row.contract), {"a": trial}, {"run": row.identity})
    found = outcome(plan, "a", row.gate)
    assert (found.outcome, row.says in found.sentence) == (row.outcome, True), found.sentence
