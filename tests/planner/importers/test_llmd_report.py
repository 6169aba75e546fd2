"""llm-d benchmark reports: units of every statistic, servers of a stack, figures that contradict themselves."""

import json
from typing import Any

import pytest
import yaml

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values


def statistic(units: str, mean: float, **more: float) -> Tree:
    return {"units": units, "mean": mean, "p50": mean, "p95": mean * 1.5, "p99": mean * 2, "p99p9": mean * 3, **more}


def component(role: str = "decode", args: Tree | None = None, **changed: Any) -> Tree:
    standardized = {
        "kind": "inference_engine",
        "tool": "vllm",
        "tool_version": "0.11.0",
        "role": role,
        "replicas": 2,
        "model": {"name": "example/model-8b"},
        "accelerator": {"model": "H100", "count": 8, "parallelism": {"tp": 4, "pp": 1, "ep": 1, "dp": 2, "workers": 1}},
    }
    native = {"args": args or {}, "envars": {"HF_TOKEN": "sesame-open-123"}}
    return {"metadata": {"label": f"{role}-svc"}, "standardized": {**standardized, **changed}, "native": native}


def report(*components: Tree, **results: Any) -> Tree:
    """40 requests of 100 tokens in and 51 out in 20 s, at 2 a second."""
    aggregate = {
        "requests": {
            "total": 40,
            "failures": 0,
            "input_length": statistic("count", 100.0),
            "output_length": statistic("count", 51.0),
        },
        "throughput": {
            "request_rate": statistic("queries/s", 2.0),
            "output_token_rate": statistic("tokens/s", 102.0),
        },
        "latency": {
            "request_latency": statistic("s", 1.5),
            "time_to_first_token": statistic("ms", 300.0),
            "time_per_output_token": statistic("s/token", 0.02),
            "inter_token_latency": statistic("ms/token", 21.0),
        },
    }
    load = {
        "tool": "inference-perf",
        "tool_version": "0.3.0",
        "rate_qps": 2,
        "concurrency": float("inf"),
        "input_seq_len": {"distribution": "fixed", "value": 100},
        "output_seq_len": {"distribution": "gaussian", "value": 50, "std_dev": 5},
    }
    return {
        "version": "0.2.1",
        "run": {
            "user": "alice",
            "time": {"start": "2026-03-01T10:00:00Z", "end": "2026-03-01T10:00:20Z", "duration": "PT20.0S"},
        },
        "scenario": {"stack": list(components) or [component()], "load": {"standardized": load}},
        "results": {"request_performance": {"aggregate": aggregate}, **results},
    }


def old_report(**metrics: Any) -> Tree:
    known = {
        "time": {"duration": 20.0, "start": 1_772_000_000.0, "stop": 1_772_000_020.0},
        "requests": {"total": 40, "failures": 0, "incomplete": 0, "output_length": statistic("count", 51.0)},
        "latency": {"time_to_first_token": statistic("ms", 300.0)},
        "throughput": {"output_tokens_per_sec": 102.0, "requests_per_sec": 2.0},
    }
    accelerator = {"model": "H100", "count": 4, "parallelism": {"tp": 4, "pp": 1, "dp": 1, "ep": 1}}
    return {
        "version": "0.1",
        "scenario": {
            "host": {"type": ["prefill", "decode"], "accelerator": [accelerator, accelerator]},
            "platform": {"engine": [{"name": "vllm", "version": "0.9.1", "args": {}}] * 2},
            "model": {"name": "example/model-8b"},
            "load": {"name": "inference-perf"},
        },
        "metrics": {**known, **metrics},
    }


@pytest.mark.parametrize("written", [yaml.safe_dump, json.dumps], ids=["YAML", "JSON"])
def test_every_statistic_is_read_in_its_own_unit(written: Any) -> None:
    read = imported(written(report()))
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("llm-d-report", "0.2.1", "usable")
    found = values(run)
    expected = {
        "sent": 40,
        "completed": 40,
        "failed": 0,
        "duration_s": 20.0,
        "started_at": "2026-03-01T10:00:00Z",
        "e2e_ms.p95": 2250,
        "ttft_ms.p95": 450,
        "ttft_ms.p99_9": 900,
        "tpot_ms.mean": 20,
        "itl_ms.mean": 21,
        "tpot_definition": "(e2e-ttft)/(n-1)",
        "arrival": "open",
        "offered_requests_per_s": 2,
        "prompt_tokens": 100,
        "output_tokens_asked_mean": 50,
        "tool_version": "0.3.0",
    }
    assert {name: found[name] for name in expected} == expected
    assert place(run, "ttft_ms.p95").pointer == (
        "/results/request_performance/aggregate/latency/time_to_first_token/p95"
    )


def test_an_unknown_unit_is_left_out_and_named() -> None:
    changed = report()
    changed["results"]["request_performance"]["aggregate"]["latency"]["time_to_first_token"]["units"] = "ticks"
    run = only_run(changed)
    assert "ttft_ms.p95" in run.missing
    assert "import/type" in codes(run)


def test_devices_are_those_of_every_replica() -> None:
    run = only_run(report(component("prefill", replicas=1), component("decode")))
    assert values(run)["devices"] == 24
    assert values(run, "prefill-0")["role"] == "prefill"
    expected = {"role": "decode", "tp": 4, "dp": 2, "replicas": 2, "engine_name": "vllm", "engine_version": "0.11.0"}
    found = values(run, "decode-1")
    assert {name: found[name] for name in expected} == expected
    assert place(run, "replicas") == Place(pointer="/scenario/stack/0/standardized/replicas")


def test_arguments_that_say_another_degree_hold_the_run() -> None:
    run = only_run(report(component(args={"--data-parallel-size": 3, "--tensor-parallel-size": "4"})))
    (held,) = [remark for remark in run.remarks if remark.effect == "held"]
    assert held.sentence == "decode-0: dp is stated as 2, its arguments say 3"


def test_an_image_is_no_version() -> None:
    run = only_run(report(component(tool="llm-d", tool_version="registry.example/llm-d:0.3")))
    assert values(run, "decode-0")["engine_image"] == "registry.example/llm-d:0.3"
    assert "import/image" in codes(run)
    assert "engine_version" in run.missing


def test_variables_and_users_are_not_kept() -> None:
    run = only_run(report())
    assert "sesame" not in repr(run)
    assert "alice" not in repr(run)


def test_what_was_observed_has_its_units() -> None:
    aggregate = {
        "gpu_memory_usage": statistic("GiB", 60.0, max=73.5),
        "kv_cache_usage": statistic("percent", 40.0, max=92.0),
        "waiting_requests": statistic("count", 3.5),
    }
    seen = {"components": [{"component_label": "decode-svc", "aggregate": aggregate}]}
    found = values(only_run(report(observability=seen)), "decode-0")
    assert found["device_used_peak_bytes"] == 78_920_024_064
    assert (found["kv_used_mean_share"], found["kv_used_peak_share"]) == (0.4, 0.92)
    assert found["queued_requests_mean"] == 3.5


def test_replicas_that_failed_hold_the_run() -> None:
    health = [{"component_label": "decode-svc", "failed_replicas": 1, "total_restarts": 0}]
    assert codes(only_run(report(component_health=health)), "held") == ["import/unhealthy"]


def test_a_duration_that_is_not_the_span_is_named() -> None:
    changed = report()
    changed["run"]["time"]["end"] = "2026-03-01T10:16:00Z"
    assert "import/stage" in codes(only_run(changed))


def test_version_0_1_has_parallel_lists() -> None:
    read = imported(old_report())
    (run,) = read.runs
    assert (read.version, run.status) == ("0.1", "usable")
    assert values(run)["devices"] == 8
    assert values(run, "decode-1")["engine_version"] == "0.9.1"
    assert values(run)["ttft_ms.p95"] == 450


def test_lists_of_other_lengths_hold_the_run() -> None:
    changed = old_report()
    changed["scenario"]["host"]["type"].append("decode")
    assert codes(only_run(changed), "held") == ["import/contradiction"]


def test_seconds_under_the_name_of_milliseconds_hold_the_run() -> None:
    wrong = old_report(latency={"time_to_first_token": statistic("ms", 0.3)})
    assert codes(only_run(wrong), "held") == ["import/unit"]


def test_a_run_that_stops_before_it_starts_waits_for_a_person() -> None:
    backwards = old_report(time={"duration": 20.0, "start": 1_772_000_020.0, "stop": 1_772_000_000.0})
    assert codes(only_run(backwards), "held") == ["import/contradiction"]


def test_of_failed_requests_the_completed_are_not_guessed() -> None:
    changed = report()
    changed["results"]["request_performance"]["aggregate"]["requests"]["failures"] = 4
    run = only_run(changed)
    assert "completed" in run.missing
    assert "import/total_unknown" in codes(run)
