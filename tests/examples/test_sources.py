"""The re-typed figures of the two real examples are those of the published files, in our units."""

import csv
import json
from decimal import Decimal
from typing import Any

import pytest

from tests.examples.readme import EXAMPLES
from tests.shared import shared_path

LATENCIES = {"ttft_ms": "TTFT", "tpot_ms": "TPOT", "itl_ms": "ITL", "e2e_ms": "E2E Latency"}
STATISTICS = {"mean": "Mean", "p50": "Median", "p99": "P99"}
MEBIBYTE = 2**20


def trials_of(example: str) -> dict[str, Any]:
    trials: dict[str, Any] = json.loads((EXAMPLES / example / "evidence.json").read_bytes())["trials"]
    return trials


def windows_of(example: str) -> list[Any]:
    return [
        pytest.param(trial, window, id=f"{name}-{window_id}")
        for name, trial in trials_of(example).items()
        for window_id, window in trial["windows"].items()
    ]


def export_row(degree: int, concurrency: int) -> dict[str, str]:
    text = shared_path("cases/files/inferencex_csv/InferenceX_gpt-oss-120b_e2e.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    wanted = ("h200_vllm", str(degree), str(concurrency))
    (row,) = [row for row in rows if (row["Hardware Key"], row["TP"], row["Concurrency"]) == wanted]
    return row


def concurrency_of(example: str, window: Any) -> int:
    contract = json.loads((EXAMPLES / example / "contract.json").read_bytes())
    points = contract["identity"]["workload"]["load_points"]
    return int(points[window["load_point"]]["concurrent_requests"])


@pytest.mark.parametrize(("trial", "window"), windows_of("gpt-oss-120b-h200"))
def test_h200_latencies_are_the_export_s_seconds_as_milliseconds(trial: Any, window: Any) -> None:
    row = export_row(trial["topology"]["instances"][0]["tp"], concurrency_of("gpt-oss-120b-h200", window))
    expected = {
        field: {key: float(Decimal(row[f"{head} {column} (ms)"]) * 1000) for key, head in STATISTICS.items()}
        for field, column in LATENCIES.items()
    }
    assert {field: window["load"][field] for field in LATENCIES} == expected


@pytest.mark.parametrize(("trial", "window"), windows_of("gpt-oss-120b-h200"))
def test_h200_rates_stay_per_device(trial: Any, window: Any) -> None:
    row = export_row(trial["topology"]["instances"][0]["tp"], concurrency_of("gpt-oss-120b-h200", window))
    assert window["load"]["output_tokens_per_s"] == {
        "value": float(row["Output Throughput/GPU (tok/s)"]),
        "scope": "device",
    }
    assert window["load"]["total_tokens_per_s"] == {"value": float(row["Throughput/GPU (tok/s)"]), "scope": "device"}


def harness_phase(degree: int) -> dict[str, Any]:
    path = shared_path(f"cases/files/vllm_bench_harness/b200_tp{degree}_dsv4flash_primary.json")
    wanted = ("nomtp", "bench_hf_mt_bench")
    phases: list[dict[str, Any]] = json.loads(path.read_bytes())["phases"]
    (phase,) = [phase for phase in phases if (phase["variant"], phase["phase"]) == wanted]
    return phase


@pytest.mark.parametrize(("trial", "window"), windows_of("deepseek-v4-flash-b200"))
def test_b200_load_is_the_client_s_own(trial: Any, window: Any) -> None:
    concurrency = concurrency_of("deepseek-v4-flash-b200", window)
    phase = harness_phase(trial["topology"]["instances"][0]["tp"])
    (metrics,) = [bench["metrics"] for bench in phase["bench"] if bench["concurrency"] == concurrency]
    assert window["load"] == {
        "duration_s": metrics["benchmark_duration_s"],
        "requests": {"sent": 80, "completed": metrics["successful_requests"]},
        "input_tokens_total": metrics["total_input_tokens"],
        "output_tokens_total": metrics["total_generated_tokens"],
        "requests_per_s": {"value": metrics["request_throughput_req_s"], "scope": "deployment"},
        "output_tokens_per_s": {"value": metrics["output_token_throughput_tok_s"], "scope": "deployment"},
        "ttft_ms": {"n": metrics["successful_requests"], "mean": metrics["mean_ttft_ms"]},
        "tpot_ms": {"mean": metrics["mean_tpot_ms"]},
        "itl_ms": {"mean": metrics["mean_itl_ms"]},
    }


@pytest.mark.parametrize(("trial", "window"), windows_of("deepseek-v4-flash-b200"))
def test_b200_memory_is_the_sampled_maximum_in_bytes(trial: Any, window: Any) -> None:
    degree = trial["topology"]["instances"][0]["tp"]
    devices = harness_phase(degree)["gpu_stats"]["gpus"]
    memory = window["per_rank"]["device_used_peak_bytes"]
    assert memory["values"] == [devices[str(rank)]["memory_used_mib_max"] * MEBIBYTE for rank in range(degree)]
    assert memory["samples"] == devices["0"]["samples"]
