"""The text form: exactly the lines, their figures, and what is said beside them."""

import re

import pytest

from planner.explanation import plan_explained
from planner.plan import plan_parallelism
from planner.records.plan import Plan
from planner.text import plan_remarks, plan_text
from tests.planner import documents as examples
from tests.planner.fleet import AS_OF, DEVICES, a_contract, a_floor, a_trial, documents, planned

WORKED = examples.contract(), examples.evidence()


@pytest.fixture(scope="module")
def worked() -> Plan:
    return plan_parallelism(*WORKED, AS_OF)


def test_the_worked_example_prints_exactly_its_seven_lines(worked: Plan) -> None:
    assert plan_text(worked, WORKED[0].record).splitlines() == [
        "example=illustrative_only",
        "decision=SELECT_TOPOLOGY",
        "topology=tp4-pp2-ep2-dp1",
        "world_size=16;nodes=2;gpus_per_node=8",
        "peak_memory_gib=50.000;ttft_ms=420.000",
        "tokens_per_second=960.000;inter_node_link_utilization=0.600",
        "claim=LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK",
    ]


def test_a_contract_that_is_not_illustrative_prints_six_lines() -> None:
    contract = a_contract()
    plan = planned(contract, {"a": a_trial(6400, tp=8)})
    assert plan_text(plan, documents(contract, {"a": a_trial(6400, tp=8)})[0].record) == (
        "decision=SELECT_TOPOLOGY\n"
        "topology=tp8-pp1-ep1-dp1\n"
        "world_size=8;nodes=1;gpus_per_node=8\n"
        "peak_memory_gib=not_declared;ttft_ms=not_declared\n"
        "tokens_per_second=6400.000;inter_node_link_utilization=not_declared\n"
        "claim=LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK\n"
    )


def test_a_name_that_two_trials_share_carries_the_trial() -> None:
    trials = {"low": a_trial(6400, tp=8), "high": a_trial(6500, tp=8, devices=DEVICES[8:])}
    bound, evidence = documents(a_contract(), trials)
    text = plan_text(plan_parallelism(bound, evidence, AS_OF), bound.record)
    assert text.splitlines()[1] == "topology=tp8-pp1-ep1-dp1@high"


def test_unequal_nodes_are_listed_in_node_order() -> None:
    bound, evidence = documents(a_contract(), {"t": a_trial(6400, tp=4, dp=2, devices=DEVICES[3:11])})
    text = plan_text(plan_parallelism(bound, evidence, AS_OF), bound.record)
    assert text.splitlines()[2] == "world_size=8;nodes=2;gpus_per_node=5+3"


def test_a_gate_that_does_not_apply_to_the_winner_says_so() -> None:
    gates = a_floor(6000) | {
        "link_utilization": {
            "rails": {
                "link_class": "inter_node",
                "load_point": "saturated",
                "max_utilization": 0.75,
                "max_sample_interval_s": 1,
                "because": "Queues grow.",
            }
        }
    }
    link = {"class": "inter_node", "bytes_per_s_one_way": 10**9, "nic": "nic"}
    contract = examples.changed(
        a_contract(gates=gates),
        ("/identity/hardware/nics", {"nic": {"node": "na", "use": "fabric"}}),
        ("/identity/hardware/links", {"rail": link}),
    )
    bound, evidence = documents(contract, {"t": a_trial(6400, tp=8)})
    text = plan_text(plan_parallelism(bound, evidence, AS_OF), bound.record)
    assert text.splitlines()[4] == "tokens_per_second=6400.000;inter_node_link_utilization=not_applicable"


@pytest.mark.parametrize(
    ("duration", "tokens", "figure"),
    [
        pytest.param(16, 96001, "6000.062", id="half rounds to the even digit below"),
        pytest.param(16, 96003, "6000.188", id="half rounds to the even digit above"),
        pytest.param(3, 18001, "6000.333", id="a third"),
    ],
)
def test_figures_are_rounded_half_to_even_from_the_exact_value(duration: int, tokens: int, figure: str) -> None:
    trial = examples.changed(
        a_trial(6400, tp=8),
        ("/windows/w0/load/duration_s", duration),
        ("/windows/w0/load/output_tokens_total", tokens),
        ("/windows/w0/end", f"2026-09-20T10:00:{duration:02}Z"),
    )
    bound, evidence = documents(a_contract(), {"t": trial})
    text = plan_text(plan_parallelism(bound, evidence, AS_OF), bound.record)
    assert text.splitlines()[4].startswith(f"tokens_per_second={figure};")


def test_without_a_winner_every_candidate_has_a_line_with_its_failing_and_unknown_gates() -> None:
    silent = examples.changed(a_trial(6400, tp=8), ("/windows/w0/load/duration_s", None))
    bound, evidence = documents(a_contract(), {"slow": a_trial(100, tp=8), "silent": silent})
    plan = plan_parallelism(bound, evidence, AS_OF)
    assert plan_text(plan, bound.record) == (
        "decision=INCONCLUSIVE\n"
        "candidate=silent;topology=tp8-pp1-ep1-dp1;state=INCONCLUSIVE;failing=none;unknown=telemetry,throughput;"
        "missing_keys=output_tokens_per_s_per_charged_device\n"
        "candidate=slow;topology=tp8-pp1-ep1-dp1;state=REJECTED;failing=throughput;unknown=none\n"
        "claim=LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK\n"
    )


def test_remarks_name_undeclared_families_first_and_the_time_last(worked: Plan) -> None:
    remarks = plan_remarks(worked)
    families = [
        f"undeclared family {entry.name}: {entry.sentence}" for entry in worked.undeclared if entry.kind == "family"
    ]
    assert list(remarks[: len(families)]) == families
    assert any("(failure_domain" in line for line in families)
    assert remarks[-1] == f"as-of: {AS_OF}"


def test_beside_a_winner_every_rejected_candidate_is_remarked_with_all_it_fails(worked: Plan) -> None:
    assert [line for line in plan_remarks(worked) if line.startswith("rejected ")] == [
        "rejected t-one-node (tp4-pp1-ep2-dp1): fails memory_headroom, throughput",
        "rejected t-wide-16 (tp8-pp1-ep2-dp1): fails link_utilization",
    ]


def test_of_many_rejected_candidates_the_first_are_remarked_and_the_rest_counted() -> None:
    slow = {f"s{index:02}": a_trial(100 + index, tp=8) for index in range(22)}
    remarks = plan_remarks(planned(a_contract(), {"a": a_trial(6400, tp=8), **slow}))
    rejected = [line for line in remarks if line.startswith("rejected")]
    assert len(rejected) == 21
    assert rejected[-1] == "rejected: 2 more; --explain lists every gate of every candidate"


def test_a_lead_within_the_noise_is_remarked() -> None:
    trials = {"a": a_trial([6400, 7200], tp=8), "b": a_trial([11200, 11200], tp=2, dp=8)}
    remarks = plan_remarks(planned(a_contract(), trials))
    assert "decisive: false. The lead is not larger than the spread of the windows." in remarks


def test_groups_of_the_selected_engine_that_differ_from_the_rule_are_remarked() -> None:
    pairs = [[0, 2], [1, 3]]
    exported = examples.changed(a_trial(6400, tp=2, dp=2), ("/topology/process_groups", {"tp": pairs}))
    remarks = plan_remarks(planned(a_contract(), {"a": exported}))
    assert "map a: tp: engine and rule differ, first in the group of rank 0" in remarks


def test_the_explanation_holds_every_gate_of_every_candidate(worked: Plan) -> None:
    blocks = plan_explained(worked).split("\n\n")[1:]
    named = {
        block.split()[0]: set(re.findall(r"^  (?:FAIL|UNKNOWN|PASS|NOT_\w+) (\w+)", block, re.M)) for block in blocks
    }
    assert named == {trial: set(worked.gates) for trial in worked.candidates}


def test_the_explanation_puts_failing_gates_first(worked: Plan) -> None:
    lines = plan_explained(worked).splitlines()
    rejected = next(trial for trial, candidate in worked.candidates.items() if candidate.state == "REJECTED")
    candidate = worked.candidates[rejected]
    start = lines.index(f"{rejected} {candidate.topology} REJECTED")
    assert lines[start + 2].startswith(f"  FAIL {candidate.failing[0]}")


def test_the_explanation_of_a_gate_without_a_margin_ends_with_its_limit(worked: Plan) -> None:
    lines = plan_explained(worked).splitlines()
    assert "    measured 16 ranks == 16 ranks" in lines
    assert not [line for line in lines if "missing" in line and "margin" in line]
