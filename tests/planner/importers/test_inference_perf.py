"""inference-perf: seconds, successes and failures apart, YAML or JSON."""

import json
from typing import Any

import pytest
import yaml

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values


def spread(average: float) -> Tree:
    tail = {"p90": average * 1.2, "p95": average * 1.4, "p99": average * 1.6, "p99.9": average * 1.8}
    return {"mean": average, "median": average, "min": average / 2, "max": average * 2, **tail}


def summary(**changed: Any) -> Tree:
    """40 answers of 100 tokens in and 51 out in 20 s."""
    whole = {
        "benchmark_time_seconds": 20.0,
        "failures": {"count": 2, "request_latency": None},
        "load_summary": {"count": 42, "requested_rate": 2.1, "achieved_rate": 2.1},
        "successes": {
            "count": 40,
            "latency": {
                "request_latency": spread(1.3),
                "time_to_first_token": spread(0.3),
                "time_per_output_token": spread(0.02),
                "normalized_time_per_output_token": spread(0.025),
                "inter_token_latency": spread(0.021),
            },
            "output_len": {"mean": 51.0},
            "prompt_len": {"mean": 100.0},
            "prompt_tokens": {"total": 4000.0},
            "throughput": {"requests_per_sec": 2.0, "input_tokens_per_sec": 200.0, "output_tokens_per_sec": 102.0},
        },
    }
    return {**whole, **changed}


@pytest.mark.parametrize("written", [yaml.safe_dump, json.dumps], ids=["YAML", "JSON"])
def test_seconds_become_milliseconds(written: Any) -> None:
    read = imported(written(summary()))
    (run,) = read.runs
    assert (read.format, run.status) == ("inference-perf", "usable")
    found = values(run)
    expected = {
        "sent": 42,
        "completed": 40,
        "failed": 2,
        "duration_s": 20.0,
        "input_tokens_total": 4000,
        "output_tokens_mean": 51,
        "output_tokens_per_s": 102.0,
        "e2e_ms.p50": 1300,
        "ttft_ms.p95": 420,
        "ttft_ms.n": 40,
        "tpot_ms.mean": 20,
        "tpot_definition": "(e2e-ttft)/(n-1)",
        "arrival": "open",
        "offered_requests_per_s": 2.1,
    }
    assert {name: found[name] for name in expected} == expected
    assert place(run, "ttft_ms.p95") == Place(pointer="/successes/latency/time_to_first_token/p95")
    assert {"model_name", "output_tokens_total"} <= set(run.missing)


def test_a_rate_that_was_not_reached_is_named() -> None:
    load = {"count": 42, "requested_rate": 4.0, "achieved_rate": 2.1}
    assert "import/other_workload" in codes(only_run(summary(load_summary=load)))


def test_a_stage_without_an_answer_is_no_evidence() -> None:
    nothing = {"count": 0, "latency": {"request_latency": None}}
    assert codes(only_run(summary(successes=nothing)), "refused") == ["import/none_completed"]
