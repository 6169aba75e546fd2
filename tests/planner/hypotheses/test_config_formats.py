"""Number formats from a quantiser's section: what is stated, what is asked for, bytes that follow."""

from typing import Any

import pytest

from planner.errors import DocumentRefusedError
from planner.hypotheses.config import read_config
from planner.hypotheses.config.figures import config_figures
from planner.hypotheses.config.patterns import globs_of
from tests.planner.hypotheses.configs import DENSE, EXPERTS, asked, file_of, read_one

PLAIN_BYTES = 2
LEFT_ALONE = ["lm_head"]
MATRICES = 4 * (32 * 32 * 2 + 32 * 8 * 2 + 3 * 32 * 96)
"""Elements of the projections of the dense sample: query and output, key and value, feed-forward."""
OTHERS = 2 * 128 * 32 + (4 * 2 + 1) * 32
"""Embedding, head and norms."""


FP8_ROWS = {"num_bits": 8, "type": "float", "strategy": "channel"}
FP8_BLOCKS = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}


def weight_bytes(config: dict[str, Any], **changed: Any) -> int | None:
    figures = config_figures(read_one(config, **changed))
    return next(figure.value for figure in figures if figure.name == "weight_bytes")


@pytest.mark.parametrize(
    ("quantiser", "precision"),
    [
        pytest.param(
            {"quant_method": "fp8", "weight_block_size": [128, 128]},
            {"weights": "fp8", "quantisation_block": 128},
            id="blocks of 128 x 128",
        ),
        pytest.param({"quant_method": "fp8", "weight_block_size": [64, 128]}, {"weights": "fp8"}, id="oblong blocks"),
        pytest.param({"quant_method": "mxfp4"}, {"weights": "mxfp4"}, id="mxfp4, whose block the format implies"),
        pytest.param(
            {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "FP8"},
            {"weights": "nvfp4", "quantisation_block": 16, "kv_cache": "fp8"},
            id="ModelOpt",
        ),
        pytest.param(
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "group_0": {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}}
                },
                "kv_cache_scheme": {"num_bits": 8, "type": "float"},
            },
            {"weights": "int4", "quantisation_block": 32, "kv_cache": "fp8"},
            id="compressed-tensors",
        ),
        pytest.param(
            {"quant_method": "gptq", "bits": 4, "group_size": 64},
            {"weights": "int4", "quantisation_block": 64},
            id="GPTQ",
        ),
        pytest.param(
            {"quant_method": "gptq", "bits": 8, "group_size": -1}, {"weights": "int8"}, id="a scale for each row"
        ),
        pytest.param(
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": FP8_BLOCKS}}},
            {"weights": "fp8", "quantisation_block": 128},
            id="compressed-tensors in blocks",
        ),
        pytest.param(
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": FP8_BLOCKS}, "b": {}}},
            {},
            id="two groups",
        ),
        pytest.param(
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": FP8_ROWS}}},
            {"weights": "fp8"},
            id="compressed-tensors in rows",
        ),
        pytest.param({"quant_method": "of another kind"}, {}, id="unknown method"),
    ],
)
def test_formats_follow_the_quantiser(quantiser: dict[str, Any], precision: dict[str, Any]) -> None:
    found = read_one(DENSE, quantization_config=quantiser)

    assert found.precision == {"activations": "bf16", **precision}
    assert ("/identity/precision/weights" in asked(found)) == ("weights" not in precision)


def test_experts_of_a_type_of_their_own_are_named() -> None:
    found = read_one(EXPERTS, quantization_config={"quant_method": "fp8"}, expert_dtype="fp4")

    assert found.precision["weights"] == "fp8, experts fp4"


def test_bytes_need_the_scale_and_the_modules_left_alone() -> None:
    found = read_one(DENSE, quantization_config={"quant_method": "fp8", "weight_block_size": [16, 16]})
    figures = {figure.name: figure for figure in config_figures(found)}

    assert figures["weight_bytes"].missing == (
        "modules that the quantiser left alone",
        "bytes of a quantisation scale",
    )


def test_bytes_of_a_block_format_count_scales() -> None:
    quantiser = {"quant_method": "mxfp4", "modules_to_not_convert": LEFT_ALONE}

    assert weight_bytes(DENSE) == PLAIN_BYTES * (MATRICES + OTHERS)
    # half a byte an element, one byte for 32 of them; every row of the sample is whole blocks
    assert weight_bytes(DENSE, quantization_config=quantiser) == MATRICES // 2 + MATRICES // 32 + PLAIN_BYTES * OTHERS


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(["model.layers.*.self_attn"], id="glob of a parent"),
        pytest.param([f"model.layers.{layer}.self_attn" for layer in range(4)], id="parents one by one"),
        pytest.param([f"self_attn.{name}_proj" for name in "qkvo"], id="tails"),
        pytest.param(["model.layers.*.self_attn.*"], id="glob of modules"),
        pytest.param([r"re:.*\.self_attn\.(q|k|v|o)_proj$"], id="expression"),
    ],
)
def test_modules_left_alone_keep_the_plain_type(pattern: list[str]) -> None:
    quantiser = {"quant_method": "mxfp4", "modules_to_not_convert": [*LEFT_ALONE, *pattern]}
    attention = 4 * (32 * 32 * 2 + 32 * 8 * 2)
    rest = MATRICES - attention

    assert weight_bytes(DENSE, quantization_config=quantiser) == rest // 2 + rest // 32 + PLAIN_BYTES * (
        OTHERS + attention
    )


def test_an_expression_that_is_not_understood_is_asked_for() -> None:
    quantiser = {"quant_method": "mxfp4", "ignore": ["lm_head", "re:.*self_attn(?!x)"]}

    assert asked(read_one(DENSE, quantization_config=quantiser)) == ["weights (modules that the quantiser left alone)"]


def test_a_quantiser_inside_the_text_part_is_found() -> None:
    inner = {**DENSE, "quantization_config": {"quant_method": "mxfp4"}}
    found = read_config([file_of({"model_type": "outer", "text_config": inner, "vision_config": {"depth": 2}})])

    assert found.precision["weights"] == "mxfp4"
    assert "the vision part is not counted" in found.notices


def test_the_type_of_a_scale_may_be_stated() -> None:
    groups = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}
    groups["scale_dtype"] = "torch.float8_e4m3fn"
    quantiser = {
        "quant_method": "compressed-tensors",
        "ignore": LEFT_ALONE,
        "config_groups": {"a": {"weights": groups}},
    }

    assert weight_bytes(DENSE, quantization_config=quantiser) == MATRICES // 2 + MATRICES // 16 + PLAIN_BYTES * OTHERS


@pytest.mark.parametrize(
    ("pattern", "globs"),
    [
        ("model.layers.*", ("model.layers.*",)),
        ("re:.*self_attn.*", ("*self_attn**",)),
        (r"re:^model\.layers$", ("model.layers",)),
        (r"re:.*mlp\.(gate|up)_proj$", ("*mlp.gate_proj", "*mlp.up_proj")),
        ("re:a.b", None),
        ("re:(a+)+$", None),
        ("re:" + "(a|b)" * 7, None),
        ("re:", ("*",)),
    ],
)
def test_simple_expressions_become_globs(pattern: str, globs: tuple[str, ...] | None) -> None:
    assert globs_of(pattern) == globs


@pytest.mark.parametrize(
    "listed",
    [["a"] * 20_001, ["model.*"] * 1_001, ["a" * 513]],
    ids=["very many modules", "very many with a star", "a very long name"],
)
def test_lists_of_modules_have_an_end(listed: list[str]) -> None:
    with pytest.raises(DocumentRefusedError, match="modules_to_not_convert"):
        read_one(DENSE, quantization_config={"quant_method": "fp8", "modules_to_not_convert": listed})
