"""Predictions of models: shown, never evidence."""

import json

import pytest

from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

ROW: Tree = {
    "model": "org/chat-32b",
    "isl": 4000,
    "osl": 1000,
    "concurrency": 48,
    "request_rate": 1.5,
    "bs": 48,
    "ttft": 471.5,
    "tpot": 28.25,
    "request_latency": 28_500.0,
    "seq/s": 1.5,
    "tokens/s": 1680.0,
    "tokens/s/gpu": 840.0,
    "tokens/s/user": 35.5,
    "num_total_gpus": 2,
    "tp": 2,
    "pp": 1,
    "dp": 1,
    "moe_ep": 1,
    "gemm": "fp8",
    "kvcache": "fp8",
    "memory": 64.0,
    "backend": "vllm",
    "version": "0.24.0",
    "system": "h200_sxm",
}
SPLIT: Tree = {
    "ttft": 300.0,
    "tpot": 9.5,
    "tokens/s/gpu": 500.0,
    "num_total_gpus": 12,
    "(p)tp": 4,
    "(p)pp": 1,
    "(p)workers": 2,
    "(p)version": "1.0",
    "(d)tp": 2,
    "(d)workers": 2,
}


def csv(*rows: Tree) -> str:
    return "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"


FORMS = {
    "CSV": csv(ROW),
    "object": json.dumps(ROW),
    "array": json.dumps([ROW]),
    "results": json.dumps({"results": [ROW]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_row_is_shown_as_predicted_and_refused_as_evidence(form: str) -> None:
    read = imported(FORMS[form])
    (run,) = read.runs
    assert (read.format, read.status) == ("prediction", "refused")
    assert codes(run) == ["import/prediction"]
    assert {value.name: value.value for value in run.values} == {
        "model_name": "org/chat-32b",
        "prompt_tokens": 4000,
        "output_tokens": 1000,
        "concurrent_requests": 48,
        "offered_requests_per_s": 1.5,
        "max_batch_size": 48,
        "ttft_ms.mean": 471.5,
        "tpot_ms.mean": 28.25,
        "e2e_ms.mean": 28_500.0,
        "completed_per_s": 1.5,
        "output_tokens_per_s": 1680.0,
        "output_tokens_per_s_per_device": 840.0,
        "devices": 2,
        "tp": 2,
        "pp": 1,
        "dp": 1,
        "ep": 1,
        "precision_weights": "fp8",
        "precision_kv_cache": "fp8",
        "device_used_bytes": 64 * 2**30,
        "engine_name": "vllm",
        "engine_version": "0.24.0",
        "device_type": "h200_sxm",
    }


@pytest.mark.parametrize("form", FORMS)
def test_no_prediction_fills_a_field_of_our_documents(form: str) -> None:
    (run,) = imported(FORMS[form]).runs
    assert {(value.document, value.field, value.standing) for value in run.values} == {(None, None, "predicted")}
    assert "tp" in {asked.name for asked in run.asked}


def test_places_are_those_of_the_file() -> None:
    assert place(only_run(FORMS["results"]), "ttft_ms.mean").pointer == "/results/0/ttft"
    assert place(only_run(FORMS["object"]), "ttft_ms.mean").pointer == "/ttft"
    at = place(only_run(FORMS["CSV"]), "output_tokens_per_s_per_device")
    assert (at.line, at.column) == (2, "tokens/s/gpu")


def test_the_two_sides_of_a_split_deployment_stand_apart() -> None:
    run = only_run(csv(SPLIT))
    found = {(value.name, value.of): value.value for value in run.values}
    assert (found["tp", "prefill"], found["tp", "decode"]) == (4, 2)
    assert (found["replicas", "prefill"], found["engine_version", "prefill"]) == (2, "1.0")


def test_every_row_is_a_run_of_its_own_and_empty_cells_are_missing() -> None:
    read = imported(csv(ROW, {**ROW, "tp": 4, "ttft": ""}))
    assert [run.id for run in read.runs] == ["row-1", "row-2"]
    assert "ttft_ms.mean" not in {value.name for value in read.runs[1].values}


def test_a_value_among_rows_that_is_none_is_refused() -> None:
    assert codes(imported(json.dumps([ROW, 7])).runs[1], "refused") == ["import/format"]


REPORT = {
    "num_requests": 5,
    "completed_requests": 4,
    "total_output_tokens": 400,
    "duration_ms": 2000,
    "wall_time_ms": 150,
    "request_throughput_rps": 2,
    "output_throughput_tok_s": 200,
    "num_ttft_samples": 4,
    "num_tpot_samples": 0,
    "mean_ttft_ms": 100,
    "p99_ttft_ms": 180.5,
    "mean_tpot_ms": 0,
}


def test_the_report_of_a_replay_is_a_prediction_too() -> None:
    read = imported(REPORT)
    (run,) = read.runs
    assert (read.format, run.status, codes(run)) == ("prediction", "refused", ["import/prediction"])
    assert values(run) == {
        "sent": 5,
        "completed": 4,
        "output_tokens_total": 400,
        "duration_s": 2,
        "completed_per_s": 2,
        "output_tokens_per_s": 200,
        "ttft_ms.mean": 100,
        "ttft_ms.p99": 180.5,
    }
    assert {value.standing for value in run.values} == {"predicted"}
    assert {value.field for value in run.values} == {None}
