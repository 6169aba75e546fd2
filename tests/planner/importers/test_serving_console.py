"""The console of ``vllm bench serve`` and of SGLang ``bench_serving``."""

from tests.planner.importers.samples import codes, imported, only_run, place, values

ARGUMENTS = "Namespace(backend='vllm', model='/m/org/chat-8b', num_prompts=20, request_rate=inf, max_concurrency=4)"


def line(label: str, value: str) -> str:
    return f"{label + ':':<40} {value}\n"


def vllm_block(**changed: str) -> str:
    """20 requests of 100 tokens in and 50 out in 10 s."""
    rows = {
        "Successful requests": "20",
        "Failed requests": "0",
        "Maximum request concurrency": "4",
        "Benchmark duration (s)": "10.00",
        "Total input tokens": "2000",
        "Total generated tokens": "1000",
        "Request throughput (req/s)": "2.00",
        "Output token throughput (tok/s)": "100.00",
        "Peak output token throughput (tok/s)": "160.00",
        "Peak concurrent requests": "7.00",
        "Total Token throughput (tok/s)": "300.00",
        **changed,
    }
    latencies = "".join(
        f"{title:-^50}\n" + line(f"Mean {name} (ms)", mean) + line(f"P99 {name} (ms)", p99)
        for title, name, mean, p99 in (
            ("Time to First Token", "TTFT", "80.50", "120.00"),
            ("Time per Output Token (excl. 1st token)", "TPOT", "30.00", "34.00"),
            ("Inter-token Latency", "ITL", "30.10", "60.00"),
        )
    )
    return (
        f"{' Serving Benchmark Result ':=^50}\n"
        + "".join(line(label, value) for label, value in rows.items())
        + latencies
        + "=" * 50
        + "\n"
    )


SGLANG = (
    "benchmark_args=Namespace(backend='sglang', model='org/chat', request_rate=5.0, max_concurrency=None)\n"
    f"{' Serving Benchmark Result ':=^50}\n"
    + line("Backend", "sglang")
    + line("Traffic request rate", "5.0")
    + line("Max request concurrency", "not set")
    + line("Successful requests", "20")
    + line("Benchmark duration (s)", "10.00")
    + line("Total input tokens", "2000")
    + line("Total generated tokens", "1000")
    + line("Total generated tokens (retokenized)", "998")
    + line("Request throughput (req/s)", "2.00")
    + line("Input token throughput (tok/s)", "200.00")
    + line("Output token throughput (tok/s)", "100.00")
    + line("Total token throughput (tok/s)", "300.00")
    + line("Concurrency", "3.20")
    + f"{'End-to-End Latency':-^50}\n"
    + line("Mean E2E Latency (ms)", "1,600.00")
    + f"{'Inter-Token Latency':-^50}\n"
    + line("P95 ITL (ms)", "40.00")
    + line("Max ITL (ms)", "90.00")
    + "=" * 50
)


def test_the_console_of_vllm_gives_the_figures_of_its_labels() -> None:
    read = imported(f"{ARGUMENTS}\nStarting initial single prompt test run...\n\x1b[1m{vllm_block()}\x1b[0m")
    (run,) = read.runs
    assert (read.format, run.status) == ("serving-console", "usable")
    assert values(run) == {
        "tool_name": "vllm bench serve",
        "model_name": "chat-8b",
        "sent": 20,
        "completed": 20,
        "failed": 0,
        "duration_s": 10.0,
        "input_tokens_total": 2000,
        "output_tokens_total": 1000,
        "completed_per_s": 2.0,
        "output_tokens_per_s": 100.0,
        "total_tokens_per_s": 300.0,
        "concurrent_requests": 4,
        "arrival": "closed",
        "ttft_ms.mean": 80.5,
        "ttft_ms.p99": 120.0,
        "ttft_ms.n": 20,
        "tpot_ms.mean": 30.0,
        "tpot_ms.p99": 34.0,
        "itl_ms.mean": 30.1,
        "itl_ms.p99": 60.0,
        "tpot_definition": "(e2e-ttft)/(n-1)",
        "itl_definition": "per_chunk",
    }
    assert place(run, "completed").line == 4
    assert "ttft_ms.p95" in run.missing


def test_the_console_of_sglang_is_told_by_its_own_labels() -> None:
    run = only_run(SGLANG)
    found = values(run)
    assert (found["tool_name"], found["model_name"]) == ("sglang.bench_serving", "org/chat")
    assert (found["offered_requests_per_s"], found["arrival"]) == (5.0, "open")
    assert "concurrent_requests" not in found
    assert (found["in_flight_mean"], found["e2e_ms.mean"], found["itl_ms.p95"]) == (3.2, 1600.0, 40.0)
    assert "import/failed_unknown" in codes(run)


def test_every_block_is_a_run_and_a_cut_one_is_named() -> None:
    first, second = imported(vllm_block() + "\nnext\r\n" + vllm_block().replace("=" * 50, "")).runs
    assert codes(first) == []
    assert "import/truncated" in codes(second)
    assert values(second)["completed"] == 20


def test_a_block_in_which_nothing_completed_is_refused() -> None:
    run = only_run(vllm_block(**{"Successful requests": "0", "Failed requests": "20"}))
    assert codes(run, "refused") == ["import/none_completed"]
    assert "ttft_ms.mean" not in values(run)


def test_a_block_without_a_count_of_requests_is_refused() -> None:
    run = only_run(vllm_block().replace("Successful requests", "Successful"))
    assert codes(run, "refused") == ["import/no_result"]


def test_rounded_figures_that_contradict_each_other_are_held() -> None:
    run = only_run(vllm_block(**{"Output token throughput (tok/s)": "900.00"}))
    assert "import/contradiction" in codes(run, "held")


def test_a_block_below_long_bars_of_progress_is_found() -> None:
    bars = "".join(f"\r{done}%|{'#' * 50}| {done}/100" for done in range(1500))
    read = imported(f"Initial test run completed. Starting main benchmark run...\n{bars}\n{vllm_block()}")
    assert (read.format, len(read.runs)) == ("serving-console", 1)
    assert [problem.code for problem in imported("Initial test run completed.\n").problems] == ["import/no_run"]
