"""What keeps a topology's figures from being there: fields that are not stated, and what does not split."""

from typing import Any

import pytest

from planner.hypotheses.expectation import PartName, expectation
from planner.hypotheses.facts import SplitRefusedError
from planner.layouts import LayoutRefusedError
from tests.planner.factories import SATURATED
from tests.planner.hypotheses.samples import DENSE, MOE, expected_of, identity, topology


@pytest.mark.parametrize(
    ("left_out", "part", "fields"),
    [
        pytest.param("hidden_size", "weights", ["hidden_size"], id="hidden size"),
        pytest.param("head_dim", "kv", ["head_dim"], id="head dim"),
        pytest.param("vocab_size", "embedding", ["vocab_size"], id="vocabulary"),
        pytest.param("tied_embeddings", "head", ["tied_embeddings"], id="tied or not"),
        pytest.param("intermediate_size", "activations", ["intermediate_size"], id="width"),
    ],
)
def test_a_field_that_is_not_stated_is_asked_for(left_out: str, part: PartName, fields: list[str]) -> None:
    model = {name: value for name, value in DENSE.items() if name != left_out}
    found = expected_of(model, "vllm", {}).shares[0].parts[part]

    assert found.bytes is None
    assert found.missing == tuple(f"/identity/model/{field}" for field in fields)


def test_all_that_a_figure_needs_is_asked_for_at_once() -> None:
    bare = {name: MOE[name] for name in ("name", "revision", "architecture", "layers", "attention_heads", "kv_heads")}
    found = expected_of({**bare, "experts": 6}, "vllm", {}, context_tokens=None).shares[0].parts

    assert set(found["weights"].missing) == {
        f"/identity/model/{name}"
        for name in ("hidden_size", "head_dim", "dense_layers", "expert_intermediate_size", "shared_experts")
    }
    assert found["kv"].missing == ("/identity/model/head_dim", "/identity/workload/context_tokens")


@pytest.mark.parametrize(
    ("stated", "part", "missing"),
    [
        pytest.param({"kv_cache": "auto"}, "kv", "/identity/precision/kv_cache (one of", id="cache"),
        pytest.param(
            {"activations": "auto"}, "activations", "/identity/precision/activations (one of", id="activations"
        ),
        pytest.param({"weights": "fp8"}, "weights", "modules that the quantiser left alone", id="which weights"),
        pytest.param({"weights": "fp8"}, "embedding", "format of weights that are not quantised", id="the others"),
    ],
)
def test_a_number_format_that_is_not_known_is_asked_for(stated: dict[str, str], part: PartName, missing: str) -> None:
    known = {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"}
    found = expectation(identity(DENSE, {**known, **stated}), topology("vllm", {}), SATURATED)
    parts = found.shares[0].parts[part]

    assert any(name.startswith(missing) for name in parts.missing)


def test_what_does_not_split_is_said_and_the_rest_still_has_figures() -> None:
    found = expected_of({**DENSE, "intermediate_size": 250}, "vllm", {"tp": 4, "world_size": 4}).shares[0].parts

    assert found["weights"].refused == "intermediate_size 250 does not split evenly over 4 ranks"
    assert found["kv"].bytes == 6 * 2 * 16 * 2 * 10 * 4096


@pytest.mark.parametrize(
    ("changed", "part", "words"),
    [
        pytest.param({"layers": 10_001}, "weights", "10001 layers are more than the 10000", id="layers without end"),
        pytest.param({"layers": 10_001}, "kv", "10001 layers are more than the 10000", id="their cache"),
        pytest.param({"dense_layers": 7}, "weights", "7 dense layers are more than the 6 layers", id="dense layers"),
        pytest.param(
            {"attention_widths": {"sliding_layers": 7, "sliding_window_tokens": 1}},
            "kv",
            "7 sliding layers are more than the 6 layers",
            id="sliding layers",
        ),
    ],
)
def test_counts_that_contradict_one_another_are_said(changed: dict[str, Any], part: PartName, words: str) -> None:
    found = expected_of({**MOE, **changed}, "vllm", {}).shares[0].parts[part]

    assert found.bytes is None
    assert found.refused.startswith(words)


def test_experts_without_end_are_refused() -> None:
    with pytest.raises(SplitRefusedError, match="65537 experts are more than"):
        expected_of({**MOE, "experts": 65_537}, "vllm", {})


def test_widths_are_asked_for_where_a_contract_has_them() -> None:
    model = {**DENSE, "attention": "mla", "attention_widths": {"kv_lora_rank": 8}}
    found = expected_of(model, "vllm", {}).shares[0].parts["kv"]

    assert found.missing == ("/identity/model/attention_widths/rope_head_dim",)


def test_the_cache_under_context_parallelism_is_asked_for() -> None:
    found = expected_of(DENSE, "vllm", {"cp": 2, "world_size": 2}).shares[0].parts["kv"]

    assert found.missing == ("placement of the KV cache under context parallelism",)


def test_the_length_of_a_prompt_is_asked_for() -> None:
    found = expected_of(DENSE, "vllm", {}, prompt_tokens={"mean": 10}).shares[0].parts["activations"]

    assert found.missing == ("/identity/workload/prompt_tokens (fixed or max)",)


def test_degrees_that_a_layout_refuses_are_refused() -> None:
    with pytest.raises(LayoutRefusedError):
        expected_of(DENSE, "vllm", {"ep": 2, "world_size": 2})
