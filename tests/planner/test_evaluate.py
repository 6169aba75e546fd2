"""What judging adds to the gates: UNKNOWN that spreads, ranks that are undefined, states, keys and hints."""

from typing import Any

import msgspec
import pytest

from planner.documents import EvidenceDocument
from planner.evaluate import judge
from planner.gates import GATES
from planner.records.plan import GateOutcome, LimitOutcome, Ratio
from planner.view import views
from tests.planner.documents import ABSENT, Change
from tests.planner.factories import AS_OF, BECAUSE, FLOOR, NO_CHANGE, Changes, documents, judged

RUN = "/identities/run"
TTFT = {"load_point": "saturated", "statistic": "p95", "max_ms": 390, "because": BECAUSE}
LOCALITY = {"rule": "inside_node", "because": BECAUSE}
MEMORY = {"load_point": "saturated", "because": BECAUSE}
ALL = {
    "throughput": {"floor": FLOOR},
    "ttft": {"tail": TTFT},
    "tensor_locality": {"tensor": LOCALITY},
    "memory_headroom": {"ranks": MEMORY},
}


def unlike(at: str, value: Any) -> Changes:
    return Changes(evidence=((f"{RUN}{at}", value),))


def limits(gates: dict[str, GateOutcome]) -> dict[str, LimitOutcome]:
    return {
        gate: limit for gate, outcome in gates.items() for name, limit in outcome.limits.items() if name != "always"
    }


def test_every_gate_is_reported_in_the_order_of_the_families() -> None:
    assert list(judged().gates) == [gate.id for gate in GATES]


def test_a_gate_without_a_limit_is_not_declared() -> None:
    assert judged().gates["cost"] == GateOutcome(family="cost", outcome="NOT_DECLARED", limits={})


def test_a_trial_that_passes_everything_is_eligible() -> None:
    found = judged()
    assert (found.state, found.failing, found.unknown, found.missing_keys) == ("ELIGIBLE", (), (), ())


def test_another_environment_makes_readings_unknown_and_keeps_what_they_would_say() -> None:
    found = limits(judged(ALL, unlike("/stack/driver/version", "591.00")).gates)
    assert {gate: (limit.outcome, limit.would) for gate, limit in found.items()} == {
        "throughput": ("UNKNOWN", "PASS"),
        "ttft": ("UNKNOWN", "FAIL"),
        "memory_headroom": ("UNKNOWN", "PASS"),
        "tensor_locality": ("PASS", None),
    }


def test_the_sentence_of_a_spread_unknown_names_the_gate_it_comes_from() -> None:
    found = limits(judged(ALL, unlike("/stack/driver/version", "591.00")).gates)
    assert found["throughput"].sentence == (
        "Output rate at saturated is 200 tok/s in window w1; at least 150 tok/s. Not usable while identity is UNKNOWN."
    )


def test_another_environment_makes_the_trial_inconclusive() -> None:
    assert judged(ALL, unlike("/stack/driver/version", "591.00")).state == "INCONCLUSIVE"


def test_another_choice_rejects_and_leaves_readings_alone() -> None:
    found = judged(None, unlike("/model/revision", "r2"))
    assert (found.state, found.failing, found.unknown) == ("REJECTED", ("equal_service",), ())


def test_unknown_at_one_load_point_leaves_another_alone() -> None:
    gates = {
        "throughput": {"floor": FLOOR, "open": FLOOR | {"load_point": "open"}},
        "steady_state": {"open": {"load_point": "open", "because": BECAUSE}},
    }
    changes = Changes(trial=(("/windows/w2/load_point", "open"), ("/windows/w2/compile_events", 1)))
    found = judged(gates, changes).gates["throughput"].limits
    assert {name: (limit.outcome, limit.would) for name, limit in found.items()} == {
        "floor": ("PASS", None),
        "open": ("UNKNOWN", "PASS"),
    }


def test_a_broken_identity_touches_only_what_reads_its_fields() -> None:
    broken = Changes(trial=(("/windows/w1/load/ttft_ms/p50", 450), ("/windows/w2/load/ttft_ms/p50", 450)))
    found = judged(ALL, broken)
    assert found.unknown == ("consistency", "ttft")


def test_no_fail_hides_another() -> None:
    gates = {"throughput": {"floor": FLOOR | {"min_output_tokens_per_s": 900}}, "ttft": {"tail": TTFT}}
    changes = Changes(evidence=((f"{RUN}/model/revision", "r2"),), trial=(("/rank_map/1/device", "a0"),))
    assert judged(gates, changes).failing == ("placement", "equal_service", "ttft", "throughput")


def test_undefined_ranks_leave_gates_that_need_them_unknown_and_the_others_judged() -> None:
    found = judged(ALL, Changes(trial=(("/topology/instances/0/world_size", 8),)))
    assert (found.state, found.failing, found.unknown) == (
        "REJECTED",
        ("rank_count", "ttft"),
        ("model_divisibility", "tensor_locality", "memory_headroom"),
    )


def test_undefined_ranks_leave_no_serving_groups() -> None:
    found = judged(ALL, Changes(trial=(("/topology/instances/0/cp", 2),)))
    assert (found.serving_groups, found.groups_from) == (None, "undefined")


def test_the_worst_limit_is_the_outcome_of_its_gate() -> None:
    gates = {"throughput": {"low": FLOOR, "open": FLOOR | {"load_point": "open"}}}
    assert judged(gates).gates["throughput"].outcome == "UNKNOWN"


def test_a_failing_gate_gives_its_hint() -> None:
    (hint,) = judged({"ttft": {"tail": TTFT}}).hints
    assert hint == next(gate.hint for gate in GATES if gate.id == "ttft")


PRESET: tuple[Change, ...] = (("/selection", {"preset": "highest_throughput"}),)


def test_keys_hold_the_value_of_every_key_of_the_order() -> None:
    found = judged({"ttft": {"tail": TTFT}}, Changes(contract=PRESET))
    assert {name: value for name, value in found.keys.items() if name != "trial_content_id"} == {
        "output_tokens_per_s_per_charged_device": 50,
        "serving_group_ranks": 4,
        "ttft": 400,
        "charged_devices": 4,
        "topology": "tp2-pp2-ep1-dp1",
    }


def test_a_key_without_a_value_makes_the_trial_inconclusive_and_is_named() -> None:
    nothing = Changes(contract=PRESET, trial=(("/windows/w1/load/output_tokens_total", ABSENT),))
    found = judged({"tensor_locality": {"tensor": LOCALITY}}, nothing)
    assert (found.state, found.missing_keys) == ("INCONCLUSIVE", ("output_tokens_per_s_per_charged_device",))


def test_telemetry_asks_for_what_selection_keys_read() -> None:
    nothing = Changes(contract=PRESET, trial=(("/windows/w1/load/output_tokens_total", ABSENT),))
    found = judged({"tensor_locality": {"tensor": LOCALITY}}, nothing)
    assert found.gates["telemetry"].limits["always"].missing == ("/trials/t/windows/w1/load/output_tokens_total",)


def test_a_margin_share_is_the_margin_over_the_limit() -> None:
    limit = judged({"throughput": {"floor": FLOOR}}).gates["throughput"].limits["floor"]
    assert (limit.margin, limit.margin_share) == (50, Ratio(num=1, den=3))


def test_the_candidate_says_where_its_ranks_are() -> None:
    found = judged()
    assert (found.ranks, found.nodes, found.ranks_per_node, found.serving_groups, found.groups_from) == (
        4,
        2,
        (2, 2),
        ((0, 1, 2, 3),),
        "rule",
    )


@pytest.mark.parametrize("reported", [None, {"tp": [[0, 1], [2, 3]]}], ids=["rule", "engine"])
def test_the_candidate_says_where_its_groups_come_from(reported: Any) -> None:
    changes = NO_CHANGE if reported is None else Changes(trial=(("/topology/process_groups", reported),))
    assert judged(None, changes).groups_from == ("rule" if reported is None else "engine")


@pytest.mark.parametrize(
    ("gate", "change", "pointers"),
    [
        pytest.param(
            "identity", unlike("/stack/driver/version", "591.00"), [f"{RUN}/stack/driver/version"] * 3, id="ran"
        ),
        pytest.param("placement", NO_CHANGE, [f"/trials/{name}/rank_map" for name in ("a", "a0", "b")], id="placed"),
    ],
)
def test_trials_that_share_a_finding_each_have_their_own_pointers(
    gate: str, change: Changes, pointers: list[str]
) -> None:
    contract, evidence = documents(ALL, change)
    (trial,), (content_id,) = evidence.record.trials.values(), evidence.trial_content_ids.values()
    record = msgspec.structs.replace(evidence.record, trials=dict.fromkeys(("a", "a0", "b"), trial))
    alike = EvidenceDocument(
        record, evidence.content_id, evidence.file_sha256, dict.fromkeys(record.trials, content_id)
    )
    found = [judge(view, ()).gates[gate].limits["always"] for view in views(contract, alike, AS_OF).values()]
    assert [limit.measured_at for limit in found] == [(pointer,) for pointer in pointers]


def test_what_other_gates_stand_on_follows_from_the_placement() -> None:
    grounds = [gate for gate in GATES if gate.grounds]
    assert [(gate.id, gate.of_placement) for gate in grounds] == [("rank_count", True), ("placement", True)]
