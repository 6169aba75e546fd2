"""Own exports of GenAI-Perf and AIPerf."""

from typing import Any

from tests.planner.importers.samples import Tree

NS = 10**9


def metric(unit: str, average: float, **more: float) -> Tree:
    return {"unit": unit, "avg": average, **more}


def spread(average: float, unit: str = "ms") -> Tree:
    """A distribution around its average."""
    return metric(
        unit,
        average,
        p50=average,
        p90=average * 1.25,
        p95=average * 1.5,
        p99=average * 1.75,
        min=average / 2,
        max=average * 2,
        std=1.0,
    )


def genai_export(config: Tree | None = None, **changed: Any) -> Tree:
    """10 in flight, 100 tokens in and 50 out."""
    asked = {
        "model": ["example/model-8b"],
        "backend": "vllm",
        "streaming": True,
        "model_selection_strategy": "round_robin",
        "synthetic_input_tokens_mean": 100,
        "synthetic_input_tokens_stddev": 0,
        "output_tokens_mean": 50,
        "output_tokens_stddev": 0,
        "concurrency": 10,
        "request_rate": None,
        "request_count": 0,
        "warmup_request_count": 0,
        **(config or {}),
    }
    export = {
        "request_throughput": metric("requests/sec", 4.0),
        "request_latency": spread(2400.0),
        "time_to_first_token": spread(400.0),
        "inter_token_latency": spread(40.0),
        "output_token_throughput": metric("tokens/sec", 200.0),
        "output_sequence_length": spread(50.0, "tokens"),
        "input_sequence_length": spread(100.0, "tokens"),
        "input_config": asked,
    }
    return {**export, **changed}


def gpu(index: int, uuid: str, used_gb: float) -> Tree:
    return {
        "gpu_index": index,
        "gpu_name": "Example 80G",
        "gpu_uuid": uuid,
        "hostname": "node-1.example",
        "metrics": {
            "gpu_memory_used": metric("GB", used_gb - 1, max=used_gb),
            "gpu_memory_total": metric("GB", 80.5, max=80.5),
        },
    }


def aiperf_export(**changed: Any) -> Tree:
    """The layout of 2025: 80 requests of 100 tokens in and 50 out in 20 s."""
    export: Tree = {
        "request_throughput": metric("requests/sec", 4.0),
        "request_latency": spread(2400.0),
        "request_count": metric("requests", 80.0),
        "time_to_first_token": spread(400.0),
        "inter_token_latency": spread(40.0),
        "inter_chunk_latency": spread(42.0),
        "output_token_throughput": metric("tokens/sec", 200.0),
        "output_sequence_length": spread(50.0, "tokens"),
        "input_sequence_length": spread(100.0, "tokens"),
        "benchmark_duration": metric("sec", 20.0),
        "total_isl": metric("tokens", 8000.0),
        "total_osl": metric("tokens", 4000.0),
        "error_request_count": None,
        "min_request_timestamp": metric("ns", 1_772_000_000.0 * NS),
        "max_response_timestamp": metric("ns", 1_772_000_020.0 * NS),
        "telemetry_data": {"endpoints": {}},
        "input_config": {
            "endpoint": {"model_names": ["example/model-8b"], "streaming": True},
            "input": {"prompt": {"input_tokens": {"mean": 100, "stddev": 0.0}, "output_tokens": {"mean": 50}}},
            "loadgen": {"concurrency": 10, "request_count": 80, "warmup_request_count": 4},
        },
        "was_cancelled": False,
        "error_summary": [],
        "start_time": "2026-02-25T07:13:20.000001",
    }
    return {**export, **changed}


def aiperf_record(number: int, *, phase: str = "profiling", error: Any = None, **metadata: Any) -> Tree:
    """One request: its latency grows with its number; 50 tokens out."""
    start = 1_772_000_000 * NS + number * NS
    latencies = {"request_latency": 1000.0 + number, "time_to_first_token": 100.0 + number, "inter_token_latency": 20.0}
    metrics: Tree = {name: {"value": value, "unit": "ms"} for name, value in latencies.items()}
    metrics["input_sequence_length"] = {"value": 100, "unit": "tokens"}
    metrics["output_sequence_length"] = {"value": 50, "unit": "tokens"}
    known = {
        "benchmark_phase": phase,
        "request_start_ns": start,
        "request_end_ns": start + NS,
        "was_cancelled": False,
        "x_request_id": "0d9f2c",
    }
    return {"metadata": {**known, **metadata}, "metrics": metrics, "error": error}
