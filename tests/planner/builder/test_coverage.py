"""What the gates still lack, and which files would bring it."""

import pytest

from planner.builder import answer
from planner.builder.bringing import _BRINGS, brought_by
from planner.builder.facts import _PARTS
from planner.builder.state import DraftState, GateCoverage, TrialCoverage
from planner.importers import IMPORTERS
from tests.planner.builder.kit import BECAUSE, BY, CONTRACT, FILES, bench, completed, contract, drafted, log, looked_at


def covered(state: DraftState, trial: str = "tp2") -> TrialCoverage:
    return next(found for found in state.coverage if found.trial == trial)


def gate(state: DraftState, name: str, trial: str = "tp2") -> GateCoverage:
    return next(found for found in covered(state, trial).gates if found.gate == name)


def test_gates_of_the_contract_are_listed_with_those_that_always_speak() -> None:
    state = looked_at(drafted())
    assert [found.gate for found in covered(state).gates] == [
        "rank_count",
        "model_divisibility",
        "placement",
        "tensor_locality",
        "identity",
        "equal_service",
        "freshness",
        "telemetry",
        "consistency",
        "memory_headroom",
        "ttft",
        "throughput",
    ]
    assert (covered(state).judged, covered(state).topology, covered(state).declared) == (True, "tp2-pp1-ep1-dp1", 12)


def test_a_gate_lacks_fields_and_the_files_that_bring_them() -> None:
    files = {name: content for name, content in FILES.items() if "memory" not in name}
    found = gate(looked_at(completed(drafted(files))), "memory_headroom")
    assert found.state == "lacks"
    assert [(lack.field.rpartition("saturated")[2], lack.brought_by) for lack in found.lacks] == [
        (
            "/per_rank/device_used_peak_bytes",
            ("gpu-stats", "nvidia-smi", "nvidia-dmon", "amd-smi", "amd-smi-text", "aiperf-telemetry", "dcgm"),
        )
    ]
    assert found.sentences == ("device_used_peak_bytes is not recorded in window saturated.",)


def test_a_gate_that_rests_on_a_proposal_waits_for_it() -> None:
    found = gate(looked_at(drafted()), "placement")
    assert (found.state, [(lack.field, lack.asked) for lack in found.lacks]) == (
        "waits",
        [("/trials/tp2/rank_map", True)],
    )
    assert gate(looked_at(completed(drafted())), "placement").state == "answered"


def test_a_gate_whose_own_readings_are_there_waits_for_another() -> None:
    found = gate(looked_at(drafted()), "throughput")
    assert found.state == "waits"
    assert found.sentences[0].endswith("Not usable while identity and freshness are UNKNOWN.")


def test_a_complete_draft_answers_every_gate() -> None:
    at = "/trials/*/windows/*/load/longest_sequence_tokens"
    state = looked_at(answer(completed(drafted()), contract(), at, 2048, by=BY))
    assert [(found.answered, found.declared) for found in state.coverage] == [(12, 12), (12, 12)]
    assert all(entry.lacks == () for found in state.coverage for entry in found.required)


def test_required_evidence_is_covered_entry_by_entry() -> None:
    files = {name: content for name, content in FILES.items() if name != "tp2.log"}
    draft = answer(completed(drafted(files)), contract(), "/trials/tp2/topology/layout", "vllm", by=BY)
    (entry,) = covered(looked_at(completed(draft))).required
    assert (entry.id, entry.metric, entry.level) == ("kv", "replicas.kv_capacity_tokens", "required")
    assert [(lack.field, lack.brought_by) for lack in entry.lacks] == [
        ("/trials/tp2/windows/saturated/replicas", ("vllm-log", "sglang-log", "vllm-metrics", "sglang-metrics"))
    ]


def test_a_trial_that_cannot_be_judged_lacks_what_limits_ask_for() -> None:
    state = looked_at(drafted({"a.log": log(2)}))
    assert (covered(state).judged, covered(state).answered) == (False, 0)
    assert covered(state).problem.startswith("/trials/tp2/windows: expected")
    assert [lack.field for lack in gate(state, "ttft").lacks] == [
        "/trials/tp2/windows/*/load/ttft_ms/n",
        "/trials/tp2/windows/*/load/ttft_ms/p99",
    ]


def test_identities_are_checked_live() -> None:
    state = looked_at(completed(drafted()))
    assert {check.window for check in state.checks} == {"saturated", "single"}
    assert all(check.holds for check in state.checks)
    odd = bench(mean_e2el_ms=3000.0, median_e2el_ms=3000.0, p99_e2el_ms=4500.0)
    broken = [
        check for check in looked_at(completed(drafted({**FILES, "tp2_saturated.json": odd}))).checks if not check.holds
    ]
    assert {(check.trial, check.window) for check in broken} == {("tp2", "saturated")}
    assert "/trials/tp2/windows/saturated/load/e2e_ms/mean" in {field for check in broken for field in check.fields}


def test_what_is_not_the_contracts_is_told_apart_from_its_spelling() -> None:
    identity = {**CONTRACT["identity"], "stack": {"engine": {"name": "vLLM", "version": "0.22.0"}}}
    document = contract(identity=identity)
    state = looked_at(drafted(document=document), document)
    assert {(one.field, one.expected, one.found, one.spelling) for one in state.differences if one.trial == "tp2"} == {
        ("/identities/tp2/stack/engine/name", "vLLM", "vllm", True),
        ("/identities/tp2/stack/engine/version", "0.22.0", "0.22.1", False),
    }


def test_every_format_has_a_part_in_a_trial() -> None:
    assert set(_PARTS) == {importer.id for importer in IMPORTERS}


def test_formats_that_bring_a_field_are_those_that_are_read() -> None:
    known = {importer.id for importer in IMPORTERS}
    assert {form for _, formats in _BRINGS for form in formats} <= known


@pytest.mark.parametrize(
    ("field", "formats"),
    [
        ("/trials/t/windows/w/load/ttft_ms/p95", 5),
        ("/trials/t/windows/w/load/longest_sequence_tokens", 0),
        ("/trials/t/windows/w/links/l/mixed/peak_tx_bytes", 1),
        ("/identities/t/model/revision", 0),
        ("/trials/t/quality/x", 0),
    ],
)
def test_what_no_file_holds_is_said_by_a_person(field: str, formats: int) -> None:
    assert len(brought_by(field)) == formats


def test_advisory_evidence_is_covered_too() -> None:
    entry = {
        "metric": "per_rank.kv_cache_bytes",
        "scope_at_least": "rank",
        "load_points": ["saturated"],
        "level": "advisory",
        "because": BECAUSE,
    }
    document = contract(evidence_required={"cache": entry})
    (found,) = covered(looked_at(drafted(document=document), document)).required
    assert (found.level, [lack.brought_by for lack in found.lacks]) == ("advisory", [("vllm-log",)])
