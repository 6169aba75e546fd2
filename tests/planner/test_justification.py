"""Justifying each degree by the nearest smaller measured trial, over hand-made candidates."""

from typing import Any

import msgspec
import pytest

from planner.justification import Justification, justify
from planner.order import Order
from planner.records.contract import Model
from planner.records.evidence import Evidence
from planner.records.plan import Candidate, OrderKey, Ratio, Reason, Value

DIGEST = "sha256:" + "0" * 64
MODEL = Model(name="m", revision="r", architecture="moe", layers=48, attention_heads=40, kv_heads=8, experts=16)
RATE = OrderKey(key="output_tokens_per_s_per_charged_device", direction="desc", load_point="saturated")
ORDER = Order(keys=(RATE,), notes=(), load_point="saturated", copies=False)
COSTS = (
    "Compared with it: charged devices +{0}, ranks of the largest serving group +{0}, {1}, "
    "communication share not measured."
)


class Lab:
    """Trials with their candidates, made of degrees and states."""

    def __init__(self) -> None:
        self.trials: dict[str, Any] = {}
        self.candidates: dict[str, Candidate] = {}

    def trial(
        self,
        name: str,
        *,
        tp: int = 1,
        pp: int = 1,
        ep: int = 1,
        dp: int = 1,
        layout: str = "closed",
        ranks: int | None = None,
        identity: str = "run",
        failing: tuple[str, ...] = (),
        unknown: tuple[str, ...] = (),
        rate: Value = 100,
    ) -> "Lab":
        world = tp * pp * ep * dp if ranks is None else ranks
        degrees = {"tp": tp, "pp": pp, "ep": ep, "dp": dp}
        self.trials[name] = {
            "topology": {"layout": layout, "instances": [{**degrees, "world_size": world}]},
            "rank_map": [{"rank": 0, "node": "n", "device": "d"}],
            "identity_id": identity,
            "windows": {"w": {"purpose": "counted", "load_point": "saturated", "start": NOW, "end": NOW}},
        }
        self.candidates[name] = Candidate(
            trial_content_id=DIGEST,
            topology="-".join(f"{axis}{degree}" for axis, degree in degrees.items()),
            layout=layout,
            ranks=world,
            nodes=1,
            ranks_per_node=(world,),
            serving_groups=(tuple(range(world)),),
            charged_devices=world,
            stranded_devices=0,
            rank_map_digest=DIGEST,
            groups_from="rule",
            state="REJECTED" if failing else "INCONCLUSIVE" if unknown else "ELIGIBLE",
            failing=failing,
            unknown=unknown,
            gates={},
            keys={RATE.key: rate},
            missing_keys=(),
            hints=(),
        )
        return self

    def justify(self, winner: str | None) -> Justification:
        evidence = {
            "schema": "topogate.evidence/v1",
            "contract_content_id": DIGEST,
            "scope": "demo",
            "provenance": {"collected_by": "p", "collected_at": NOW, "tool": {"name": "t", "version": "1"}},
            "identities": {"run": {"model": {"name": "m"}}, "same": {"model": {"name": "m"}}, "other": {}},
            "trials": self.trials,
        }
        return justify(msgspec.convert(evidence, Evidence), self.candidates, MODEL, ORDER, winner)

    def reason(self, axis: str, winner: str = "w") -> Reason:
        return next(reason for reason in self.justify(winner).reasons if reason.axis == axis)


NOW = "2026-01-01T00:00:00Z"


def test_a_smaller_trial_that_failed_says_what_the_degree_resolves() -> None:
    lab = Lab().trial("w", tp=4, pp=2, rate=90).trial("s", tp=4, failing=("throughput", "memory_headroom"), rate=75)
    assert lab.reason("pp") == Reason(
        axis="pp",
        degree=2,
        verdict="RESOLVES",
        constraints=("residency", "capacity"),
        against="s",
        gates=("memory_headroom", "throughput"),
        gain=0.2,
        extra_devices=4,
        extra_group_ranks=4,
        sentence="pp 2 resolves residency and capacity: s (tp4-pp1-ep1-dp1) fails memory_headroom, throughput. "
        + COSTS.format(4, f"gain on {RATE.key} +20.0 %"),
    )


@pytest.mark.parametrize(
    ("smaller", "verdict", "text"),
    [
        pytest.param({}, "PREFERENCE", "is a preference: s (tp4-pp1-ep1-dp1) passes every declared gate.", id="passed"),
        pytest.param(
            {"unknown": ("telemetry",)},
            "UNPROVEN",
            "is unproven: s (tp4-pp1-ep1-dp1) is unknown in telemetry.",
            id="inconclusive",
        ),
        pytest.param(
            {"failing": ("placement", "cost")},
            "UNJUSTIFIED",
            "is unjustified: s (tp4-pp1-ep1-dp1) fails only placement, cost.",
            id="failed elsewhere",
        ),
        pytest.param(
            {"failing": ("equal_service",)},
            "PREFERENCE",
            "is a preference: s (tp4-pp1-ep1-dp1) passes every declared gate, but for the number of accelerators.",
            id="failed for its accelerator count alone",
        ),
        pytest.param(
            {"failing": ("equal_service", "ttft")},
            "RESOLVES",
            "resolves latency: s (tp4-pp1-ep1-dp1) fails ttft.",
            id="failed a constraint and its count",
        ),
    ],
)
def test_the_state_of_the_smaller_trial_is_the_verdict(smaller: dict[str, Any], verdict: str, text: str) -> None:
    reason = Lab().trial("w", tp=4, pp=2).trial("s", tp=4, **smaller).reason("pp")
    assert (reason.verdict, reason.sentence.partition(" Compared with it")[0]) == (verdict, f"pp 2 {text}")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"tp": 8, "pp": 1}, id="another axis larger"),
        pytest.param({"tp": 4, "pp": 2, "dp": 2}, id="the axis as large"),
        pytest.param({"tp": 4, "identity": "other"}, id="another identity"),
        pytest.param({"tp": 4, "layout": "vllm"}, id="another layout"),
    ],
)
def test_what_is_not_smaller_in_the_axis_alone_justifies_nothing(other: dict[str, Any]) -> None:
    reason = Lab().trial("w", tp=4, pp=2).trial("s", failing=("ttft",), **other).reason("pp")
    assert (reason.verdict, reason.against, reason.constraints) == ("UNJUSTIFIED", None, ())


def test_equal_identities_under_two_ids_are_the_same_identity() -> None:
    reason = Lab().trial("w", tp=4, pp=2).trial("s", tp=4, identity="same", failing=("ttft",)).reason("pp")
    assert reason.against == "s"


def test_the_nearest_smaller_trial_has_the_largest_degree_then_most_axes_equal() -> None:
    lab = Lab().trial("w", tp=4, pp=4).trial("one", tp=4, failing=("ttft",))
    lab.trial("two-thin", tp=2, pp=2, failing=("ttft",)).trial("two-wide", tp=4, pp=2, failing=("ttft",))
    assert lab.reason("pp").against == "two-wide"


def test_degrees_between_that_nobody_measured_are_named() -> None:
    reason = Lab().trial("w", dp=4).trial("s", failing=("throughput",)).reason("dp")
    assert reason.gaps == (2, 3)
    assert reason.sentence.endswith(" dp 2, 3 not measured.")


def test_only_degrees_that_divide_the_model_are_gaps() -> None:
    reason = Lab().trial("w", tp=8).trial("s", failing=("memory_headroom",)).reason("tp")
    assert reason.gaps == (2, 4, 5)


def test_without_any_smaller_trial_the_degree_is_unjustified() -> None:
    assert Lab().trial("w", ep=2).reason("ep") == Reason(
        axis="ep",
        degree=2,
        verdict="UNJUSTIFIED",
        gaps=(1,),
        sentence="ep 2 is unjustified: no measured trial has a smaller ep and nothing larger. ep 1 not measured.",
    )


def test_expert_degrees_of_an_engine_that_reuses_ranks_compare_at_the_same_world() -> None:
    lab = Lab().trial("w", tp=8, ep=8, layout="vllm", ranks=8)
    lab.trial("half", tp=4, ep=4, layout="vllm", ranks=4, failing=("ttft",))
    lab.trial("same", tp=8, ep=1, layout="vllm", ranks=8, failing=("throughput",))
    assert lab.reason("ep").against == "same"


def test_a_degree_of_one_needs_no_reason() -> None:
    reasons = Lab().trial("w", tp=2).justify("w").reasons
    assert [(reason.axis, reason.verdict) for reason in reasons] == [
        ("pp", "NOT_NEEDED"),
        ("tp", "UNJUSTIFIED"),
        ("ep", "NOT_NEEDED"),
        ("dp", "NOT_NEEDED"),
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "gain"),
    [
        pytest.param(90, 120, -0.25, id="the winner is behind"),
        pytest.param(100, 300, Ratio(num=-2, den=3), id="no decimal"),
        pytest.param(100, None, None, id="not measured"),
        pytest.param(100, 0, None, id="nothing to relate to"),
    ],
)
def test_the_gain_is_relative_to_the_smaller_trial(ours: Value, theirs: Value, gain: Value) -> None:
    reason = Lab().trial("w", tp=4, pp=2, rate=ours).trial("s", tp=4, rate=theirs).reason("pp")
    assert reason.gain == gain


@pytest.mark.parametrize(
    ("trials", "baseline"),
    [
        pytest.param(
            {"b": {"failing": ("throughput", "memory_headroom")}, "w": {"tp": 2}},
            "One-device baseline: measured. Smallest measured trial: b (tp1-pp1-ep1-dp1, 1 rank), "
            "where residency does not fit first (memory_headroom fails).",
            id="one device",
        ),
        pytest.param(
            {"w": {"tp": 2}, "x": {"tp": 4}},
            "One-device baseline: not measured. Smallest measured trial: w (tp2-pp1-ep1-dp1, 2 ranks), "
            "which passes every declared gate.",
            id="two devices",
        ),
    ],
)
def test_the_baseline_is_always_stated(trials: dict[str, Any], baseline: str) -> None:
    lab = Lab()
    for name, degrees in trials.items():
        lab.trial(name, **degrees)
    assert lab.justify("w").baseline == baseline


def test_without_a_winner_there_are_no_reasons_but_a_baseline() -> None:
    found = Lab().trial("a", unknown=("ttft",)).justify(None)
    assert found == Justification(
        reasons=(),
        baseline="One-device baseline: measured. Smallest measured trial: a (tp1-pp1-ep1-dp1, 1 rank), inconclusive.",
    )
