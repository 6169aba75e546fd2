"""GuideLLM: one run a benchmark, seconds and milliseconds, and which requests count."""

import json
from typing import Any

import pytest
import yaml

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

EMPTY = {"mean": 0.0, "std_dev": 0.0, "min": 0.0, "max": 0.0, "count": 0, "total_sum": 0.0, "percentiles": {"p95": 0.0}}


def metric(mean: float, count: int = 40, **percentiles: float) -> Tree:
    known = {"p001": mean / 2, "p50": mean, "p90": mean * 1.1, "p95": mean * 1.2, "p99": mean * 1.3, "p999": mean * 1.4}
    successful = {
        "mean": mean,
        "std_dev": 1.0,
        "min": mean / 2,
        "max": mean * 1.5,
        "count": count,
        "total_sum": mean * count,
        "percentiles": {**known, **percentiles},
    }
    return {"successful": successful, "errored": EMPTY, "incomplete": EMPTY, "total": EMPTY}


def metrics() -> Tree:
    """40 requests of 100 tokens in and 50 out in 20 s."""
    return {
        "requests_per_second": metric(2.0),
        "request_concurrency": metric(5.0),
        "request_latency": metric(2.5),
        "prompt_token_count": metric(100.0),
        "output_token_count": metric(50.0),
        "time_to_first_token_ms": metric(300.0),
        "time_per_output_token_ms": metric(50.0),
        "inter_token_latency_ms": metric(45.0),
        "output_tokens_per_second": metric(100.0, p95=9000.0),
    }


def old_report(**changed: Any) -> Tree:
    benchmark = {
        "args": {"strategy": {"type_": "constant", "rate": 2.2, "max_concurrency": None}},
        "run_stats": {"requests_made": {"successful": 40, "errored": 1, "incomplete": 3, "total": 44}},
        "worker": {"backend_type": "openai_http", "backend_model": "example/model-8b"},
        "request_loader": {"data": "prompt_tokens=100,output_tokens=50"},
        "start_time": 1_772_000_000.5,
        "end_time": 1_772_000_020.5,
        "duration": 20.0,
        "metrics": metrics(),
        "requests": {"successful": [{"prompt": "my secret", "output": "an answer"}]},
    }
    return {"benchmarks": [{**benchmark, **changed}]}


def new_report(*strategies: Tree, **backend: Any) -> Tree:
    benchmarks = [
        {
            "config": {"strategy": strategy, "backend": {"model": "example/model-8b", "stream": True, **backend}},
            "scheduler_metrics": {"requests_made": {"successful": 40, "errored": 0, "incomplete": 0, "total": None}},
            "metrics": metrics(),
            "duration": 20.0,
        }
        for strategy in strategies
    ]
    data = [{"kind": "synthetic_text", "prompt_tokens": 100, "prompt_tokens_stdev": 4, "output_tokens": 50}]
    return {
        "metadata": {"version": 2, "guidellm_version": "0.8.0"},
        "config": {"spec": {"data": data}},
        "benchmarks": benchmarks,
    }


def test_successful_requests_give_the_figures_in_our_units() -> None:
    read = imported(old_report())
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("guidellm", "0.2 or 0.3", "usable")
    found = values(run)
    expected = {
        "sent": 44,
        "completed": 40,
        "failed": 1,
        "cut_off": 3,
        "duration_s": 20.0,
        "input_tokens_total": 4000,
        "output_tokens_total": 2000,
        "output_tokens_per_s": 100.0,
        "completed_per_s": 2.0,
        "e2e_ms.mean": 2500.0,
        "e2e_ms.p95": 3000.0,
        "ttft_ms.p95": 360.0,
        "ttft_ms.n": 40,
        "tpot_ms.mean": 45.0,
        "tpot_definition": "(e2e-ttft)/(n-1)",
        "arrival": "open",
        "offered_requests_per_s": 2.2,
        "prompt_tokens": 100,
        "output_tokens": 50,
        "model_name": "example/model-8b",
        "started_at": "2026-02-25T06:13:20Z",
    }
    assert {name: found[name] for name in expected} == expected
    assert "itl_ms.mean" not in found
    assert place(run, "ttft_ms.p95") == Place(
        pointer="/benchmarks/0/metrics/time_to_first_token_ms/successful/percentiles/p95", line=1
    )


def test_the_extreme_percentiles_are_tenths_of_a_percent() -> None:
    assert values(only_run(old_report()))["ttft_ms.p99_9"] == 420.0


def test_prompts_and_answers_are_not_kept() -> None:
    run = only_run(old_report())
    assert {"import/cut_off", "import/failed_requests", "import/content_dropped"} <= set(codes(run))
    assert "secret" not in repr(run)


def test_a_group_without_requests_is_missing_not_zero() -> None:
    nothing = {**metrics(), "time_to_first_token_ms": {"successful": EMPTY}}
    run = only_run(old_report(metrics=nothing))
    assert {"ttft_ms.mean", "ttft_ms.p95"} <= set(run.missing)


def test_a_distribution_weighted_by_tokens_has_no_count_of_requests() -> None:
    weighted = {**metrics(), "inter_token_latency_ms": metric(45.0, count=1960)}
    run = only_run(old_report(metrics=weighted))
    assert "tpot_ms.n" not in values(run)
    assert "import/weighted" in codes(run)


@pytest.mark.parametrize(
    ("strategy", "expected", "code"),
    [
        ({"type_": "concurrent", "streams": 8}, {"arrival": "closed", "concurrent_requests": 8}, None),
        ({"type_": "synchronous"}, {"arrival": "closed", "concurrent_requests": 1}, "import/extreme"),
        ({"type_": "throughput", "max_concurrency": 512}, {}, "import/all_at_once"),
        ({"type_": "poisson", "rate": 3.0, "max_concurrency": 10240}, {"arrival": "open"}, None),
    ],
)
def test_the_strategy_is_the_load(strategy: Tree, expected: Tree, code: str | None) -> None:
    run = only_run(new_report(strategy))
    assert {name: values(run).get(name) for name in ("arrival", "concurrent_requests")} == {
        "arrival": expected.get("arrival"),
        "concurrent_requests": expected.get("concurrent_requests"),
    }
    assert code is None or code in codes(run)


def test_benchmarks_of_a_sweep_are_runs_of_one_version() -> None:
    read = imported(new_report({"type_": "synchronous"}, {"type_": "constant", "rate": 2.0}))
    assert read.version == "0.8.0"
    assert [values(run)["tool_version"] for run in read.runs] == ["0.8.0", "0.8.0"]
    assert [values(run)["prompt_tokens_mean"] for run in read.runs] == [100, 100]
    assert "import/total_unknown" in codes(read.runs[0])


def test_the_layout_between_names_the_model_in_its_arguments() -> None:
    report = old_report(worker=None)
    report |= {"metadata": {"version": 1}, "args": {"model": "example/model-8b"}}
    read = imported(report)
    assert (read.version, values(read.runs[0])["model_name"]) == ("metadata version 1", "example/model-8b")


def test_without_streaming_only_the_whole_answer_has_a_latency() -> None:
    run = only_run(new_report({"type_": "constant", "rate": 2.0}, stream=False))
    assert "e2e_ms.p95" in values(run)
    assert {"ttft_ms.p95", "tpot_ms.mean"} <= set(run.missing)
    assert "import/not_streaming" in codes(run)


def test_the_key_of_the_server_is_not_kept() -> None:
    run = only_run(new_report({"type_": "constant", "rate": 2.0}, api_key="sesame-open-123"))
    assert "import/content_dropped" in codes(run)
    assert "sesame" not in repr(run)


def test_the_yaml_of_a_report_says_the_same() -> None:
    tree = json.loads(json.dumps(new_report({"type_": "concurrent", "streams": 8})))
    read, alike = imported(yaml.safe_dump(tree)), imported(tree)
    assert (read.format, read.version, len(read.runs)) == (alike.format, alike.version, len(alike.runs))
    assert values(read.runs[0]) == values(alike.runs[0])
