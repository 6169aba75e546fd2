"""The whole decision through real documents: golden selection cases, contenders, demand, undeclared parts, door."""

from typing import Any

import msgspec
import pytest

from planner.canonical import canonical_bytes, content_id
from planner.errors import DocumentRefusedError, Problem
from planner.gates import GATES
from planner.intake import read_evidence
from planner.plan import plan_bytes, plan_parallelism
from planner.records import plan as plan_records
from planner.records.base import Record
from planner.records.plan import Contender, Demand, FrontierPoint, Plan, Ratio
from tests.planner import documents as examples
from tests.planner.documents import changed
from tests.planner.fleet import AS_OF, DEVICES, IDENTITY, a_contract, a_floor, a_price, a_trial, documents, planned

A = a_trial(6400, tp=8)
B = a_trial(11200, tp=2, dp=8)
C = a_trial(3600, tp=4)
BY_COST = {"keys": [{"key": "usd_per_million_output_tokens"}]}
NEED = {"capacity": {"output_tokens_per_s": 6000, "because": "Peak."}}


def winner(plan: Plan) -> str | None:
    return None if plan.selected is None else plan.selected.trial


@pytest.mark.parametrize(
    ("contract", "expected"),
    [
        pytest.param(a_contract(), "a", id="S-1 highest throughput counts per device"),
        pytest.param(a_contract(comparison={"accelerator_count": 16}), "b", id="S-2 sixteen accelerators"),
        pytest.param(a_contract(selection={"preset": "smallest_first"}), "b", id="S-3 smallest serving group first"),
        pytest.param(a_contract(selection=BY_COST), "a", id="S-4 by cost, without copies"),
        pytest.param(
            a_contract(gates=a_price(2), selection={**BY_COST, "scale": "independent_replicas"}, needs=NEED),
            "c",
            id="S-4 by cost, with copies",
        ),
    ],
)
def test_golden_cases_of_selection(contract: dict[str, Any], expected: str) -> None:
    assert winner(planned(contract, {"a": A, "b": B, "c": C})) == expected


def test_copies_of_the_winner_are_given_as_arithmetic() -> None:
    contract = a_contract(gates=a_price(2), selection={**BY_COST, "scale": "independent_replicas"}, needs=NEED)
    plan = planned(contract, {"a": A, "c": C})
    assert plan.eligible[0].units == 2
    assert plan.eligible[0].values[0] == Ratio(num=25, den=27)
    assert plan.demand == Demand(
        required_output_tokens_per_s=6000,
        measured_output_tokens_per_s=3600,
        usable_output_tokens_per_s=3600,
        units=2,
        devices=8,
        units_with_spare=3,
        devices_with_spare=12,
        sentence="6,000 tok/s of output needed, 3,600 tok/s usable per unit: 2 units = 8 devices (arithmetic, not "
        "measured); with one spare unit 12 devices.",
    )


def test_copies_never_pass_the_throughput_gate() -> None:
    contract = a_contract(selection={**BY_COST, "scale": "independent_replicas"}, needs=NEED)
    assert planned(contract, {"c": C}).candidates["c"].failing == ("throughput",)


@pytest.mark.parametrize("names", [("x", "y", "z"), ("z", "y", "x"), ("y", "x", "z")])
def test_equal_trials_with_other_maps_fall_to_the_content_id_in_every_order(names: tuple[str, ...]) -> None:
    """Golden case S-5: the names of the trials carry no meaning either."""
    maps = [DEVICES[:4], DEVICES[4:8], DEVICES[8:12]]
    trials = {name: a_trial(6000, tp=2, dp=2, devices=placed) for name, placed in zip(names, maps, strict=True)}
    plan = planned(a_contract(), trials)
    digests = [plan.candidates[entry.trial].trial_content_id for entry in plan.eligible]
    assert digests == sorted(digests)
    assert plan.selected is not None
    assert plan.selected.trial_content_id == digests[0]


def test_tp4_stands_before_tp16_where_all_else_is_equal() -> None:
    selection = {"keys": [{"key": "output_tokens_per_s"}]}
    plan = planned(a_contract(selection=selection), {"a": a_trial(6000, tp=16), "b": a_trial(6000, tp=4)})
    assert [entry.trial for entry in plan.eligible] == ["b", "a"]


def test_a_missing_key_makes_a_trial_inconclusive_and_a_contender() -> None:
    gates = {"cost": a_price(100)["cost"]}
    selection = {"keys": [{"key": "ttft"}]}
    gates["ttft"] = {"tail": {"load_point": "saturated", "statistic": "p95", "max_ms": 500, "because": "Feel."}}
    plan = planned(a_contract(gates=gates, selection=selection), {"a": a_trial(6000, tp=8, ttft=400), "b": C})
    assert (plan.candidates["b"].state, plan.candidates["b"].missing_keys) == ("INCONCLUSIVE", ("ttft",))
    assert winner(plan) == "a"
    assert [contender.trial for contender in plan.contenders] == ["b"]


def test_withholding_a_rivals_evidence_does_not_win_quietly() -> None:
    rival = a_trial(7000, tp=8)
    rival["windows"]["w1"] = examples.changed(
        rival["windows"]["w0"], ("/load/duration_s", None), ("/load/output_tokens_total", 1)
    )
    plan = planned(a_contract(), {"a": A, "r": rival})
    assert winner(plan) == "a"
    assert plan.contenders == (
        Contender(
            trial="r",
            topology="tp8-pp1-ep1-dp1",
            sentence="Could win if its unknown gates passed (telemetry, throughput): it has no usable value for "
            "output_tokens_per_s_per_charged_device, so nothing shows that it is behind.",
        ),
    )


@pytest.mark.parametrize(
    ("rates", "decisive"),
    [
        pytest.param([6400, 6480], True, id="lead of 100 a device over a spread of 10"),
        pytest.param([6400, 7200], False, id="lead of 100 a device over a spread of 100"),
        pytest.param([6400], None, id="one window"),
    ],
)
def test_a_lead_within_the_spread_of_the_windows_is_not_decisive(rates: list[float], decisive: bool | None) -> None:
    trials = {"a": a_trial(rates, tp=8), "b": a_trial([11200, 11200], tp=2, dp=8)}
    plan = planned(a_contract(), trials)
    assert (winner(plan), plan.decisive) == ("a", decisive)


def test_the_frontier_shows_every_measured_trial_and_marks_what_nothing_beats() -> None:
    plan = planned(a_contract(), {"a": A, "b": B, "c": C})
    assert plan.frontier == (
        FrontierPoint(
            trial="a",
            state="ELIGIBLE",
            output_tokens_per_s_per_charged_device=800,
            output_tokens_per_s_per_request=100,
            ttft_ms=None,
            usd_per_million_output_tokens=Ratio(num=25, den=24),
            non_dominated=True,
        ),
        FrontierPoint(
            trial="b",
            state="ELIGIBLE",
            output_tokens_per_s_per_charged_device=700,
            output_tokens_per_s_per_request=175,
            ttft_ms=None,
            usd_per_million_output_tokens=Ratio(num=25, den=21),
            non_dominated=True,
        ),
        FrontierPoint(
            trial="c",
            state="REJECTED",
            output_tokens_per_s_per_charged_device=900,
            output_tokens_per_s_per_request=56.25,
            ttft_ms=None,
            usd_per_million_output_tokens=Ratio(num=25, den=27),
            non_dominated=False,
        ),
    )


def test_a_trial_beaten_in_every_figure_is_dominated() -> None:
    plan = planned(a_contract(), {"a": A, "worse": a_trial(6100, tp=8)})
    assert {point.trial: point.non_dominated for point in plan.frontier} == {"a": True, "worse": False}


def test_what_the_contract_leaves_out_is_listed_families_first() -> None:
    contract = a_contract(
        needs={**NEED, "tenancy": {"because": "Own devices."}, "latency": {"because": "Chat."}},
        headroom={"memory": {"reserved_share": 0.1}, "replica_capacity": {"reserved_share": 0.1}},
    )
    entries = [(entry.kind, entry.name) for entry in planned(contract, {"a": A}).undeclared]
    held = {"shape", "evidence", "slo"}
    families = [family for family in dict.fromkeys(gate.family for gate in GATES) if family not in held]
    assert entries == [
        *(("family", family) for family in families),
        ("need", "latency"),
        ("need", "tenancy"),
        ("headroom", "memory"),
        ("headroom", "replica_capacity"),
        ("section", "evidence_required"),
        ("section", "recovery"),
        ("section", "comparison"),
        ("section", "steady_state"),
        ("section", "stress"),
        ("section", "validity"),
    ]


def test_evidence_of_another_contract_is_refused_before_planning() -> None:
    contract, evidence = documents(a_contract(), {"a": A})
    other, _ = documents(a_contract(gates=a_floor(1)), {"a": A})
    with pytest.raises(DocumentRefusedError) as refused:
        plan_parallelism(other, evidence, AS_OF)
    assert refused.value.problems == (
        Problem(
            "document/other_contract",
            "/contract_content_id",
            f'"{other.content_id}"',
            f'"{contract.content_id}": evidence belongs to another parallelism contract',
        ),
    )


def test_a_load_point_that_the_contract_has_not_is_refused_before_planning() -> None:
    contract, evidence = documents(a_contract(), {"a": A})
    tree = msgspec.to_builtins(evidence.record)
    window = next(iter(tree["trials"]["a"]["windows"].values()))
    tree["trials"]["a"]["windows"]["other"] = {**window, "load_point": "no-such"}
    with pytest.raises(DocumentRefusedError) as refused:
        plan_parallelism(contract, read_evidence(examples.raw(tree)), AS_OF)
    assert refused.value.problems == (
        Problem(
            "document/unknown_reference",
            "/trials/a/windows/other/load_point",
            "a load point of the contract",
            '"no-such"',
        ),
    )


@pytest.mark.parametrize(
    "as_of",
    [
        *("2026-10-01", "2026-10-01T00:00:00", "2026-10-01T00:00Z", "20261001T000000Z", "2026-13-01T00:00:00Z", "now"),
        *(b"2026-10-01T00:00:00Z", None, 0),
    ],
)
def test_an_as_of_time_that_is_not_utc_in_whole_seconds_is_refused(as_of: Any) -> None:
    with pytest.raises(ValueError, match="as_of"):
        plan_parallelism(*documents(a_contract(), {"a": A}), as_of)


def test_fields_of_a_plans_records_stand_as_they_are_written() -> None:
    records = [each for each in vars(plan_records).values() if isinstance(each, type) and issubclass(each, Record)]
    assert Plan in records
    for record in records:
        assert list(record.__struct_fields__) == sorted(record.__struct_fields__)


def test_the_plan_id_is_over_the_plan_without_it() -> None:
    plan = planned(a_contract(), {"a": A})
    tree = msgspec.json.decode(plan_bytes(plan))
    claimed = tree.pop("plan_id")
    assert claimed == plan.plan_id == content_id(tree)


def test_progress_is_told_after_each_trial() -> None:
    told: list[tuple[int, int]] = []
    plan_parallelism(*documents(a_contract(), {"a": A, "b": B}), AS_OF, progress=lambda *step: told.append(step))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(0.1, id="plain decimal"),
        pytest.param(5.0, id="ends in .0"),
        pytest.param(10.05, id="a zero after the point"),
        pytest.param(1e-7, id="small"),
        pytest.param(0.00001, id="exponent in one form only"),
        pytest.param(1e22, id="large"),
        pytest.param("1.0,2e5", id="text like a number"),
        pytest.param("ä \u2028 \x7f", id="text beyond ASCII"),
    ],
)
def test_plan_bytes_are_canonical_for_any_value(value: float | str) -> None:
    plan = planned(a_contract(), {"a": A})
    candidate = msgspec.structs.replace(plan.candidates["a"], keys={"ttft": value, "b": value})
    plan = msgspec.structs.replace(plan, candidates={"a": candidate})
    assert plan_bytes(plan) == canonical_bytes(msgspec.to_builtins(plan))


def test_one_key_at_two_load_points_orders_by_both() -> None:
    identity = examples.changed(
        IDENTITY, ("/workload/load_points/single", {"arrival": "closed", "concurrent_requests": 1})
    )
    keys = [{"key": "output_tokens_per_s", "load_point": at} for at in ("single", "saturated")]
    trials: dict[str, Any] = {}
    for name, rates in {"a": (10, 900), "b": (10, 800), "c": (20, 100)}.items():
        trials[name] = a_trial(list(rates), tp=2)
        trials[name]["windows"]["w0"]["load_point"] = "single"
    plan = planned(a_contract(gates=a_floor(1), selection={"keys": keys}, identity=identity), trials)
    assert [(entry.trial, entry.values[:2]) for entry in plan.eligible] == [
        ("c", (20, 100)),
        ("a", (10, 900)),
        ("b", (10, 800)),
    ]
    assert plan.candidates["a"].keys["output_tokens_per_s@single"] == 10


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_how_many_trials_are_judged_together_changes_nothing(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = {"a": A, "b": B, "c": a_trial(400, tp=8), "d": changed(A, ("/windows/w0/load/duration_s", None))}
    contract, evidence = documents(a_contract(gates=a_price(9.75)), trials)
    together = plan_bytes(plan_parallelism(contract, evidence, AS_OF))
    monkeypatch.setattr("planner.plan.AT_ONCE", at_once)
    assert plan_bytes(plan_parallelism(contract, evidence, AS_OF)) == together
