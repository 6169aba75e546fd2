"""InferenceX: seconds everywhere, rates per device, and devices counted once."""

from typing import Any

import pytest

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

HEADER = (
    "Model,ISL,OSL,Hardware,Framework,Precision,TP,Concurrency,Date,Throughput/GPU (tok/s),"
    "Output Throughput/GPU (tok/s),Median TTFT (ms),P99 TTFT (ms),Median TPOT (ms),Median E2E Latency (ms),"
    "Std Interactivity (tok/s/user),Disaggregated,EP,DP Attention"
)
LICENCE = "# Licensed under a licence\n# Attribution is required, please\n"
ROW = "example-120b,1000,500,h200,vllm,fp4,4,16,2026-03-01,600.0,200.0,0.05,,0.01,10.0,22332.2,false,1,false"


def row(**changed: Any) -> Tree:
    """16 in flight of 1,000 tokens in and 500 out on 4 devices: 800 output tokens/s, 10 s an answer."""
    known = {
        "hw": "h200",
        "conc": 16,
        "image": "example/engine:v1",
        "model": "example/model-120b",
        "infmax_model_prefix": "example",
        "framework": "vllm",
        "precision": "fp4",
        "spec_decoding": "none",
        "disagg": False,
        "isl": 1000,
        "osl": 500,
        "tp": 4,
        "ep": 4,
        "dp_attention": "false",
        "tput_per_gpu": 600.0,
        "output_tput_per_gpu": 200.0,
        "input_tput_per_gpu": 400.0,
        "mean_ttft": 0.06,
        "median_ttft": 0.05,
        "p90_ttft": 0.08,
        "p99_ttft": 0.1,
        "median_tpot": 0.0199,
        "mean_intvty": 50.0,
        "median_e2el": 10.0,
        "p99_e2el": 12.5,
    }
    return {**known, **changed}


def experiment(**changed: Any) -> Tree:
    known = {
        "date": "20260301-101500",
        "model_id": "example/model-120b",
        "tokenizer_id": "example/model-120b",
        "num_prompts": 100,
        "request_rate": "inf",
        "max_concurrency": 10,
        "duration": 20.0,
        "completed": 100,
        "good_completed": None,
        "total_input_tokens": 50_000,
        "total_output_tokens": 10_000,
        "request_throughput": 5.0,
        "input_throughput": 2500.0,
        "output_throughput": 500.0,
        "median_ttft": 0.25,
        "p99_ttft": 1.5,
        "median_e2el": 1.9,
        "median_tpot": 0.0166,
    }
    return {**known, **changed}


def test_a_row_is_in_seconds_and_says_what_ran() -> None:
    read = imported([row()])
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("inferencex", "aggregate", "usable")
    found = values(run)
    expected = {
        "device_type": "h200",
        "engine_name": "vllm",
        "engine_image": "example/engine:v1",
        "precision_weights": "fp4",
        "concurrent_requests": 16,
        "prompt_tokens": 1000,
        "tp": 4,
        "ep": 4,
        "devices": 4,
        "attention_dp": False,
        "output_tokens_per_s_per_device": 200.0,
        "output_tokens_per_s_scope": "device",
        "total_tokens_per_s_per_device": 600.0,
        "ttft_ms.p50": 50,
        "ttft_ms.p90": 80,
        "e2e_ms.p99": 12500,
        "tpot_definition": "(e2e-ttft)/(n-1)",
    }
    assert {name: found[name] for name in expected} == expected
    assert {"completed", "failed", "ttft_ms.p95", "output_tokens_total"} <= set(run.missing)
    assert place(run, "ttft_ms.p50") == Place(pointer="/0/median_ttft", line=1)


@pytest.mark.parametrize("switch", [True, "true", "True"])
def test_a_switch_may_be_text(switch: object) -> None:
    assert values(only_run(row(dp_attention=switch)))["attention_dp"] is True


def test_experts_do_not_multiply_devices_but_stages_do() -> None:
    assert values(only_run(row(ep=8, pp=2)))["devices"] == 8


def test_output_throughput_under_the_name_of_the_total_is_left_out() -> None:
    run = only_run(row(tput_per_gpu=200.0))
    assert "import/basis" in codes(run)
    assert "total_tokens_per_s_per_device" not in values(run)
    assert codes(only_run(row(tput_per_gpu=350.0)), "held") == ["import/contradiction"]


def test_devices_of_both_phases_count_once_unless_disaggregated() -> None:
    pools = {"num_prefill_gpu": 8, "num_decode_gpu": 8, "prefill_tp": 8, "decode_tp": 8, "tp": None, "ep": None}
    together = only_run(row(**pools))
    assert (values(together)["devices"], values(together)["tp"]) == (8, 8)
    assert "import/seen_twice" in codes(together)
    apart = only_run(row(**{**pools, "disagg": True, "decode_num_workers": 2, "num_decode_gpu": 16}))
    assert values(apart)["devices"] == 24
    assert values(apart, "decode-0") == {"tp": 8, "replicas": 2, "devices": 16, "role": "decode"}
    assert "output_tokens_per_s_per_device" not in values(apart)
    assert values(apart)["output_tokens_per_s_per_decode_device"] == 200.0


def test_the_csv_is_in_seconds_below_a_header_that_says_ms() -> None:
    read = imported(f"{LICENCE}{HEADER}\n{ROW}\n")
    (run,) = read.runs
    assert (read.format, read.version) == ("inferencex", "CSV")
    found = values(run)
    assert (found["ttft_ms.p50"], found["e2e_ms.p50"], found["tp"], found["devices"]) == (50, 10_000, 4, 4)
    assert "ttft_ms.p99" in run.missing
    assert "import/header_unit" in codes(run)
    assert place(run, "ttft_ms.p50") == Place(line=4, column="Median TTFT (ms)")


def test_a_csv_that_keeps_its_header_is_in_ms() -> None:
    found = values(only_run(f"{HEADER}\n{ROW.replace(',0.05,', ',50.0,').replace(',10.0,', ',10000.0,')}\n"))
    assert (found["ttft_ms.p50"], found["e2e_ms.p50"]) == (50.0, 10_000.0)


def test_latencies_that_fit_no_unit_wait_for_a_person() -> None:
    assert "import/unit" in codes(only_run(row(median_e2el=500.0)), "held")


def test_a_row_of_other_width_is_refused() -> None:
    read = imported(f"{HEADER}\n{ROW}\n{ROW},more\n")
    assert [run.status for run in read.runs] == ["usable", "refused"]


def test_an_experiment_is_in_seconds() -> None:
    read = imported(experiment())
    (run,) = read.runs
    assert read.format == "inferencex-experiment"
    found = values(run)
    assert (found["ttft_ms.p50"], found["ttft_ms.p99"], found["tpot_ms.p50"]) == (250, 1500, 16.6)
    assert (found["completed"], found["concurrent_requests"]) == (100, 10)
    assert {"ttft_ms.mean", "ttft_ms.p95"} <= set(run.missing)


def test_a_row_of_two_pools_without_their_degrees_is_named() -> None:
    run = only_run(row(disagg=True, tp=8, num_prefill_gpu=8, num_decode_gpu=8))
    assert "import/instances_unknown" in codes(run)
    assert "tp" in run.missing
