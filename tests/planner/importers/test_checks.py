"""Figures that contradict each other, and names that contradict figures, wait for a person."""

import pytest

from tests.planner.importers.samples import Tree, codes, only_run, vllm_run


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"output_throughput": 250.0}, id="output rate per device"),
        pytest.param({"request_throughput": 2.1}, id="request rate"),
        pytest.param({"total_token_throughput": 100.0}, id="total without input"),
        pytest.param({"p99_ttft_ms": 60.0}, id="p99 below the median"),
        pytest.param({"mean_e2el_ms": 75.0}, id="whole answer before its first token"),
        pytest.param({"mean_e2el_ms": 15.5}, id="seconds as milliseconds"),
        pytest.param({"failed": 1}, id="more ended than sent"),
        pytest.param({"mean_tpot_ms": 300.0, "p99_tpot_ms": 330.0}, id="faster than its token times allow"),
    ],
)
def test_figures_that_cannot_all_be_true_hold_the_run(changed: Tree) -> None:
    run = only_run(vllm_run(**changed))
    assert run.status == "held"
    assert "import/contradiction" in codes(run, "held")


@pytest.mark.parametrize("changed", [{"median_ttft_ms": 0.07}, {"median_tpot_ms": 0.03}])
def test_latencies_too_small_for_their_unit_hold_the_run(changed: Tree) -> None:
    assert codes(only_run(vllm_run(**changed)), "held") == ["import/unit"]


@pytest.mark.parametrize(
    ("name", "held"),
    [
        pytest.param("model_conc4.json", [], id="the same load"),
        pytest.param("model_conc16.json", ["import/name_contradicts"], id="another load"),
        pytest.param("runs/qwen_tp2/result.json", ["import/name_contradicts"], id="another model in the folder"),
        pytest.param("runs/llama/result.json", [], id="the same model"),
        pytest.param("llama/gptoss_fp4/result.json", ["import/name_contradicts"], id="two models, one of them wrong"),
        pytest.param("http2/config16/step4.json", [], id="words that end alike"),
    ],
)
def test_a_name_that_contradicts_the_content_holds_the_run(name: str, held: list[str]) -> None:
    assert codes(only_run(vllm_run(model_id="meta/Llama-8B"), name), "held") == held


def test_a_degree_that_only_the_name_says_has_to_be_confirmed() -> None:
    run = only_run(vllm_run(), "run_tp8.json")
    assert codes(run) == ["import/name_hint"]
    assert run.status == "usable"
    assert "tp" not in {value.name for value in run.values}


def test_failed_requests_are_named() -> None:
    run = only_run(vllm_run(num_prompts=23, failed=3))
    assert codes(run) == ["import/failed_requests"]
