"""``vllm bench serve``, old and new: values, places, appended runs, sweeps, runs that prove nothing."""

import json

import pytest

from planner.importers.model import Place
from tests.planner.importers.samples import codes, imported, old_vllm_run, only_run, place, values, vllm_run


def test_a_run_gives_counts_rates_and_latencies() -> None:
    run = only_run(vllm_run())
    assert run.status == "usable"
    assert values(run) == {
        "sent": 20,
        "completed": 20,
        "failed": 0,
        "duration_s": 10.0,
        "input_tokens_total": 2000,
        "output_tokens_total": 1000,
        "output_tokens_per_s": 100.0,
        "total_tokens_per_s": 300.0,
        "completed_per_s": 2.0,
        "local_time": "20260301-101500",
        "concurrent_requests": 4,
        "arrival": "closed",
        "model_name": "example/model-8b",
        "tokenizer_name": "example/model-8b",
        "tool_name": "vllm bench serve",
        "ttft_ms.mean": 80.5,
        "ttft_ms.p50": 70.25,
        "ttft_ms.std": 9.0,
        "ttft_ms.p99": 120.0,
        "ttft_ms.n": 20,
        "tpot_ms.mean": 30.0,
        "tpot_ms.p50": 29.5,
        "tpot_ms.std": 1.0,
        "tpot_ms.p99": 34.0,
        "tpot_definition": "(e2e-ttft)/(n-1)",
        "itl_ms.mean": 30.1,
        "itl_ms.p50": 28.0,
        "itl_ms.std": 5.0,
        "itl_ms.p99": 60.0,
        "itl_definition": "per_chunk",
    }


def test_a_percentile_that_the_file_does_not_hold_is_missing() -> None:
    run = only_run(vllm_run())
    assert [name for name in run.missing if name.startswith("ttft_ms")] == ["ttft_ms.p95"]
    asked = only_run(vllm_run(**{"p95_ttft_ms": 100.0, "p99.9_ttft_ms": 130.0}))
    assert (values(asked)["ttft_ms.p95"], values(asked)["ttft_ms.p99_9"]) == (100.0, 130.0)


def test_a_value_says_where_it_stands_and_what_it_fills() -> None:
    run = only_run(vllm_run())
    value = next(value for value in run.values if value.name == "ttft_ms.p99")
    assert value.place == Place(pointer="/p99_ttft_ms", line=1)
    assert (value.unit, value.raw, value.raw_unit) == ("ms", 120.0, "ms")
    assert (value.document, value.field) == ("evidence", "/trials/<id>/windows/<id>/load/ttft_ms/p99")


def test_a_run_without_a_completed_request_is_no_evidence() -> None:
    zero = {name: 0.0 for name in vllm_run() if name.endswith("_ms")}
    empty = {"total_output_tokens": 0, "output_throughput": 0.0, "request_throughput": 0.0}
    run = only_run(vllm_run(completed=0, failed=20, duration=0.005, **empty, **zero))
    assert run.status == "refused"
    assert codes(run, "refused") == ["import/none_completed"]
    assert not [name for name in values(run) if name.startswith(("ttft", "tpot", "itl")) or name.endswith("_per_s")]
    assert {"ttft_ms.p50", "tpot_ms.mean"} <= set(run.missing)
    assert imported(vllm_run(completed=0)).status == "refused"


def test_an_old_run_does_not_count_failed_requests() -> None:
    read = imported(old_vllm_run(num_prompts=22))
    (run,) = read.runs
    assert (read.format, read.version) == ("vllm-bench-serve", "0.9 or earlier, or a fork")
    assert "failed" not in values(run)
    assert "failed" in run.missing
    (remark,) = [remark for remark in run.remarks if remark.code == "import/failed_unknown"]
    assert remark.sentence == ("this version does not count failed requests; 2 of those sent did not complete")


def test_a_fork_has_instants_of_a_known_zone() -> None:
    fork = old_vllm_run(benchmark_start_time_unix=1781124007.9, benchmark_end_time_unix=1781124017.9)
    read = imported(fork)
    assert read.version == "fork of benchmark_serving"
    assert values(read.runs[0])["started_at"] == "2026-06-10T20:40:07Z"
    assert values(read.runs[0])["ended_at"] == "2026-06-10T20:40:17Z"
    assert "started_at" not in read.runs[0].missing


@pytest.mark.parametrize("between", ["\n", "", "\n\n"])
def test_appended_runs_are_read_one_by_one(between: str) -> None:
    texts = [json.dumps(vllm_run(max_concurrency=number)) for number in (4, 8, 16)]
    read = imported(between.join(texts))
    assert [values(run)["concurrent_requests"] for run in read.runs] == [4, 8, 16]
    assert [run.id for run in read.runs] == ["run-1", "run-2", "run-3"]


def test_runs_written_over_several_lines_say_the_line_they_start_at() -> None:
    text = json.dumps(vllm_run(), indent=2)
    read = imported(f"{text}\n{text}")
    assert [place(run, "completed").line for run in read.runs] == [1, text.count("\n") + 2]


def test_a_file_cut_in_its_second_run_keeps_the_first_and_says_where() -> None:
    text = json.dumps(vllm_run())
    read = imported(f"{text}\n{text[:40]}")
    assert len(read.runs) == 1
    (problem,) = read.problems
    assert (problem.code, problem.line) == ("import/syntax", 2)
    assert read.status == "refused"


def test_the_summary_of_a_sweep_holds_its_runs_with_their_repeat() -> None:
    read = imported([vllm_run(run_number=number, max_num_seqs=8) for number in (0, 1)])
    assert [values(run)["repeat"] for run in read.runs] == [0, 1]
    assert place(read.runs[1], "completed") == Place(pointer="/1/completed", line=1)
    assert codes(read.runs[0]) == ["import/first_repeat", "import/swept"]
    assert codes(read.runs[1]) == ["import/swept"]


def test_a_swept_degree_is_topology() -> None:
    assert values(only_run(vllm_run(run_number=0, tensor_parallel_size=4)))["tp"] == 4


def test_metadata_is_a_hint_even_where_it_is_named_like_a_degree() -> None:
    run = only_run(vllm_run(tensor_parallel_size="4", input_len="1000"))
    assert codes(run) == ["import/metadata", "import/metadata"]
    assert "tp" not in values(run)


def test_a_credential_among_the_metadata_is_not_kept() -> None:
    run = only_run(vllm_run(api_key="sesame", HF_TOKEN="sesame"))
    assert codes(run) == ["import/content_dropped", "import/content_dropped"]
    assert "sesame" not in repr(run)


@pytest.mark.parametrize(
    ("rate", "limit", "arrival"),
    [
        pytest.param(2.5, None, "open", id="a rate"),
        pytest.param(2.5, 8, "open", id="a rate under a ceiling"),
        pytest.param("inf", 8, "closed", id="as fast as the ceiling lets"),
        pytest.param(float("inf"), 8, "closed", id="a bare infinity"),
        pytest.param("inf", None, None, id="all at once"),
    ],
)
def test_the_load_is_open_or_closed(rate: object, limit: object, arrival: str | None) -> None:
    run = only_run(vllm_run(request_rate=rate, max_concurrency=limit))
    assert values(run).get("arrival") == arrival
    assert ("import/all_at_once" in codes(run)) == (arrival is None)


def test_answers_of_the_model_are_not_kept() -> None:
    run = only_run(vllm_run(generated_texts=["my secret answer"], errors=[""], ttfts=[0.1]))
    assert "import/content_dropped" in codes(run)
    assert "my secret answer" not in repr(run)


def test_a_model_that_is_a_path_loses_its_folders() -> None:
    run = only_run(vllm_run(model_id="/home/alice/models/model-8b"))
    assert values(run)["model_name"] == "model-8b"
    assert "alice" not in repr(run)


def test_the_peak_of_a_second_is_not_the_concurrency() -> None:
    assert values(only_run(vllm_run(max_concurrency=2, max_concurrent_requests=6)))["concurrent_requests"] == 2


def test_figures_of_speculation_are_no_metadata() -> None:
    run = only_run(vllm_run(spec_decode_acceptance_length=3.4, spec_decode_acceptance_rate=80.0, run_number=1))
    assert values(run)["acceptance_length_mean"] == 3.4
    assert codes(run) == []


def test_times_of_single_requests_are_not_kept() -> None:
    run = only_run(vllm_run(start_times=[1.0, 2.0], ttfts=[0.1]))
    (remark,) = run.remarks
    assert (remark.code, "start_times, ttfts" in remark.sentence) == ("import/content_dropped", True)
