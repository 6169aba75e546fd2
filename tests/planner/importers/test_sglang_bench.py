"""SGLang ``bench_serving``: figures, what the server said of itself, and what a router hides."""

import json
from typing import Any

import pytest

from planner.importers.model import Place
from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values


def server(**changed: Any) -> Tree:
    return {
        "model_path": "example/model-3b",
        "host": "192.0.2.7",
        "port": 30000,
        "api_key": None,
        "dtype": "bfloat16",
        "quantization": None,
        "kv_cache_dtype": "fp8_e5m2",
        "tp_size": 4,
        "pp_size": 1,
        "dp_size": 2,
        "ep_size": 4,
        "nnodes": 1,
        "enable_dp_attention": True,
        "disable_radix_cache": True,
        "context_length": 8192,
        "revision": None,
        "version": "0.5.6",
        "max_total_num_tokens": 500_000,
        **changed,
    }


def sglang_run(**changed: Any) -> Tree:
    """50 requests of 200 tokens in and 40 out in 20 s, up to 8 in flight."""
    run = {
        "tag": "nightly",
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": 8,
        "random_input_len": 200,
        "random_output_len": 40,
        "random_range_ratio": 1.0,
        "sharegpt_output_len": None,
        "server_info": server(),
        "duration": 20.0,
        "completed": 50,
        "total_input_tokens": 10_000,
        "total_output_tokens": 2_000,
        "total_output_tokens_retokenized": 1_998,
        "request_throughput": 2.5,
        "input_throughput": 500.0,
        "output_throughput": 100.0,
        "total_throughput": 600.0,
        "mean_e2e_latency_ms": 2_000.0,
        "median_e2e_latency_ms": 1_900.0,
        "std_e2e_latency_ms": 100.0,
        "p99_e2e_latency_ms": 2_600.0,
        "mean_ttft_ms": 50.0,
        "median_ttft_ms": 45.0,
        "p99_ttft_ms": 90.0,
        "mean_tpot_ms": 50.0,
        "median_tpot_ms": 49.0,
        "p99_tpot_ms": 60.0,
        "mean_itl_ms": 49.0,
        "median_itl_ms": 40.0,
        "p95_itl_ms": 55.0,
        "p99_itl_ms": 80.0,
        "concurrency": 7.5,
        "accept_length": None,
    }
    return {**run, **changed}


def test_a_line_gives_figures_and_the_load() -> None:
    run = only_run(sglang_run())
    assert run.status == "usable"
    found = values(run)
    expected = {
        "completed": 50,
        "duration_s": 20.0,
        "output_tokens_total": 2_000,
        "output_tokens_per_s": 100.0,
        "in_flight_mean": 7.5,
        "concurrent_requests": 8,
        "arrival": "closed",
        "prompt_tokens": 200,
        "output_tokens": 40,
        "e2e_ms.p50": 1_900.0,
        "ttft_ms.p99": 90.0,
        "tpot_ms.mean": 50.0,
        "itl_ms.p95": 55.0,
    }
    assert {name: found[name] for name in expected} == expected
    assert {"sent", "failed", "ttft_ms.p95"} <= set(run.missing)


def test_the_server_states_topology_formats_and_capacity() -> None:
    found = values(only_run(sglang_run()))
    expected = {
        "layout": "sglang",
        "tp": 4,
        "pp": 1,
        "dp": 2,
        "ep": 4,
        "attention_dp": True,
        "prefix_cache": False,
        "engine_name": "sglang",
        "engine_version": "0.5.6",
        "precision_weights": "bf16",
        "precision_kv_cache": "fp8_e5m2",
        "kv_capacity_tokens": 500_000,
        "model_name": "example/model-3b",
    }
    assert {name: found[name] for name in expected} == expected


def test_a_format_left_to_the_engine_is_missing() -> None:
    run = only_run(sglang_run(server_info=server(dtype="auto")))
    assert "precision_weights" in run.missing
    assert "import/auto" in codes(run)
    assert (
        values(only_run(sglang_run(server_info=server(dtype="auto", quantization="fp8"))))["precision_weights"] == "fp8"
    )


def test_a_router_tells_of_one_server_of_each_role() -> None:
    info = {"prefill": [server(tp_size=2)], "decode": [server(tp_size=8)], "internal_states": []}
    run = only_run(sglang_run(tag="pd_1p4d", server_info=info))
    assert (values(run, "prefill-0")["tp"], values(run, "decode-0")["tp"]) == (2, 8)
    assert values(run, "decode-0")["role"] == "decode"
    assert "import/instances_unknown" in codes(run)
    assert "How many prefill and decode servers ran, on which nodes?" in [asked.question for asked in run.asked]
    assert place(run, "layout") == Place(pointer="/server_info/prefill/0", line=1)


def test_servers_of_two_versions_wait_for_a_person() -> None:
    info = {"prefill": [server(version="0.5.5")], "decode": [server()]}
    read = imported(sglang_run(server_info=info))
    assert read.version == "0.5.5, 0.5.6"
    assert codes(read.runs[0], "held") == ["import/mixed_versions"]


def test_an_older_line_tells_nothing_of_the_server() -> None:
    run = sglang_run()
    del run["server_info"]
    read = only_run(run)
    assert "import/no_server_info" in codes(read)
    assert {"tp", "engine_version", "model_name"} <= set(read.missing)


def test_keys_and_addresses_of_the_server_are_not_kept() -> None:
    run = only_run(sglang_run(server_info=server(api_key="sesame-open-123")))
    assert "import/content_dropped" in codes(run)
    assert "sesame" not in repr(run)
    assert "192.0.2.7" not in repr(run)


def test_lengths_drawn_from_a_range_are_none_asked_for() -> None:
    run = only_run(sglang_run(random_range_ratio=0.0))
    assert "prompt_tokens" not in values(run)
    assert "import/other_workload" in codes(run)


def test_another_tokenizer_of_the_client_waits_for_a_person() -> None:
    run = only_run(sglang_run(total_output_tokens_retokenized=1_500))
    assert codes(run, "held") == ["import/contradiction"]


@pytest.mark.parametrize("rate", ["Infinity", "4.0"])
def test_lines_are_runs_and_infinity_is_no_rate(rate: str) -> None:
    line = json.dumps(sglang_run()).replace("Infinity", rate)
    read = imported(f"{line}\n\n{line}\n")
    assert [place(run, "completed").line for run in read.runs] == [1, 3]
    assert [values(run).get("offered_requests_per_s") for run in read.runs] == [None if rate == "Infinity" else 4.0] * 2


def test_the_oldest_lines_are_in_milliseconds_that_do_not_say_so() -> None:
    line = {
        "backend": "sglang",
        "dataset_name": "sharegpt",
        "request_rate": 4.0,
        "completed": 20,
        "total_input": 2000,
        "total_output": 1000,
        "total_output_retokenized": 998,
        "mean_e2e_latency": 1600.5,
        "median_e2e_latency": 1500.25,
        "median_ttft": 70.25,
        "median_itl": 28.0,
        "output_token_throughput": 100.0,
        "sharegpt_output_len": None,
        "benchmark_duration": 10.0,
    }
    read = imported(line)
    (run,) = read.runs
    found = values(run)
    assert (read.format, run.status) == ("sglang-bench-serving", "usable")
    assert (found["ttft_ms.p50"], found["e2e_ms.mean"], found["itl_ms.p50"]) == (70.25, 1600.5, 28.0)
    assert (found["output_tokens_total"], found["output_tokens_per_s"], found["duration_s"]) == (1000, 100.0, 10.0)
    assert (found["offered_requests_per_s"], found["arrival"]) == (4.0, "open")
