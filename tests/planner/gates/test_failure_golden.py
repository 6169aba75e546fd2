"""Golden cases FD-1 to FD-8: layouts placed on nodes, judged by ``failure_domain`` through whole documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from planner.evaluate import judge
from planner.intake import read_contract, read_evidence
from planner.numbers import exact, rounded
from planner.order import order_expand
from planner.records.plan import LimitOutcome, Ratio
from planner.view import TrialView, views
from tests.field.slot import AS_OF, AT, SECONDS, Tree, a_contract, a_limit, evidence_tree
from tests.planner.documents import raw

EXPERTS = {
    "architecture": "moe",
    "experts": 64,
    "experts_per_token": 4,
    "shared_experts": 0,
    "expert_intermediate_size": 1024,
}
WIDE = {"enable_expert_parallel": True}
LOSS = "loss"


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Instances on equal nodes, filled in rank order from the first, or as ``places`` says; the rest is idle."""

    layout: str
    instances: Sequence[Mapping[str, Any]]
    nodes: int
    per_node: int
    rate: int
    required: int
    places: Sequence[int] = ()
    spares: Sequence[int] = ()
    moe: bool = False
    completed: int = 1000
    window: Mapping[str, Any] = field(default_factory=dict)
    failures: Mapping[str, Any] = field(default_factory=dict)

    def judged(self, domain: str, limit: Mapping[str, Any]) -> LimitOutcome:
        """Judge the loss of a domain of a kind by one limit."""
        view = self.view(domain, limit)
        found = judge(view, order_expand(view.contract).keys)
        assert [found.gates[gate].outcome for gate in ("rank_count", "placement")] == ["PASS", "PASS"]
        return found.gates["failure_domain"].limits["limit"]

    def view(self, domain: str, limit: Mapping[str, Any]) -> TrialView:
        """Return the view of the trial beside a contract with that limit."""
        contract = self.contract(domain, limit)
        bound = read_contract(raw(contract))
        return views(bound, read_evidence(raw(evidence_tree(contract, {"t": self.trial()})), bound), AS_OF)["t"]

    def contract(self, domain: str, limit: Mapping[str, Any]) -> Tree:
        """Return the contract: one rack of all nodes, and one island."""
        devices = self.nodes * self.per_node
        ids = [f"n{node}" for node in range(self.nodes)]
        fleet = {
            "failure_domains": {"rack": {"r0": ids}, "three_trays": {"first": ids[:3], "rest": ids[3:]}},
            "spare_devices": [f"g{index}" for index in self.spares],
        }
        return a_contract(
            a_limit("failure_domain", **{"domain": domain, "horizon": "immediate", **limit}),
            devices=devices,
            per_node=self.per_node,
            hardware={"islands": {"all": {"devices": [f"g{index}" for index in range(devices)]}}},
            model=EXPERTS if self.moe else None,
            fleet=fleet,
            needs={"capacity": {"output_tokens_per_s": self.required, "because": "Peak."}},
        )

    def trial(self) -> Tree:
        """Return the trial: one counted window at the stated rate."""
        ranks = sum(instance["world_size"] for instance in self.instances)
        places = self.places or range(ranks)
        return {
            "topology": {"layout": self.layout, "instances": [dict(instance) for instance in self.instances]},
            "rank_map": [
                {"rank": rank, "node": f"n{place // self.per_node}", "device": f"g{place}"}
                for rank, place in enumerate(places)
            ],
            "identity_id": "run",
            "windows": {
                "w1": {
                    "purpose": "counted",
                    "load_point": AT,
                    "start": "2026-09-20T10:00:00Z",
                    "end": "2026-09-20T10:01:40Z",
                    "load": {
                        "duration_s": SECONDS,
                        "output_tokens_total": self.rate * SECONDS,
                        "requests": {"completed": self.completed},
                    },
                    **self.window,
                }
            },
            **({"failures": dict(self.failures)} if self.failures else {}),
        }


def degrees(*, tp: int = 1, pp: int = 1, dp: int = 1, **more: Any) -> Tree:
    return {"tp": tp, "pp": pp, "ep": 1, "dp": dp, "world_size": tp * pp * dp, **more}


def spread(dp: int) -> Tree:
    """Experts over all data ranks of one engine."""
    return degrees(dp=dp, engine_degrees=WIDE) | {"ep": dp}


def loss(**figures: Any) -> Tree:
    return {LOSS: {"kind": "rank_loss", "domain_kind": "device", "domain": "g3", "load_point": AT, **figures}}


FD1 = Deployment(layout="vllm", instances=[degrees(tp=8, dp=4)], nodes=4, per_node=8, rate=24_000, required=20_000)
FD2A = Deployment(layout="vllm", instances=[degrees(tp=4, dp=2)], nodes=2, per_node=4, rate=6_000, required=4_000)
FD2B = Deployment(
    layout="vllm",
    instances=[degrees(tp=4, dp=2)],
    nodes=2,
    per_node=4,
    rate=6_000,
    required=4_000,
    places=(0, 1, 4, 5, 2, 3, 6, 7),
)
FD3A = Deployment(
    layout="vllm", instances=[degrees(tp=4, pp=2, dp=2)], nodes=2, per_node=8, rate=16_000, required=10_000
)
FD3B = Deployment(
    layout="megatron", instances=[degrees(tp=4, pp=2, dp=2)], nodes=2, per_node=8, rate=16_000, required=10_000
)
FD4 = Deployment(layout="vllm", instances=[spread(32)], nodes=4, per_node=8, rate=30_000, required=20_000, moe=True)
FD5 = Deployment(
    layout="vllm", instances=[degrees(tp=8, pp=2, dp=2)], nodes=4, per_node=8, rate=22_000, required=20_000
)
TRAYS: dict[str, Any] = {"nodes": 18, "per_node": 4, "moe": True, "spares": range(64, 72), "required": 50_000}
FD7A = Deployment(layout="vllm", instances=[spread(64)], rate=64_000, **TRAYS)
FD7B = Deployment(layout="vllm", instances=[spread(32), spread(32)], rate=61_200, **TRAYS)
FD8 = Deployment(
    layout="vllm",
    instances=[degrees(tp=8), degrees(tp=4), degrees(tp=4)],
    nodes=2,
    per_node=8,
    rate=10_000,
    required=5_000,
)

IMMEDIATE = {
    "FD-1 a device": (FD1, "device", "1 of 4", "0.900"),
    "FD-1 a node": (FD1, "node", "1 of 4", "0.900"),
    "FD-2a a node": (FD2A, "node", "1 of 2", "0.750"),
    "FD-2b a node": (FD2B, "node", "2 of 2", "0.000"),
    "FD-2b a device": (FD2B, "device", "1 of 2", "0.750"),
    "FD-3a a node": (FD3A, "node", "1 of 2", "0.800"),
    "FD-3b a node": (FD3B, "node", "2 of 2", "0.000"),
    "FD-3b a device": (FD3B, "device", "1 of 2", "0.800"),
    "FD-4 a device": (FD4, "device", "1 of 1", "0.000"),
    "FD-5 a node": (FD5, "node", "1 of 2", "0.550"),
    "FD-7a a tray": (FD7A, "node", "1 of 1", "0.000"),
    "FD-7a the rack": (FD7A, "rack", "1 of 1", "0.000"),
    "FD-7b a tray": (FD7B, "node", "1 of 2", "0.612"),
}


@pytest.mark.parametrize(("deployment", "domain", "lost", "fraction"), IMMEDIATE.values(), ids=IMMEDIATE.keys())
def test_what_is_left_at_once(deployment: Deployment, domain: str, lost: str, fraction: str) -> None:
    found = deployment.judged(domain, {"min_capacity_left_of_required": 0.95})
    assert (found.outcome, ratio(found)) == ("FAIL", fraction)
    assert f"takes down {lost} serving group" in found.sentence
    assert "Arithmetic on measured rates, not a measurement of the degraded service." in found.notes


def ratio(found: LimitOutcome) -> str:
    assert isinstance(found.measured, int | float | Ratio)
    return rounded(exact(found.measured), 3)


def test_exactly_what_is_left_is_enough() -> None:
    assert FD1.judged("node", {"min_capacity_left_of_required": 0.9}).outcome == "PASS"


def after(deployment: Deployment, domain: str, **limit: Any) -> LimitOutcome:
    return deployment.judged(domain, {"horizon": "after_recovery", "min_capacity_left_of_required": 1, **limit})


ELASTIC = replace(FD4, failures=loss(output_tokens_per_s=26_500, recovered_s=40, recovered_output_tokens_per_s=26_500))


def test_fd_4_a_measured_elastic_run_replaces_arithmetic() -> None:
    found = ELASTIC.judged("device", {"min_capacity_left_of_required": 1})
    assert (found.outcome, found.measured) == ("PASS", 1.325)
    assert found.sentence == (
        "Device g0 takes down 1 of 1 serving group; 26,500 tok/s is left (injection loss), 1.325 of the required load; "
        "at least 1.000."
    )
    assert found.notes == ("Measured with injection loss, not arithmetic.",)
    assert found.measured_at == ("/trials/t/failures/loss/output_tokens_per_s",)


def test_fd_4_the_run_says_nothing_of_a_node() -> None:
    assert ELASTIC.judged("node", {"min_capacity_left_of_required": 1}).measured == 0


@pytest.mark.parametrize(("most", "outcome"), [(40, "PASS"), (39, "FAIL")])
def test_fd_4_what_comes_back_counts_within_the_longest_recovery(most: int, outcome: str) -> None:
    late = replace(FD4, failures=loss(recovered_s=40, recovered_output_tokens_per_s=26_500))
    assert after(late, "device", max_recovery_s=most).outcome == outcome


def test_fd_7a_a_tray_comes_back_on_spare_trays() -> None:
    back = replace(FD7A, failures=tray(recovered_s=300, recovered_output_tokens_per_s=64_000))
    found = after(back, "node", max_recovery_s=300)
    assert (found.outcome, found.measured) == ("PASS", 1.28)
    assert found.sentence == (
        "Node n0 takes down 1 of 1 serving group; 64,000 tok/s is left after recovery (injection loss), 1.280 of the "
        "required load; at least 1.000."
    )


def tray(**figures: Any) -> Tree:
    return {LOSS: {"kind": "node_loss", "domain": "n3", "load_point": AT, **figures}}


@pytest.mark.parametrize(
    ("domain", "shortage"),
    [
        pytest.param("rack", "0 devices left for 64 ranks", id="the rack takes the spares with it"),
        pytest.param("three_trays", "60 devices left for 64 ranks", id="three trays are more than two spares"),
    ],
)
def test_fd_7a_what_has_no_device_left_does_not_come_back(domain: str, shortage: str) -> None:
    back = replace(FD7A, failures=tray(recovered_s=300, recovered_output_tokens_per_s=64_000))
    found = after(back, domain, max_recovery_s=300)
    assert (found.outcome, found.measured) == ("FAIL", 0)
    assert f"No lost group can be restarted: {shortage}." in found.notes


def test_fd_7a_spares_without_a_measured_restart_bring_nothing_back() -> None:
    found = after(FD7A, "node")
    assert (found.outcome, found.missing) == ("UNKNOWN", ("/trials/t/failures",))
    assert found.sentence == (
        "Node n0 takes down 1 of 1 serving group; what comes back is not known. No recovery from it was measured."
    )


FD6_POOLS = [degrees(tp=1, role="prefill")] * 3 + [degrees(tp=1, role="decode")] * 2
FD6_RATES = {"prefill_requests_per_s": 12, "decode_requests_per_s": 11}


def fd6(*, rates: bool) -> Deployment:
    """Three prefill engines of 4 requests/s on n0 and n1, two decode engines of 5.5 on n2 and n3; 100 tokens each."""
    return Deployment(
        layout="vllm",
        instances=FD6_POOLS,
        nodes=4,
        per_node=2,
        places=(0, 1, 2, 4, 6),
        rate=1_100,
        required=800,
        completed=1_100,
        window={"handoff": FD6_RATES} if rates else {},
    )


def test_fd_6_the_slower_pool_is_what_is_left() -> None:
    found = fd6(rates=True).judged("node", {"min_capacity_left_of_required": 0.5})
    assert (found.outcome, found.measured, found.worst["domain"]) == ("PASS", 0.5, "n0")
    assert found.measured_at[0] == "/trials/t/windows/w1/handoff/decode_requests_per_s"


BOUNDS = {"the lower passes": (0.45, "PASS"), "between": (0.5, "UNKNOWN"), "the upper fails": (1.4, "FAIL")}


@pytest.mark.parametrize(("floor", "outcome"), BOUNDS.values(), ids=BOUNDS.keys())
def test_fd_6_without_pool_rates_two_bounds_answer(floor: float, outcome: str) -> None:
    found = fd6(rates=False).judged("node", {"min_capacity_left_of_required": floor})
    assert (found.outcome, ratio(found), found.worst["domain"]) == (outcome, "0.458", "n0")


def test_fd_7b_the_spare_trays_are_charged() -> None:
    view = FD7B.view("node", {"max_groups_lost": 1})
    assert (len(view.charge.devices), FD7B.rate / len(view.charge.devices)) == (72, 850)


def test_fd_8_unequal_groups_without_rates_of_each_are_unknown() -> None:
    found = FD8.judged("node", {"min_capacity_left_of_required": 0.5})
    assert (found.outcome, found.missing) == ("UNKNOWN", ("/trials/t/windows/w1/replicas",))
