"""GenAI-Perf: JSON, CSV and console, and files that look better than they are."""

import pytest

from planner.importers.model import Place
from tests.planner.importers.perf_samples import genai_export, metric, spread
from tests.planner.importers.samples import codes, imported, only_run, place, values

CSV = """\
Metric,avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1
Time To First Token (ms),400.00,200.00,800.00,700.00,600.00,500.00,450.00,390.00,350.00,300.00,250.00,210.00
Inter Token Latency (ms),40.00,20.00,80.00,70.00,60.00,50.00,45.00,39.00,35.00,30.00,25.00,21.00
Request Latency (ms),"2,400.00","1,200.00","4,800.00","4,200.00","3,600.00","3,000.00",2450.00,2390.00,1,1,1,1

Metric,Value
Output Token Throughput (per sec),200.00
Request Throughput (per sec),4.00
"""
CONSOLE = """\
Here is what came out:
                        LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┓
┃                Statistic ┃      avg ┃      max ┃      p99 ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━┩
│ Time To First Token (ms) │   400.00 │   800.00 │   700.00 │
│     Request Latency (ms) │ 2,400.50 │ 4,800.00 │ 4,200.00 │
│  Output Token Throughput │   200.00 │      N/A │      N/A │
│             (tokens/sec) │          │          │          │
└──────────────────────────┴──────────┴──────────┴──────────┘
"""
MARKDOWN = """\
| Statistic                | avg    | max    | p99    |
|--------------------------|--------|--------|--------|
| Time to first token (ms) | 400.00 | 800.00 | 700.00 |

Output token throughput (per sec): 1,200.25
"""


def test_an_export_gives_figures_and_the_load() -> None:
    read = imported(genai_export())
    (run,) = read.runs
    assert (read.format, run.status) == ("genai-perf", "usable")
    found = values(run)
    expected = {
        "model_name": "example/model-8b",
        "arrival": "closed",
        "concurrent_requests": 10,
        "prompt_tokens": 100,
        "output_tokens": 50,
        "ttft_ms.p95": 600.0,
        "e2e_ms.p99": 4200.0,
        "tpot_ms.mean": 40.0,
        "tpot_definition": "(e2e-ttft)/(n-1)",
        "output_tokens_per_s": 200.0,
        "completed_per_s": 4.0,
    }
    assert {name: found[name] for name in expected} == expected
    assert {"sent", "completed", "failed", "duration_s"} <= set(run.missing)
    assert place(run, "ttft_ms.p95") == Place(pointer="/time_to_first_token/p95", line=1)


def test_the_nested_layout_says_the_same() -> None:
    config = {
        "model_names": ["example/model-8b"],
        "endpoint": {"streaming": True, "type": "chat"},
        "perf_analyzer": {"stimulus": {"concurrency": 10}},
        "input": {"synthetic_tokens": {"mean": 100, "stddev": 5}, "output_tokens": {"mean": 50, "stddev": 0}},
    }
    read = imported(genai_export(input_config=config))
    found = values(read.runs[0])
    assert (read.format, found["model_name"], found["concurrent_requests"]) == ("genai-perf", "example/model-8b", 10)
    assert (found["prompt_tokens_mean"], found["output_tokens"]) == (100, 50)


@pytest.mark.parametrize("config", [{"streaming": False}, {"streaming": None}])
def test_without_streaming_the_first_token_is_missing(config: dict[str, bool | None]) -> None:
    export = genai_export(config, time_to_first_token=spread(2400.0))
    del export["inter_token_latency"]
    run = only_run(export)
    assert "import/not_streaming" in codes(run)
    assert {"ttft_ms.mean", "ttft_ms.p95"} <= set(run.missing)
    assert "e2e_ms.p95" in values(run)


def test_answers_longer_than_asked_for_wait_for_a_person() -> None:
    longer = genai_export(output_sequence_length=spread(250.0, "tokens"))
    assert "import/output_longer" in codes(only_run(longer), "held")


def test_the_unit_of_the_file_counts_and_numbers_may_be_text() -> None:
    old = {"unit": "ns", "avg": "400,000,000", "p99": "700000000.5"}
    found = values(only_run(genai_export(time_to_first_token=old)))
    assert (found["ttft_ms.mean"], found["ttft_ms.p99"]) == (400, 700.0000005)


def test_an_unknown_unit_is_left_out_and_named() -> None:
    run = only_run(genai_export(time_to_first_token=metric("ticks", 5.0)))
    assert "ttft_ms.mean" in run.missing
    assert "import/type" in codes(run)


def test_two_models_wait_for_a_person() -> None:
    assert codes(only_run(genai_export({"model": ["a", "b"]})), "held") == ["import/contradiction"]


def test_the_csv_has_both_of_its_tables() -> None:
    read = imported(CSV)
    (run,) = read.runs
    assert read.format == "genai-perf"
    found = values(run)
    assert (found["ttft_ms.p95"], found["e2e_ms.mean"], found["e2e_ms.p99"]) == (600.0, 2400.0, 4200.0)
    assert (found["output_tokens_per_s"], found["completed_per_s"]) == (200.0, 4.0)
    assert place(run, "ttft_ms.p95") == Place(line=2, column="p95")
    assert place(run, "completed_per_s") == Place(line=8, column="Value")


def test_the_console_is_read_with_its_thousands_and_broken_labels() -> None:
    read = imported(CONSOLE)
    (run,) = read.runs
    found = values(run)
    assert (found["ttft_ms.p99"], found["e2e_ms.mean"], found["output_tokens_per_s"]) == (700.0, 2400.5, 200.0)
    assert place(run, "e2e_ms.mean") == Place(line=7, column="avg")
    assert {"ttft_ms.p95", "ttft_ms.p50"} <= set(run.missing)


def test_a_table_in_markdown_and_a_figure_below_it() -> None:
    found = values(only_run(MARKDOWN))
    assert (found["ttft_ms.mean"], found["output_tokens_per_s"]) == (400.0, 1200.25)
