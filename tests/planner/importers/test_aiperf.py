"""AIPerf: both layouts, its CSV, devices, and single requests."""

import json
import tracemalloc

from planner.importers.model import Place
from tests.planner.importers.perf_samples import aiperf_export, aiperf_record, gpu, metric
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

CSV = """\
Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std
Inter Chunk Latency (ms),42.00,0.00,200.00,8400.00,3.00,6.00,7.00,8.00,40.00,41.00,42.00,43.00,118.00,17.00
Request Latency (ms),2400.00,1.00,4800.00,1.00,1.00,1.00,1.00,1.00,2300.00,2400.00,3000.00,3600.00,4200.00,1.00
Time to First Token (ms),400.00,1.00,800.00,1.00,1.00,1.00,1.00,1.00,390.00,400.00,500.00,600.00,700.00,1.00

Metric,Value
Benchmark Duration (sec),20.00
Request Count,80.00
OSL Mismatch Count,7.00
Total Input Sequence Length (tokens),8000.00

Endpoint,GPU_Index,GPU_Name,GPU_UUID,Metric,avg,min,max
"""


def export_of_schema(**changed: object) -> Tree:
    """The layout of schema 1.3: phases in a list, models by name."""
    config = {
        "models": {"items": [{"name": "example/model-8b"}]},
        "endpoint": {"urls": ["http://localhost:8000"], "streaming": True},
        "phases": [
            {"name": "warmup", "exclude_from_results": True, "requests": 16, "concurrency": 99},
            {"name": "profiling", "requests": 80, "concurrency": 10},
        ],
    }
    export = aiperf_export(schema_version="1.3", aiperf_version="0.10.0", input_config=config)
    del export["error_request_count"]
    return {**export, **changed}


def test_an_export_gives_counts_latencies_and_times() -> None:
    read = imported(aiperf_export())
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("aiperf", "layout of 2025", "usable")
    found = values(run)
    expected = {
        "sent": 80,
        "completed": 80,
        "failed": 0,
        "duration_s": 20.0,
        "input_tokens_total": 8000,
        "output_tokens_total": 4000,
        "concurrent_requests": 10,
        "warmup_requests": 4,
        "ttft_ms.p95": 600.0,
        "tpot_ms.mean": 40.0,
        "itl_ms.mean": 42.0,
        "itl_definition": "per_chunk",
        "started_at": "2026-02-25T06:13:20Z",
        "ended_at": "2026-02-25T06:13:40Z",
        "local_time": "2026-02-25T07:13:20.000001",
    }
    assert {name: found[name] for name in expected} == expected


def test_schema_1_3_takes_the_phase_that_counts() -> None:
    read = imported(export_of_schema())
    (run,) = read.runs
    assert (read.version, values(run)["tool_version"]) == ("0.10.0", "0.10.0")
    assert (values(run)["concurrent_requests"], values(run)["sent"]) == (10, 80)
    assert values(run)["model_name"] == "example/model-8b"
    assert place(run, "concurrent_requests") == Place(pointer="/input_config/phases/1/concurrency", line=1)


def test_two_phases_that_count_wait_for_a_person() -> None:
    config = {"phases": [{"concurrency": 1}, {"concurrency": 2}]}
    assert "import/several_phases" in codes(only_run(export_of_schema(input_config=config)), "held")


def test_errors_are_counted_from_their_list_where_the_metric_is_absent() -> None:
    run = only_run(export_of_schema(error_summary=[{"error_details": {}, "count": 3}, {"count": 2}]))
    assert values(run)["failed"] == 5
    assert place(run, "failed") == Place(pointer="/error_summary", line=1)


def test_a_cancelled_run_waits_for_a_person() -> None:
    assert codes(only_run(aiperf_export(was_cancelled=True)), "held") == ["import/cancelled"]


def test_answers_of_other_lengths_are_named() -> None:
    assert "import/other_workload" in codes(only_run(aiperf_export(osl_mismatch_count=metric("requests", 7.0))))


def test_memory_is_in_decimal_gigabytes() -> None:
    telemetry = {"endpoints": {"a:9400": {"gpus": {"gpu_0": gpu(0, "GPU-a", 49.66), "gpu_1": gpu(1, "GPU-b", 50.0)}}}}
    run = only_run(aiperf_export(telemetry_data=telemetry))
    assert values(run, "gpu-0")["device_used_peak_bytes"] == 49_660_000_000
    assert values(run, "gpu-1")["device_used_peak_bytes"] == 50_000_000_000
    assert values(run)["devices"] == 2
    assert "import/sampled" in codes(run)


def test_a_device_seen_by_two_exporters_counts_once() -> None:
    both = {name: {"gpus": {"gpu_0": gpu(0, "GPU-a", 49.0)}} for name in ("a:9400", "a:9401")}
    run = only_run(aiperf_export(telemetry_data={"endpoints": both}))
    assert values(run)["devices"] == 1
    assert "import/seen_twice" in codes(run)
    assert "node-1.example" not in repr(run.values)


def test_memory_of_schema_1_4_has_the_name_of_its_maker() -> None:
    device = gpu(0, "GPU-a", 49.0)
    device["metrics"] = {"amd_memory_used": metric("GB", 60.0, max=61.5)}
    telemetry = {"endpoints": {"a:9400": {"gpus": {"gpu_0": device}}}}
    run = only_run(aiperf_export(telemetry_data=telemetry))
    assert values(run, "gpu-0")["device_used_peak_bytes"] == 61_500_000_000


def test_the_csv_has_devices_below_its_metrics() -> None:
    device = "0,Example 80G,GPU-a,GPU Memory Used (GB)"
    rows = f"a:9400,{device},48.0,47.0,49.5\na:9401,{device},48.0,47.0,51.0\n"
    run = only_run(CSV + rows)
    assert values(run)["devices"] == 1
    assert values(run, "gpu-0") == {"device_type": "Example 80G", "device_used_peak_bytes": 49_500_000_000}


def test_samples_of_devices_give_peaks_and_their_spacing() -> None:
    def sample(second: int, index: int, used: float, exporter: str = "a:9400") -> Tree:
        return {
            "timestamp_ns": (1_772_000_000 + second) * 10**9,
            "dcgm_url": exporter,
            "gpu_index": index,
            "gpu_uuid": f"GPU-{index}",
            "gpu_model_name": "Example 80G",
            "hostname": "node-1.example",
            "telemetry_data": {"gpu_memory_used": used, "gpu_power_usage": 300.0},
        }

    samples = [
        sample(0, 0, 40.0),
        sample(0, 1, 41.0),
        sample(2, 0, 45.5),
        sample(4, 0, 42.0),
        sample(4, 0, 70.0, "a:9401"),
    ]
    read = imported("\n".join(json.dumps(each) for each in samples))
    (run,) = read.runs
    assert read.format == "aiperf-telemetry"
    assert values(run, "gpu-0") == {
        "device_type": "Example 80G",
        "device_used_peak_bytes": 45_500_000_000,
        "samples": 3,
        "sample_interval_s": 2.0,
        "started_at": "2026-02-25T06:13:20Z",
    }
    assert values(run, "gpu-1")["samples"] == 1
    assert values(run)["devices"] == 2
    assert "import/seen_twice" in codes(run)
    assert "node-1.example" not in repr(run)


def test_the_csv_is_several_tables_the_last_without_rows() -> None:
    read = imported(CSV)
    (run,) = read.runs
    assert read.format == "aiperf"
    found = values(run)
    assert (found["itl_ms.p99"], found["ttft_ms.p95"], found["duration_s"]) == (118.0, 600.0, 20.0)
    assert (found["completed"], found["input_tokens_total"]) == (80, 8000)
    assert "import/other_workload" in codes(run)
    assert place(run, "duration_s") == Place(line=7, column="Value")


def test_single_requests_give_counts_and_percentiles_that_a_request_had() -> None:
    records = [aiperf_record(number) for number in range(20)]
    records += [aiperf_record(20, error={"code": 503}), aiperf_record(21, was_cancelled=True)]
    read = imported("\n".join(json.dumps(record) for record in (aiperf_record(0, phase="warmup"), *records)))
    (run,) = read.runs
    assert read.format == "aiperf-records"
    found = values(run)
    expected = {
        "sent": 22,
        "completed": 20,
        "failed": 1,
        "cut_off": 1,
        "duration_s": 22,
        "input_tokens_total": 2000,
        "output_tokens_total": 1000,
        "warmup_requests": 1,
        "ttft_ms.n": 20,
        "ttft_ms.p50": 109.0,
        "ttft_ms.p95": 118.0,
        "ttft_ms.p99": 119.0,
        "ttft_ms.max": 119.0,
        "quantile_method": "nearest_rank",
        "started_at": "2026-02-25T06:13:20Z",
    }
    assert {name: found[name] for name in expected} == expected
    assert "0d9f2c" not in repr(run)


def test_requests_are_read_in_a_stream() -> None:
    line = json.dumps(aiperf_record(1)).encode() + b"\n"
    raw = line * 8_000
    tracemalloc.start()
    run = only_run(raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert values(run)["completed"] == 8_000
    assert peak < 2 * 2**20 < len(raw)


def test_requests_of_which_none_completed_are_no_evidence() -> None:
    read = imported(aiperf_record(1, error={"code": 503}))
    assert codes(read.runs[0], "refused") == ["import/none_completed"]
