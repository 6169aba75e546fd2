"""What one failure takes down, against each of the four limits."""

from typing import Any

import pytest

from planner.records.plan import Ratio
from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

TWO_GROUPS = (("/topology/instances/0/pp", 1), ("/topology/instances/0/dp", 2))
ARITHMETIC = "Arithmetic on measured rates, not a measurement of the degraded service."
EVEN = "The total is split evenly over groups of one shape."


def lost(domain: str = "node", horizon: str = "immediate", **limit: float) -> dict[str, Any]:
    return {"domain": domain, "horizon": horizon, **limit}


def replicas(first: int, second: int, *, ranks: tuple[list[int], list[int]] = ([0, 1], [2, 3])) -> tuple[Any, ...]:
    """Rates of two replicas in w1 (100 s); w2 keeps none."""
    record = {
        "r0": {"ranks": ranks[0], "output_tokens_total": first},
        "r1": {"ranks": ranks[1], "output_tokens_total": second},
    }
    return (*TWO_GROUPS, ("/windows/w1/replicas", record), ("/windows/w2/purpose", "soak"))


def instances(*degrees: tuple[int, int], roles: tuple[str, ...] = ()) -> tuple[tuple[str, Any], ...]:
    """One instance for each (tp, pp), of one role each."""
    listed = [{"tp": tp, "pp": pp, "ep": 1, "dp": 1, "world_size": tp * pp} for tp, pp in degrees]
    for instance, role in zip(listed, roles, strict=False):
        instance["role"] = role  # type: ignore[assignment]  # a role is text among degrees
    return (("/topology/instances", listed),)


CASES = [
    Case(
        name="each group inside a node",
        gate="failure_domain",
        outcome="PASS",
        limit=lost(max_groups_lost=1),
        trial=TWO_GROUPS,
        sentence="Node node-a takes down 1 of 2 serving groups; at most 1.",
        also={
            "measured": 1,
            "unit": "groups",
            "comparator": "<=",
            "worst": {"domain": "node-a"},
            "notes": (ARITHMETIC,),
            "limit_at": "/gates/failure_domain/limit/max_groups_lost",
        },
    ),
    Case(
        name="a pipeline over both nodes loses all ranks with either",
        gate="failure_domain",
        outcome="FAIL",
        limit=lost(max_ranks_lost=2),
        sentence="Node node-a takes down 1 of 1 serving group, 4 ranks; at most 2.",
        also={"measured": 4, "margin": -2, "unit": "ranks"},
    ),
    Case(
        name="a rack takes down both groups",
        gate="failure_domain",
        outcome="FAIL",
        limit=lost("rack", max_groups_lost=1),
        trial=TWO_GROUPS,
        sentence="Rack rack-1 takes down 2 of 2 serving groups; at most 1.",
    ),
    Case(
        name="a device in no declared rack",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost("rack", max_groups_lost=2),
        contract=(("/fleet/failure_domains/rack/rack-1", ["node-a"]),),
        trial=TWO_GROUPS,
        sentence="Device b0 of rank 2 is in no rack that the contract declares.",
    ),
    Case(
        name="share of measured rates, worst group",
        gate="failure_domain",
        outcome="FAIL",
        limit=lost(max_capacity_share_lost=0.55),
        trial=replicas(12000, 8000),
        sentence="Node node-a takes down 1 of 2 serving groups and 0.600 of capacity; at most 0.550.",
        also={"measured": 0.6, "worst": {"window": "w1", "domain": "node-a"}, "unit": "share"},
    ),
    Case(
        name="exactly the permitted share",
        gate="failure_domain",
        outcome="PASS",
        limit=lost(max_capacity_share_lost=0.5),
        trial=TWO_GROUPS,
        sentence="Node node-a takes down 1 of 2 serving groups and 0.500 of capacity; at most 0.500.",
        also={"notes": (ARITHMETIC, EVEN)},
    ),
    Case(
        name="what is left carries the required load",
        gate="failure_domain",
        outcome="PASS",
        limit=lost(min_capacity_left_of_required=1),
        trial=TWO_GROUPS,
        sentence="Node node-a takes down 1 of 2 serving groups; 100 tok/s is left, 1.000 of the required load; "
        "at least 1.000.",
        also={"measured": 1, "comparator": ">=", "unit": "ratio", "worst": {"window": "w1", "domain": "node-a"}},
    ),
    Case(
        name="the replica reserve and the peak factor count",
        gate="failure_domain",
        outcome="FAIL",
        limit=lost(min_capacity_left_of_required=1),
        contract=(("/headroom/replica_capacity", {"reserved_share": 0.1}), ("/needs/capacity/peak_factor", 1.2)),
        trial=TWO_GROUPS,
        sentence="Node node-a takes down 1 of 2 serving groups; 90 tok/s after a reserve of 0.100 is left, 0.750 of "
        "the required load; at least 1.000.",
        also={"measured": 0.75, "margin": -0.25},
    ),
    Case(
        name="unequal groups without rates of each",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost(max_capacity_share_lost=0.9),
        trial=instances((2, 1), (1, 1), (1, 1)),
        sentence="Node node-a takes down 1 of 3 serving groups; the capacity of each is not known. "
        "Serving groups differ in shape, and no rate of each is recorded.",
        also={"missing": ("/trials/t/windows/w1/replicas", "/trials/t/windows/w2/replicas")},
    ),
    Case(
        name="replicas that are not the serving groups",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost(max_capacity_share_lost=0.9),
        trial=replicas(12000, 8000, ranks=([0, 2], [1, 3])),
        sentence="Node node-a takes down 1 of 2 serving groups; the capacity of each is not known. "
        "The recorded replicas are not the serving groups.",
        also={"missing": (), "measured_at": ("/trials/t/windows/w1/replicas",)},
    ),
    Case(
        name="a replica without its total",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost(max_capacity_share_lost=0.9),
        trial=(*replicas(12000, 8000), ("/windows/w1/replicas/r1/output_tokens_total", None)),
        sentence="Node node-a takes down 1 of 2 serving groups; the capacity of each is not known.",
        also={"missing": ("/trials/t/windows/w1/replicas/r1/output_tokens_total",)},
    ),
    Case(
        name="replicas do not sum to the deployment",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost(max_capacity_share_lost=0.9),
        trial=replicas(12000, 9000),
        sentence="Node node-a takes down 1 of 2 serving groups and 0.571 of capacity; at most 0.900. "
        "Replicas sum to 21,000 output_tokens_total; the deployment has 20,000.",
        also={"would": "PASS", "measured": Ratio(num=4, den=7)},
    ),
    Case(
        name="pools of unknown rates: the lower bound does not pass, the upper does not fail",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost("device", min_capacity_left_of_required=1.5),
        trial=instances((1, 1), (1, 1), (1, 1), (1, 1), roles=("prefill", "prefill", "decode", "decode")),
        sentence="Device a0 takes down 1 of 4 serving groups; 100 tok/s is left, 1.000 of the required load; "
        "at least 1.500. Pool rates are not measured: bounds.",
    ),
    Case(
        name="a lost pool leaves nothing",
        gate="failure_domain",
        outcome="FAIL",
        limit=lost(min_capacity_left_of_required=0.1),
        trial=instances((2, 1), (2, 1), roles=("prefill", "decode")),
        sentence="Node node-a takes down 1 of 2 serving groups; 0 tok/s is left, 0.000 of the required load; "
        "at least 0.100.",
    ),
    Case(
        name="groups are not counted after recovery",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost(horizon="after_recovery", max_groups_lost=1),
        sentence="What comes back is measured as a rate, not as groups or ranks: limit the capacity.",
    ),
    Case(
        name="no islands declared",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost("island", max_groups_lost=1),
        contract=(("/identity/hardware/islands", ABSENT),),
        sentence="The contract declares no failure domains of kind island.",
    ),
    Case(
        name="total not recorded",
        gate="failure_domain",
        outcome="UNKNOWN",
        limit=lost(max_capacity_share_lost=0.9),
        trial=(*TWO_GROUPS, ("/windows/w1/load/output_tokens_total", None)),
        sentence="Node node-a takes down 1 of 2 serving groups; the capacity of each is not known.",
        also={"missing": ("/trials/t/windows/w1/load/output_tokens_total",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
