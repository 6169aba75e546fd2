"""Bounds that follow from how a model is split: all-to-all, idle stages, hot experts, recovery."""

from fractions import Fraction
from typing import Any

from planner.observations import Entry, envelope
from tests.planner.factories import BECAUSE, SATURATED, Changes, documents

AT = {"load_point": SATURATED, "because": BECAUSE}
WINDOW = "/windows/w1"
MEASURED = (
    (f"{WINDOW}/collectives", {"a2a": {"operation": "all_to_all", "time_ms": {"n": 1000, "mean": 2, "p99": 9}}}),
    (f"{WINDOW}/stages", {"s": {"busy_ms": [30, 40], "cycle_ms": 50}}),
    (f"{WINDOW}/experts", {"e": {"layers": {"l0": {"tokens_by_rank": [10, 30]}, "l1": {"tokens_by_rank": [20, 20]}}}}),
    ("/failures", {"f": {"kind": "rank_loss", "load_point": SATURATED, "floor_rate_s": 42}}),
)


def entries(gates: dict[str, Any] | None = None) -> tuple[Entry, ...]:
    contract, evidence = documents(gates, Changes(trial=MEASURED))
    return envelope(contract, "t", evidence.record.trials["t"])


def of(found: tuple[Entry, ...], metric: str) -> list[tuple[str, int | None, Fraction | None, Fraction | None]]:
    return [(one.statistic, one.rank, one.limit, one.qualified) for one in found if one.metric == metric]


def test_what_was_measured_stands_without_a_limit() -> None:
    found = entries()
    assert of(found, "all_to_all_ms") == [("mean", None, None, Fraction(2)), ("p99", None, None, Fraction(9))]
    idle = [Fraction(2, 5), Fraction(1, 5)]
    assert of(found, "stage_idle_share") == [("mean", rank, None, idle[rank // 2]) for rank in range(4)]
    assert of(found, "expert_peak_to_mean") == [("max", None, None, Fraction(3, 2))]
    assert of(found, "recovery_s") == [("max", None, None, Fraction(42))]
    (recovery,) = [one for one in found if one.metric == "recovery_s"]
    assert recovery.qualified_at == "/trials/t/failures/f/floor_rate_s"


def test_limits_of_one_phase_or_mix_are_left_out() -> None:
    gates = {
        "stage_balance": {
            "all": {**AT, "max_idle_share": 0.5},
            "decode": {**AT, "phase": "decode", "max_idle_share": 0.1},
        },
        "recovery": {
            "loss": {"injection": "rank_loss", "max_floor_rate_s": 60, "because": BECAUSE},
            "node": {"injection": "node_loss", "max_floor_rate_s": 90, "because": BECAUSE},
        },
    }
    found = entries(gates)
    assert {limit for _, _, limit, _ in of(found, "stage_idle_share")} == {Fraction(1, 2)}
    assert [limit for _, _, limit, _ in of(found, "recovery_s")] == [Fraction(60)]


def test_preemptions_count_by_the_thousand() -> None:
    found = entries({"errors": {"preempted": {**AT, "max_preemptions_per_1000_requests": 5}}})
    assert of(found, "preemptions") == [("share", None, Fraction(1, 200), None)]
