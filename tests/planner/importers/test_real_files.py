"""Real files of the tools, where they are there: known by their content, or refused with the reason."""

from pathlib import Path

import pytest

from planner.importers import Source, import_file
from planner.problem_codes import PROBLEM_CODES
from tests.shared import shared_cases

FORMATS = {
    "aiperf": {"aiperf", "aiperf-records", "aiperf-telemetry"},
    "genai_perf": {"genai-perf"},
    "guidellm": {"guidellm"},
    "hf_config": {"hf-config"},
    "inference_perf": {"inference-perf"},
    "inferencex_agg": {"inferencex"},
    "inferencex_csv": {"inferencex"},
    "inferencex_raw": {"vllm-bench-serve", "inferencex-experiment"},
    "llmd_report": {"llm-d-report", ""},
    "mlperf_loadgen": {"mlperf-summary", "mlperf-system", "mlperf-measurement"},
    "nccl_topo_xml": {"hardware-topology"},
    "nvidia_topo": {"hardware-topology"},
    "rocm_topo": {"hardware-topology"},
    "sglang_bench": {"sglang-bench-serving"},
    "sglang_one_batch": {"sglang-one-batch"},
    "trtllm_bench": {"trtllm-bench"},
    "vllm_bench": {"vllm-bench-serve"},
    "vllm_bench_harness": {"vllm-bench-wrapper"},
    "vllm_bench_sweep": {"vllm-bench-serve"},
}


@pytest.mark.parametrize("path", shared_cases("cases/files", "*/*"))
def test_a_real_file_is_known_or_refused(path: Path) -> None:
    with path.open("rb") as handle:
        read = import_file(Source(str(path), handle))
    if path.parent.name in FORMATS:
        assert read.format in FORMATS[path.parent.name]
    assert read.runs or read.problems
    codes = [remark.code for run in read.runs for remark in run.remarks] + [problem.code for problem in read.problems]
    assert set(codes) <= set(PROBLEM_CODES)
