"""Whatever is asked, and whatever a configuration or a contract holds, the answer is a figure or a refusal."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import DocumentRefusedError, Problem
from planner.hypotheses.asks import QUANTITIES, Answerer
from planner.hypotheses.config import File, read_config
from planner.hypotheses.config.figures import ConfigFigure, config_figures
from planner.hypotheses.expectation import expectation
from planner.hypotheses.facts import MissingFactsError, SplitRefusedError
from planner.layouts import LayoutRefusedError
from planner.strict_json import read
from tests.planner.factories import SATURATED
from tests.planner.hypotheses.configs import DENSE, EXPERTS, LATENT
from tests.planner.hypotheses.samples import DENSE as DENSE_MODEL
from tests.planner.hypotheses.samples import MOE, WORKLOAD, identity, topology

LARGE = 2**53 - 1
NUMBERS = st.one_of(st.integers(1, 64), st.sampled_from([0, -1, 1024, 10_000, 65_536, LARGE]), st.floats(0, 1e6))
VALUES = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.lists(st.one_of(st.integers(0, 5), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.sampled_from(["attention", "weights", "x"]), st.integers(0, 3), max_size=2),
)
SCHEMES = st.dictionaries(
    st.sampled_from(["num_bits", "type", "strategy", "group_size", "block_structure", "scale_dtype"]),
    st.one_of(VALUES, st.sampled_from(["float", "int", "group", "block", "channel", "tensor", 4, 8, [16, 16]])),
)
QUANTISERS = st.fixed_dictionaries(
    {"quant_method": st.sampled_from(["fp8", "mxfp4", "gptq", "compressed-tensors", "modelopt", "x"])},
    optional={
        "quant_algo": st.sampled_from(["FP8", "NVFP4", "MIXED_PRECISION", None, 3]),
        "group_size": VALUES,
        "bits": VALUES,
        "weight_block_size": VALUES,
        "config_groups": st.one_of(VALUES, st.fixed_dictionaries({"a": st.fixed_dictionaries({"weights": SCHEMES})})),
        "kv_cache_scheme": st.one_of(VALUES, SCHEMES),
        "ignore": st.one_of(VALUES, st.lists(st.sampled_from(["lm_head", "re:.*mlp.*", "re:(", "*", "[!a]*", ""]))),
    },
)
INPUTS = (
    *("L", "h", "i", "nh", "kv", "d", "V", "tie", "kind", "mi", "E", "topk", "shared", "dense_layers", "model"),
    *("tp", "pp", "ep", "moe_tp", "experts_per_rank", "bytes", "tokens", "hidden", "kv_lora", "rope", "rps"),
    *("n", "S", "B", "alpha", "beta", "p", "m", "operation", "layers", "micro_batches", "comm_us"),
)
KEYS = (
    *DENSE,
    *LATENT,
    *("layer_types", "sliding_window", "block_configs", "hybrid_override_pattern", "quantization_config", "head_dim"),
    *("text_config", "mlp_only_layers", "decoder_sparse_step", "attention_bias", "weight_block_size", "num_experts"),
)


@given(
    st.sampled_from([quantity.id for quantity in QUANTITIES]),
    st.dictionaries(st.sampled_from(INPUTS), VALUES),
    st.sampled_from([{}, {"model": "mixtral-8x7b"}, {"model": "deepseek-v3"}]),
)
def test_every_question_has_an_answer(quantity: str, inputs: dict[str, Any], model: dict[str, str]) -> None:
    answer = Answerer().answer({"quantity": quantity, "inputs": {**inputs, **model}})

    json.dumps(answer, allow_nan=False)
    assert "value" in answer if answer["valid"] else answer["error"] and answer["constraint"]


@given(
    st.sampled_from([DENSE, EXPERTS, LATENT]),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4),
    st.one_of(st.none(), QUANTISERS),
)
def test_every_configuration_is_read_or_refused(
    config: dict[str, Any], changed: dict[str, Any], quantiser: dict[str, Any] | None
) -> None:
    stated = {} if quantiser is None else {"quantization_config": quantiser}
    raw = json.dumps({**config, **changed, **stated}).encode()
    problems: tuple[Problem, ...]
    figures: tuple[ConfigFigure, ...]
    try:
        found = read_config([File(name="config.json", reading=read(raw))])
    except DocumentRefusedError as refused:
        problems, figures = refused.problems, ()
    else:
        problems, figures = (), config_figures(found)
    assert all(problem.expected and problem.found for problem in problems)
    assert all((figure.value is None) == bool(figure.missing) for figure in figures)
    assert all(figure.value is None or figure.value >= 0 for figure in figures)


@given(
    st.sampled_from([DENSE_MODEL, MOE]),
    st.dictionaries(st.sampled_from(sorted({*DENSE_MODEL, *MOE} - {"name", "revision", "architecture"})), NUMBERS),
    st.sampled_from(["closed", "vllm", "sglang", "megatron", "trtllm"]),
    st.fixed_dictionaries({"tp": st.integers(1, 4), "pp": st.integers(1, 3), "ep": st.integers(1, 4)}),
)
def test_every_contract_has_figures_or_names(
    model: dict[str, Any], changed: dict[str, Any], layout: str, degrees: dict[str, int]
) -> None:
    try:
        asked = identity({**model, **changed}, prompt_tokens={"fixed": 10}, context_tokens=WORKLOAD["context_tokens"])
    except msgspec.ValidationError:
        return  # no contract
    try:
        found = expectation(asked, topology(layout, degrees), SATURATED)
    except (LayoutRefusedError, MissingFactsError, SplitRefusedError):
        return
    figures = [figure for share in found.shares for figure in share.parts.values()]
    figures += [boundary.payload for boundary in found.boundaries]
    assert all((figure.bytes is None) == bool(figure.missing or figure.refused) for figure in figures)
