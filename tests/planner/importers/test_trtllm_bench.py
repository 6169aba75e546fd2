"""``trtllm-bench``: report and console, and why its latencies are not a server's."""

from typing import Any

import pytest

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values


def spread(average: float) -> Tree:
    known = {"p50": average, "p90": average * 1.25, "p95": average * 1.5, "p99": average * 2}
    return {**known, "minimum": average / 2, "maximum": average * 3, "average": average}


def report(engine: Tree | None = None, world: Tree | None = None, **changed: Any) -> Tree:
    """100 requests of 200 tokens in and 50 out in 10 s on 4 devices."""
    whole = {
        "engine": {
            "model": "example/model-120b",
            "engine_dir": "None",
            "version": "1.1.0",
            "backend": "Pytorch",
            "dtype": "bfloat16",
            "kv_cache_dtype": None,
            "quantization": "FP8",
            **(engine or {}),
        },
        "world_info": {
            "tp_size": 4,
            "pp_size": 1,
            "ep_size": 2,
            "world_size": 4,
            "max_batch_size": 64,
            "issue_rate": 3.4e13,
            **(world or {}),
        },
        "request_info": {
            "num_requests": 100,
            "avg_num_concurrent_requests": 40.5,
            "avg_input_length": 200.0,
            "avg_output_length": 50.0,
        },
        "performance": {
            "total_latency_ms": 10_000.0,
            "avg_request_latency_ms": 4050.0,
            "request_throughput_req_s": 10.0,
            "system_output_throughput_tok_s": 500.0,
            "system_total_throughput_tok_s": 2500.0,
            "output_throughput_per_gpu_tok_s": 125.0,
            "request_latency_percentiles_ms": spread(4050.0),
        },
    }
    return {**whole, **changed}


def console(*more: str, ep: str = "2") -> str:
    lines = (
        "[TensorRT-LLM] TensorRT-LLM version: 1.1.0",
        "[07/11/2025-11:40:45] [TRT-LLM] [I] Preparing to run throughput benchmark...",
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 52.08 GiB for max tokens in paged KV cache (2730752).",
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 51.00 GiB for max tokens in paged KV cache (2670000).",
        "= ENGINE DETAILS",
        "Model:\t\t\texample/model-70b",
        "TensorRT LLM Version:\t1.1.0",
        "Dtype:\t\t\tbfloat16",
        "KV Cache Dtype:\t\tFP8",
        "Quantization:\t\tNone",
        "TP Size:\t\t8",
        "PP Size:\t\t1",
        f"EP Size:\t\t{ep}",
        "Issue Rate (req/sec):\t8.5404E+14",
        *more,
    )
    return "\n".join(lines) + "\n"


RESULTS = (
    "Number of requests:\t\t100",
    "Average Output Length (tokens):\t50.0000",
    "Token Throughput (tokens/sec):\t500.0000",
    "Request Throughput (req/sec):\t10.0000",
    "Total Latency (ms):\t\t10000.0000",
)
STREAMED = (
    "[Latency] P95    : 4000.5000",
    "[TTFT] AVERAGE: 300.2500",
    "[TTFT] P95    : 450.0000",
    "[TPOT] P99    : 25.5000",
    "[TPOT] AVERAGE: 20.0000",
)


def test_a_report_gives_engine_topology_and_figures() -> None:
    read = imported(report())
    (run,) = read.runs
    assert (read.format, read.version) == ("trtllm-bench", "1.1.0")
    found = values(run)
    expected = {
        "layout": "trtllm",
        "tp": 4,
        "pp": 1,
        "ep": 2,
        "world_size": 4,
        "engine_version": "1.1.0",
        "precision_weights": "fp8",
        "precision_activations": "bf16",
        "completed": 100,
        "in_flight_mean": 40.5,
        "duration_s": 10.0,
        "output_tokens_per_s": 500.0,
        "e2e_ms.p95": 6075.0,
    }
    assert {name: found[name] for name in expected} == expected
    assert {"precision_kv_cache", "ttft_ms.p95", "tpot_ms.mean", "failed"} <= set(run.missing) | {"precision_kv_cache"}


def test_an_offline_run_waits_for_a_person() -> None:
    run = only_run(report())
    assert codes(run, "held") == ["import/offline"]
    assert {"import/not_streaming", "import/all_at_once"} <= set(codes(run))


def test_streaming_gives_first_tokens() -> None:
    streamed = {"ttft_percentiles": spread(300.0), "tpot_percentiles": spread(20.0)}
    found = values(only_run(report(streaming_metrics=streamed)))
    assert (found["ttft_ms.p95"], found["tpot_ms.mean"]) == (450.0, 20.0)
    assert found["tpot_definition"] == "(e2e-ttft)/(n-1)"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"world_size": 8}, "import/contradiction", id="world size"),
        pytest.param({"max_batch_size": 10}, "import/overloaded", id="more in flight than in a batch"),
    ],
)
def test_settings_that_do_not_go_together_are_named(changed: Tree, code: str) -> None:
    assert code in codes(only_run(report(world=changed)))


def test_a_degree_that_is_none_is_missing() -> None:
    assert "ep" in only_run(report(world={"ep_size": None})).missing
    assert "ep" in only_run(console(*RESULTS, ep="None")).missing


def test_memory_of_the_machine_is_in_gib() -> None:
    machine = {"name": "Example H200", "memory.total": 140.0}
    assert values(only_run(report(machine=machine)))["device_memory_bytes"] == 140 * 2**30


def test_the_console_gives_the_same_with_lines() -> None:
    run = only_run(console(*RESULTS))
    found = values(run)
    expected = {
        "model_name": "example/model-70b",
        "engine_version": "1.1.0",
        "precision_weights": "bf16",
        "precision_kv_cache": "fp8",
        "tp": 8,
        "ep": 2,
        "completed": 100,
        "output_tokens_per_s": 500.0,
        "duration_s": 10,
        "kv_capacity_tokens": 2_670_000,
    }
    assert {name: found[name] for name in expected} == expected
    assert place(run, "tp") == Place(line=11)


def test_streamed_figures_of_the_console() -> None:
    found = values(only_run(console(*RESULTS, *STREAMED)))
    assert (found["e2e_ms.p95"], found["ttft_ms.p95"], found["tpot_ms.p99"]) == (4000.5, 450.0, 25.5)


def test_a_log_without_results_is_no_evidence() -> None:
    read = imported(console())
    assert codes(read.runs[0], "refused") == ["import/no_result"]
    assert read.status == "refused"


def test_results_without_the_log_before_them_are_known() -> None:
    pasted = "\n".join(("= PERFORMANCE OVERVIEW", *RESULTS, *STREAMED))
    run = only_run(pasted)
    assert values(run)["output_tokens_per_s"] == 500.0
    assert {"tp", "engine_version"} <= set(run.missing)
