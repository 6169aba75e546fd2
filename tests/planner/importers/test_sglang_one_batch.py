"""SGLang ``bench_one_batch``: throughput of a static batch, never latencies of serving."""

import json
from typing import Any

from tests.planner.importers.samples import Tree, codes, imported, only_run, values


def server_run(**changed: Any) -> Tree:
    """16 requests of 1,000 tokens in and 100 out in 10 s: the last first token after 4 s."""
    run = {
        "run_name": "default",
        "batch_size": 16,
        "input_len": 1000,
        "output_len": 100,
        "latency": 10.0,
        "input_throughput": 4000.0,
        "output_throughput": 266.667,
        "overall_throughput": 1760.0,
        "last_ttft": 4.0,
        "last_gen_throughput": 270.0,
        "acc_length": -1.0,
        "cache_hit_rate": None,
    }
    return {**run, **changed}


OFFLINE = {
    "run_name": "base",
    "batch_size": 4,
    "input_len": 256,
    "output_len": 44,
    "prefill_latency": 0.02,
    "prefill_throughput": 51200.0,
    "median_decode_latency": 0.01,
    "median_decode_throughput": 400.0,
    "total_latency": 0.5,
    "overall_throughput": 2400.0,
}


def test_a_batch_gives_throughput_and_waits_for_a_person() -> None:
    read = imported(server_run())
    (run,) = read.runs
    assert (read.format, read.version) == ("sglang-one-batch", "bench_one_batch_server")
    assert values(run) == {
        "label": "default",
        "max_batch_size": 16,
        "prompt_tokens": 1000,
        "output_tokens": 100,
        "tool_name": "sglang.bench_one_batch",
        "duration_s": 10.0,
        "input_tokens_per_s": 4000.0,
        "output_tokens_per_s": 266.667,
        "total_tokens_per_s": 1760.0,
    }
    assert codes(run, "held") == ["import/micro_benchmark"]
    assert {"ttft_ms.p50", "tpot_ms.p50", "tp"} <= set(run.missing)


def test_the_offline_tool_and_the_old_server_tool_are_told_apart() -> None:
    old = server_run()
    for name in ("input_throughput", "last_ttft"):
        del old[name]
    assert imported(OFFLINE).version == "bench_one_batch"
    assert imported(old).version == "bench_one_batch_server, old"
    assert values(only_run(OFFLINE))["duration_s"] == 0.5


def test_sizes_have_to_give_the_throughput() -> None:
    assert "import/contradiction" in codes(only_run(server_run(overall_throughput=900.0)))


def test_a_batch_that_did_not_run_at_once_is_named() -> None:
    run = only_run(server_run(output_throughput=16_000.0, last_ttft=9.9))
    assert "import/overloaded" in codes(run)


def test_lines_of_the_same_name_and_sizes_are_named() -> None:
    read = imported("\n".join(json.dumps(server_run(latency=latency)) for latency in (10.0, 10.1)))
    assert ["import/repeated_run" in codes(run) for run in read.runs] == [False, True]
