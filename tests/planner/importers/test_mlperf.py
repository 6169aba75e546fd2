"""MLPerf LoadGen: summaries, and the files beside them."""

import pytest

from planner.importers.model import Place
from tests.planner.importers.samples import codes, imported, only_run, place, values

SERVER = """\
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 2.50
Completed tokens per second: 250.00
Result is : VALID
  Min duration satisfied : Yes
Min latency (ns)                : 1000000000
Mean latency (ns)               : 4000000000
50.00 percentile latency (ns)   : 3900000000
99.00 percentile latency (ns)   : 8000000000

Completed tokens per second                 : 250.00
Mean First Token latency (ns)               : 1200000000
50.00 percentile first token latency (ns)   : 1100000000
95.00 percentile first token latency (ns)   : 2000000001
97.00 percentile first token latency (ns)   : 2100000000
99.90 percentile first token latency (ns)   : 3000000000
Mean Time to Output Token (ns)                : 28000000
99.00 percentile time to output token (ns)   : 60000000
samples_per_query : 1
target_qps : 2.6
ttft_latency (ns): 6000000000
"""
OFFLINE = """\
MLPerf Results Summary
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 30.5
Tokens per second: 9000.25
Result is : VALID
Mean latency (ns)               : 300000000000
samples_per_query : 1
"""
SYSTEM = {
    "accelerator_model_name": "Example H100",
    "accelerators_per_node": 8,
    "number_of_nodes": "4",
    "accelerator_memory_capacity": "80 GB",
    "accelerator_interconnect": "NVLink",
    "host_networking": "",
    "other_software_stack": "CUDA 12.8, Driver 570.86.10",
}


def test_nanoseconds_become_milliseconds_and_p95_is_real() -> None:
    read = imported(SERVER, "mlperf_log_summary.txt")
    (run,) = read.runs
    assert (read.format, run.status) == ("mlperf-summary", "usable")
    found = values(run)
    expected = {
        "completed_per_s": 2.5,
        "output_tokens_per_s": 250.0,
        "e2e_ms.mean": 4000,
        "e2e_ms.p99": 8000,
        "ttft_ms.p95": 2000.000001,
        "ttft_ms.p99_9": 3000,
        "tpot_ms.p99": 60,
        "offered_requests_per_s": 2.6,
        "arrival": "open",
    }
    assert {name: found[name] for name in expected} == expected
    assert place(run, "output_tokens_per_s") == Place(line=8)
    assert {"sent", "completed", "failed"} <= set(run.missing)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        pytest.param("Result is : VALID", "Result is : INVALID", "import/invalid", id="invalid"),
        pytest.param("Result is : VALID", "", "import/invalid", id="no result"),
        pytest.param("PerformanceOnly", "AccuracyOnly", "import/invalid", id="accuracy"),
        pytest.param("tokens per second", "frames per second", "import/no_tokens", id="no language model"),
    ],
)
def test_a_run_that_is_no_result_is_refused(old: str, new: str, code: str) -> None:
    run = only_run(SERVER.replace(old, new))
    assert codes(run, "refused") == [code]


def test_the_reasons_of_an_invalid_result_are_named() -> None:
    text = SERVER.replace("Result is : VALID", "Result is : INVALID\n * TTFT constrain not met: Reduce target QPS.")
    (refusal,) = [remark for remark in only_run(text).remarks if remark.effect == "refused"]
    assert refusal.sentence == (
        'the tool calls the result "INVALID", not VALID: "TTFT constrain not met: Reduce target QPS."'
    )


def test_offline_has_throughput_only() -> None:
    run = only_run(OFFLINE)
    found = values(run)
    assert (found["completed_per_s"], found["output_tokens_per_s"]) == (30.5, 9000.25)
    assert {"e2e_ms.mean", "ttft_ms.p95"} <= set(run.missing)
    assert "import/all_at_once" in codes(run)


@pytest.mark.parametrize("folder", ["compliance", "ranging", "TEST06"])
def test_runs_of_other_folders_wait_for_a_person(folder: str) -> None:
    run = only_run(SERVER, f"results/{folder}/mlperf_log_summary.txt")
    assert codes(run, "held") == ["import/name_contradicts"]


def test_several_samples_in_a_query_are_no_requests() -> None:
    assert codes(only_run(SERVER.replace("samples_per_query : 1", "samples_per_query : 8")), "held") == [
        "import/definition"
    ]


def test_a_system_has_nodes_and_devices_and_free_text_as_hints() -> None:
    read = imported(SYSTEM)
    (run,) = read.runs
    assert read.format == "mlperf-system"
    found = values(run)
    assert (found["nodes"], found["devices"], found["device_type"]) == (4, 32, "Example H100")
    assert [value.name for value in run.values if value.standing == "hint"] == ["device_interconnect", "driver_version"]
    assert {"device_memory_bytes", "driver_version"} <= set(run.missing)


def test_a_measurement_has_the_format_of_weights() -> None:
    read = imported({"input_data_types": "int32", "weight_data_types": "fp8", "weight_transformations": "none"})
    assert (read.format, values(read.runs[0])) == ("mlperf-measurement", {"precision_weights": "fp8"})
