"""Real files of the tools, where they are there: known by their content, or refused with the reason."""

from pathlib import Path

import pytest

from planner.importers import Imported, Source, import_file
from planner.problem_codes import PROBLEM_CODES
from tests.planner.importers.samples import codes, values
from tests.shared import shared_cases, shared_path

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


PINNED: dict[str, dict[str, object]] = {
    "vllm_bench/serve_v0.25.1_opt125m_conc2.json": {"completed": 8, "ttft_ms.mean": 215.53594200008774, "failed": 0},
    "inferencex_raw/gptoss_fp4_h200_tp2_conc64_isl1024_osl1024.json": {
        "output_tokens_per_s": 4194.215645090736,
        "ttft_ms.p50": 144.38654549303465,
        "ttft_ms.p90": 340.0532245927025,
        "tpot_ms.p99": 15.591457904929749,
        "started_at": "2026-06-10T20:40:07Z",
    },
    "inferencex_raw/glm5_fp8_vllm_tp8_isl1024_osl128_conc64.json": {"ttft_ms.p50": 901.5302835032344},
    "inferencex_csv/InferenceX_gpt-oss-120b_e2e.csv": {"ttft_ms.mean": 40.11935685994104, "devices": 8, "tp": 8},
    "inferencex_agg/agg_bmk_b300_dsv4_dep8_flat_rows.json": {"devices": 8, "e2e_ms.p50": 8623.861999993096},
    "sglang_bench/agg_n100_in512_out128_c32.jsonl": {"kv_capacity_tokens": 2301720, "itl_ms.p95": 22.42972366511822},
    "guidellm/guidellm_0.3_constant_llmd-sim_trimmed.json": {
        "cut_off": 23,
        "e2e_ms.p95": 2345.3574180603027,
        "tpot_ms.mean": 10.423929083078537,
        "output_tokens_total": 75008,
    },
    "genai_perf/genai_perf_console_multinode_405b.md": {"e2e_ms.mean": 50176.83, "output_tokens_per_s": 20.41},
    "aiperf/qwen_concurrency4__profile_export_aiperf.json": {"itl_ms.p99": 20.827784899999997, "devices": 1},
    "trtllm_bench/llama70b_fp8_tp8_result_16384_2048_200.txt": {
        "tp": 8,
        "kv_capacity_tokens": 2730752,
        "output_tokens_per_s": 1747.7723,
    },
    "mlperf_loadgen/cisco_4node_h100x32_llama405b_server.summary.txt": {"ttft_ms.p95": 2260.690071},
    "inference_perf/inference_perf_lifecycle.yaml": {"e2e_ms.mean": 490.0, "completed": 3},
}
HELD_OR_REFUSED = {
    "vllm_bench/serve_v0.25.1_all_failed.json": "import/none_completed",
    "inferencex_raw/MISLABELLED_gptoss_fp4_but_deepseek-r1_h200_tp8_conc4.json": "import/name_contradicts",
    "genai_perf/genai_perf_24.12_streaming_profile_export_genai_perf.json": "import/output_longer",
    "mlperf_loadgen/krai_h200x8_sglang_server_INVALID_tpot.summary.txt": "import/invalid",
    "trtllm_bench/llama70b_fp8_tp8_result_16384_16384_50.txt": "import/no_result",
    "llmd_report/br_v0_1_example.yaml": "import/unit",
    "sglang_bench/pd_1p2d_n100_in2048_out512_c128.jsonl": "import/mixed_versions",
}


def imported_file(path: Path) -> Imported:
    with path.open("rb") as handle:
        return import_file(Source(str(path), handle))


@pytest.mark.parametrize("name", PINNED)
def test_a_real_file_gives_the_right_values(name: str) -> None:
    found = values(imported_file(shared_path(f"cases/files/{name}")).runs[0])
    assert {key: found[key] for key in PINNED[name]} == PINNED[name]


@pytest.mark.parametrize("name", HELD_OR_REFUSED)
def test_a_real_file_that_is_not_what_it_seems_is_stopped(name: str) -> None:
    read = imported_file(shared_path(f"cases/files/{name}"))
    assert read.status != "usable"
    assert HELD_OR_REFUSED[name] in codes(read.runs[0], "held") + codes(read.runs[0], "refused")


@pytest.mark.parametrize("path", shared_cases("cases/files", "*/*"))
def test_a_real_file_is_known_or_refused(path: Path) -> None:
    read = imported_file(path)
    if path.parent.name in FORMATS:
        assert read.format in FORMATS[path.parent.name]
    assert read.runs or read.problems
    codes = [remark.code for run in read.runs for remark in run.remarks] + [problem.code for problem in read.problems]
    assert set(codes) <= set(PROBLEM_CODES)
