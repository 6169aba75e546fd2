"""``/metrics`` of an SGLang server: ranks that say the same, streams that are added, scrapes that make a window."""

from tests.planner.importers.exporter_samples import sglang
from tests.planner.importers.samples import codes, imported, only_run, values


def test_one_scrape_counts_since_the_start_and_waits_for_a_person() -> None:
    read = imported(sglang())
    (run,) = read.runs
    assert (read.format, run.status) == ("sglang-metrics", "held")
    assert "import/since_start" in codes(run)
    assert values(run) == {
        "engine_name": "sglang",
        "model_name": "org/chat",
        "tp": 2,
        "kv_capacity_tokens": 367_404,
        "running_requests": 64,
        "waiting_requests": 6,
        "kv_used_share": 0.25,
        "input_tokens_total": 3000,
        "output_tokens_total": 1500,
        "completed": 30,
        "cancelled": 1,
        "ttft_ms.n": 40,
        "ttft_ms.mean": 150.0,
        "ttft_ms.p50": 250.0,
        "ttft_ms.p90": 250.0,
        "ttft_ms.p95": 250.0,
        "ttft_ms.p99": 500.0,
        "quantile_method": "histogram_upper",
    }
    assert {value.name: value.standing for value in run.values}["tp"] == "hint"


def test_two_scrapes_make_a_window_with_the_largest_queue() -> None:
    run = only_run(sglang(30, usage=0.25) + sglang(70, usage=0.75, waiting=2))
    found = values(run)
    assert (found["completed"], found["output_tokens_total"]) == (40, 2000)
    assert (found["kv_used_peak_share"], found["queued_requests_max"]) == (0.75, 6)
    assert "ttft_ms.p95" not in found


def test_every_data_parallel_rank_stands_apart() -> None:
    run = only_run(sglang(dp=2))
    for engine in ("engine-0", "engine-1"):
        assert values(run, engine)["kv_capacity_tokens"] == 367_404
        assert values(run, engine)["completed"] == 30


def test_a_counter_that_ran_backwards_is_no_window() -> None:
    run = only_run(sglang(70) + sglang(30))
    assert (run.status, "import/counter_reset" in codes(run)) == ("refused", True)


def test_an_idle_server_says_so() -> None:
    idle = "sglang:num_running_reqs 0.0\nsglang:token_usage 0.0\nsglang:generation_tokens_total 0.0\n"
    run = only_run(idle)
    assert (run.status, "import/idle" in codes(run)) == ("usable", True)
