"""Shapes from ``config.json``: which keys give what, what is asked for, what is refused."""

import json
from typing import Any

import pytest

from planner.errors import DocumentRefusedError
from planner.hypotheses.config import File, read_config
from planner.hypotheses.facts import Cache
from planner.strict_json import read
from tests.planner.hypotheses.configs import DENSE, EXPERTS, LATENT, PLAIN_ASKED, asked, file_of, read_one


def test_a_dense_model_is_read_as_the_contracts_section() -> None:
    found = read_one(DENSE)

    assert found.model == {
        "architecture": "dense",
        "layers": 4,
        "hidden_size": 32,
        "intermediate_size": 96,
        "attention_heads": 8,
        "kv_heads": 2,
        "head_dim": 4,
        "vocab_size": 128,
        "tied_embeddings": False,
        "attention": "gqa",
    }
    assert found.precision == {"weights": "bf16", "activations": "bf16"}
    assert asked(found) == []


def test_a_mixture_and_a_latent_model_are_read() -> None:
    mixture, latent = read_one(EXPERTS), read_one(LATENT)

    assert mixture.model["architecture"] == "moe"
    assert "intermediate_size" not in mixture.model
    assert (mixture.model["experts"], mixture.model["shared_experts"], mixture.model["dense_layers"]) == (16, 0, 0)
    assert (latent.model["attention"], latent.model["dense_layers"], latent.model["shared_experts"]) == ("mla", 1, 1)
    assert latent.model["attention_widths"] == {
        "q_lora_rank": 16,
        "kv_lora_rank": 12,
        "rope_head_dim": 4,
        "nope_head_dim": 6,
        "value_head_dim": 5,
    }
    assert "head_dim" not in latent.model
    assert asked(mixture) == asked(latent) == []


def test_every_value_says_which_key_gave_it() -> None:
    found = read_config([file_of({"model_type": "x", "text_config": EXPERTS, "num_hidden_layers": 9})])
    sources = {source.field.removeprefix("/identity/"): source for source in found.sources}

    assert found.model["layers"] == 4
    assert sources["model/layers"].pointers == ("/text_config/num_hidden_layers",)
    assert sources["model/head_dim"].pointers == ("/text_config/hidden_size", "/text_config/num_attention_heads")
    assert sources["model/head_dim"].rule == "head_dim is absent: hidden size / heads"
    assert sources["model/shared_experts"].rule == "models of this type have none"
    assert {source.file for source in found.sources} == {"config.json"}


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        pytest.param({"head_dim": 16}, "head_dim", 16, id="head dim stated"),
        pytest.param({"num_key_value_heads": None}, "kv_heads", 8, id="no key-value heads: as many as heads"),
        pytest.param({"num_key_value_heads": 8}, "attention", "mha", id="all heads have keys of their own"),
        pytest.param({"num_key_value_heads": 1}, "attention", "gqa", id="one head has all keys"),
    ],
)
def test_heads_follow_their_keys(changed: dict[str, Any], field: str, value: object) -> None:
    assert read_one(DENSE, **changed).model[field] == value


@pytest.mark.parametrize(
    ("config", "changed", "fields"),
    [
        pytest.param(DENSE, {"tie_word_embeddings": None}, ["/identity/model/tied_embeddings"], id="tied or not"),
        pytest.param(DENSE, {"vocab_size": None}, ["/identity/model/vocab_size"], id="vocabulary"),
        pytest.param(DENSE, {"model_type": "new"}, ["weights"], id="tensors of another family"),
        pytest.param(DENSE, {"sliding_window": 8}, ["layer_types"], id="a window, for which layers"),
        pytest.param(DENSE, {"attention_chunk_size": 8}, ["KV cache (attention_chunk_size)"], id="chunks"),
        pytest.param(EXPERTS, {"decoder_sparse_step": None}, ["/identity/model/dense_layers"], id="which have experts"),
        pytest.param(LATENT, {"n_shared_experts": None}, ["/identity/model/shared_experts"], id="shared experts"),
        pytest.param(
            DENSE,
            {"torch_dtype": None},
            [PLAIN_ASKED, "/identity/precision/weights", "/identity/precision/activations"],
            id="number format",
        ),
        pytest.param(DENSE, {"layer_types": ["sliding_attention"] * 4}, ["sliding_window"], id="reach of a window"),
        pytest.param(
            DENSE,
            {"layer_types": ["odd_attention"] * 4},
            ["layer_types"],
            id="layers of an unknown kind",
        ),
    ],
)
def test_what_is_not_stated_is_asked_for(config: dict[str, Any], changed: dict[str, Any], fields: list[str]) -> None:
    assert asked(read_one(config, **changed)) == fields


@pytest.mark.parametrize(
    ("changed", "pointer", "found"),
    [
        pytest.param({"num_hidden_layers": 0}, "/num_hidden_layers", "0", id="none"),
        pytest.param({"num_hidden_layers": 10_001}, "/num_hidden_layers", "10001", id="far too many"),
        pytest.param({"hidden_size": "32"}, "/hidden_size", '"32"', id="text for a number"),
        pytest.param({"hidden_size": 32.5}, "/hidden_size", "32.5", id="part of a number"),
        pytest.param({"tie_word_embeddings": 0}, "/tie_word_embeddings", "0", id="number for a switch"),
        pytest.param({"layer_types": ["full_attention"]}, "/layer_types", "1", id="one entry for four layers"),
        pytest.param({"layer_types": "full_attention"}, "/layer_types", '"full_attention"', id="text for an array"),
        pytest.param({"layer_types": [1, 2, 3, 4]}, "/layer_types", "1", id="numbers for texts"),
        pytest.param({"mlp_layer_types": ["odd"] * 4, "num_experts": 2}, "/mlp_layer_types", "4", id="an odd layer"),
        pytest.param({"hybrid_override_pattern": "*" * 10_001}, "/hybrid_override_pattern", "10001", id="no end"),
        pytest.param(
            {"num_experts": 2, "num_experts_per_tok": 3}, "/num_experts_per_tok", "3", id="more visits than experts"
        ),
        pytest.param(
            {"block_configs": [{"attention": {"n_heads_in_group": 3}}, *[{"attention": {"no_op": True}}] * 3]},
            "/block_configs/0/attention/n_heads_in_group",
            "3",
            id="a group that does not divide the heads",
        ),
        pytest.param({"hybrid_override_pattern": "M*M?"}, "/hybrid_override_pattern", '"?"', id="unknown letter"),
        pytest.param({"hybrid_override_pattern": "M*"}, "/hybrid_override_pattern", "2", id="letters for two layers"),
        pytest.param(
            {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 0]}},
            "/quantization_config/weight_block_size",
            "an array",
            id="block of no columns",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_its_pointer(changed: dict[str, Any], pointer: str, found: str) -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        read_one(DENSE, **changed)

    assert [(problem.pointer, problem.found) for problem in refused.value.problems] == [(pointer, found)]


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        read_one(DENSE, num_attention_heads=-1, vocab_size=True, hidden_size=[])

    assert {problem.pointer for problem in refused.value.problems} == {
        "/num_attention_heads",
        "/vocab_size",
        "/hidden_size",
    }


def test_what_is_no_json_is_refused_only_where_it_is_read() -> None:
    unread = json.dumps({**DENSE, "limit": [0, float("inf")]}).encode()
    wanted = json.dumps({**DENSE, "vocab_size": float("nan")}).encode()

    found = read_config([File(name="c", reading=read(unread))])
    with pytest.raises(DocumentRefusedError) as refused:
        read_config([File(name="c", reading=read(wanted))])

    assert "/limit/1 is not read: expected a number that JSON has, found Infinity" in found.notices
    assert "json/constant" in {problem.code for problem in refused.value.problems}


def test_an_array_is_no_configuration() -> None:
    with pytest.raises(DocumentRefusedError, match="document/type"):
        read_config([file_of([])])


def test_layers_with_a_window_cache_less() -> None:
    types = ["sliding_attention", "full_attention", "linear_attention", "sliding_attention"]
    found = read_one(DENSE, layer_types=types, sliding_window=64)
    short = Cache(elements=8, kv_heads=2, window_tokens=64)

    assert found.shape.caches == (short, Cache(elements=8, kv_heads=2), None, short)
    assert found.model["attention_widths"] == {"sliding_window_tokens": 64, "sliding_layers": 2}


@pytest.mark.parametrize(
    ("changed", "sliding"),
    [
        pytest.param({"model_type": "mistral", "sliding_window": 64}, 4, id="all layers"),
        pytest.param({"model_type": "mistral", "sliding_window": 64, "use_sliding_window": False}, 0, id="off"),
    ],
)
def test_a_window_holds_where_the_type_says_so(changed: dict[str, Any], sliding: int) -> None:
    caches = read_one(DENSE, **changed).shape.caches or ()

    assert [cache.window_tokens for cache in caches if cache].count(64) == sliding


def test_layers_without_attention_cache_nothing() -> None:
    pattern = read_one(DENSE, hybrid_override_pattern="M*E-", head_dim=4)
    blocks = [{"attention": {"n_heads_in_group": 4}}, {"attention": {"no_op": True, "n_heads_in_group": None}}] * 2
    blocked = read_one(DENSE, block_configs=blocks, num_key_value_heads=None)
    full = Cache(elements=8, kv_heads=2)

    assert pattern.shape.caches == (None, full, None, None)
    assert pattern.shape.feed_forward == ("none", "none", "experts", "dense")
    assert blocked.shape.caches == (full, None, full, None)
    assert blocked.model["kv_heads"] == 2


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        pytest.param({"mlp_only_layers": [2]}, "eede", id="dense layer in the middle"),
        pytest.param({"decoder_sparse_step": 2}, "dede", id="every second"),
        pytest.param({"decoder_sparse_step": None, "interleave_moe_layer_step": 4}, "ddde", id="every fourth"),
        pytest.param({"mlp_layer_types": ["dense", "sparse", "sparse", "dense"]}, "deed", id="listed"),
        pytest.param({"decoder_sparse_step": None, "first_k_dense_replace": 3}, "ddde", id="from the fourth"),
    ],
)
def test_layers_with_experts_are_told_apart(changed: dict[str, Any], kinds: str) -> None:
    found = read_one(EXPERTS, **changed).shape.feed_forward or ()

    assert "".join(kind[0] for kind in found) == kinds
