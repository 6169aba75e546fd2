"""Other files around vLLM: a team's own report of runs, and the offline tools."""

from typing import Any

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values


def wrapped(*runs: Tree) -> Tree:
    phase = {"variant": "base", "phase": "random_800x200", "bench": list(runs)}
    return {"source": "nightly", "phases": [phase]}


def wrapped_run(**changed: Any) -> Tree:
    """8 requests of 800 tokens in and 200 out in 36 s, one at a time."""
    metrics = {
        "successful_requests": 8,
        "benchmark_duration_s": 36.0,
        "total_input_tokens": 6400,
        "total_generated_tokens": 1600,
        "request_throughput_req_s": 0.22,
        "output_token_throughput_tok_s": 44.44,
        "mean_ttft_ms": 300.0,
        "mean_tpot_ms": 20.0,
    }
    command = ["vllm", "bench", "serve", "--model", "example/model-8b", "--header", "Authorization=sesame"]
    return {"concurrency": 1, "ok": True, "detail": "8/8", "metrics": metrics, "command": command, **changed}


def test_a_wrapper_gives_means_and_no_percentile() -> None:
    read = imported(wrapped(wrapped_run()))
    (run,) = read.runs
    assert (read.format, run.status) == ("vllm-bench-wrapper", "usable")
    found = values(run)
    expected = {
        "label": "base random_800x200",
        "concurrent_requests": 1,
        "completed": 8,
        "output_tokens_total": 1600,
        "output_tokens_per_s": 44.44,
        "ttft_ms.mean": 300.0,
        "tpot_ms.mean": 20.0,
        "model_name": "example/model-8b",
    }
    assert {name: found[name] for name in expected} == expected
    assert {"ttft_ms.p50", "ttft_ms.p99", "tpot_ms.p95"} <= set(run.missing)
    assert place(run, "ttft_ms.mean") == Place(pointer="/phases/0/bench/0/metrics/mean_ttft_ms", line=1)
    assert "sesame" not in repr(run)


def test_a_rate_rounded_by_a_console_is_no_contradiction() -> None:
    assert codes(only_run(wrapped(wrapped_run())), "held") == []
    changed = wrapped_run()
    changed["metrics"]["request_throughput_req_s"] = 0.24
    assert codes(only_run(wrapped(changed)), "held") == ["import/contradiction"]


def test_a_run_that_the_report_calls_failed_is_refused() -> None:
    assert codes(only_run(wrapped(wrapped_run(ok=False))), "refused") == ["import/invalid"]


def test_the_latency_of_a_batch_is_none_of_a_server() -> None:
    read = imported({"avg_latency": 1.5, "latencies": [1.5], "percentiles": {"50": 1.5, "99": 1.6}})
    (run,) = read.runs
    assert (read.format, read.version) == ("vllm-bench-offline", "vllm bench latency")
    assert codes(run, "held") == ["import/micro_benchmark"]
    assert values(run) == {"tool_name": "vllm bench latency"}
    assert {"e2e_ms.p95", "ttft_ms.p95", "tp"} <= set(run.missing)


def test_offline_throughput_counts_input_and_output_together() -> None:
    result = {
        "elapsed_time": 10.0,
        "num_requests": 50,
        "total_num_tokens": 10_000,
        "requests_per_second": 5.0,
        "tokens_per_second": 1000.0,
    }
    run = only_run(result)
    assert values(run) == {
        "tool_name": "vllm bench throughput",
        "duration_s": 10.0,
        "completed": 50,
        "completed_per_s": 5.0,
        "total_tokens_per_s": 1000.0,
    }
    assert codes(run, "held") == ["import/offline"]
    assert "import/contradiction" in codes(only_run({**result, "tokens_per_second": 400.0}))
