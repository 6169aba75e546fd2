"""Questions about the bytes of each boundary: tensor, pipeline, and experts."""

import re
from fractions import Fraction

from planner.hypotheses.asks.inputs import DEGREE, LAYERS, SAFE, WIDEST, WIDTH, Inputs
from planner.hypotheses.asks.quantity import Ask, Found, Quantity
from planner.hypotheses.asks.shapes import expert_layers, shape_of
from planner.hypotheses.collectives import bus_factor
from planner.hypotheses.facts import Shape, known
from planner.hypotheses.payloads import distinct_ranks, expert_step_time, reduced_per_forward, token_bytes

BF16, FP8 = Fraction(2), Fraction(1)
WIRE_RANKS = 8
"""Tensor ranks among which the published pipeline figures share a transfer."""

_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,12})?(?:e[0-9]{1,2})?"
STEP_FORMULA = re.compile(
    rf"\((?P<disp_bytes>{_NUMBER})B\+(?P<comb_bytes>{_NUMBER})B\)"
    rf"\*(?P<tokens>[0-9]{{1,15}})\*(?P<copies>[0-9]{{1,9}})\*(?P<hidden>[0-9]{{1,9}})/(?P<bw>{_NUMBER})"
)
TOKEN_FORMULA = re.compile(
    rf"(?P<layers>[0-9]{{1,9}})\*(?P<micro_batches>[0-9]{{1,9}})\*(?:(?P<comm_us>{_NUMBER})us|comm)"
)
"""Numbers that a formula's text spells out, where the inputs do not have them."""


def _hidden(inputs: Inputs, shape: Shape) -> int:
    return inputs.count("h", most=WIDTH) if "h" in inputs else known(shape, "hidden_size")[0]


def _tensor(ask: Ask) -> Found:
    inputs = ask.inputs
    shape = Shape() if "L" in inputs and "h" in inputs else shape_of(inputs, ask.models)
    layers = inputs.count("L", most=LAYERS) if "L" in inputs else known(shape, "layers")[0]
    hidden, tokens = _hidden(inputs, shape), inputs.count("tokens", most=SAFE)
    width, ranks = inputs.number_or("bytes", 2, most=WIDEST), inputs.count("tp", most=DEGREE)
    inputs.check()
    payload, times = token_bytes(tokens, hidden, width), reduced_per_forward(layers)
    sent = bus_factor("allreduce", ranks) * payload
    return Found(
        exact={
            "allreduce_payload": payload,
            "allreduces_per_forward": times,
            "ring_bytes_sent_per_rank_per_allreduce": sent,
            "ring_bytes_sent_per_rank_forward": sent * times,
        },
        unit="B",
        formula="payload tokens * hidden * bytes; 2 all-reduces a layer + 1 for the embedding; a ring sends 2(n-1)/n",
    )


def _pipeline(ask: Ask) -> Found:
    inputs = ask.inputs
    shape = Shape() if "h" in inputs else shape_of(inputs, ask.models)
    hidden, tokens = _hidden(inputs, shape), inputs.count("tokens", most=SAFE)
    width = inputs.number_or("bytes", 2, most=WIDEST)
    ranks = inputs.count_or("tp", WIRE_RANKS, most=DEGREE)
    inputs.check()
    payload = token_bytes(tokens, hidden, width)
    return Found(
        exact={"generic": payload, "vllm": 2 * payload, f"vllm_wire_per_tp_rank_tp{ranks}": 2 * payload / ranks},
        unit="B per boundary per microbatch",
        formula="tokens * hidden * bytes; vLLM sends hidden states and residual, each tensor rank 1/tp of it",
    )


def _experts(ask: Ask) -> Found:
    inputs = ask.inputs
    shape = shape_of(inputs, ask.models)
    experts, ranks = _fact(inputs, shape, "experts", "E"), inputs.count("ep", most=DEGREE)
    visited = _fact(inputs, shape, "experts_per_token", "topk")
    hidden = _hidden(inputs, shape)
    layers = inputs.count("moe_layers", most=LAYERS) if "moe_layers" in inputs else expert_layers(shape)
    if visited > experts:
        inputs.refuse("topk", f"topk is at most the {experts} experts; found {visited}")
    inputs.check()
    distinct = distinct_ranks(experts, ranks, visited)
    remote = distinct * Fraction(ranks - 1, ranks)
    way = token_bytes(visited, hidden, BF16)
    return Found(
        exact={
            "nodedup_dispatch_bf16": way,
            "nodedup_dispatch_fp8": token_bytes(visited, hidden, FP8),
            "nodedup_combine_bf16": way,
            "expected_distinct_ranks": distinct,
            "expected_remote_ranks": remote,
            "dedup_remote_dispatch_bf16": remote * token_bytes(1, hidden, BF16),
            "agrs_dispatch_recv_per_global_token": token_bytes(1, hidden, BF16),
            "fwd_no_dedup_dispatch_plus_combine_bf16": 2 * way * layers,
        },
        unit="B/token/layer",
        formula="topk * hidden * bytes each way; with one copy a rank ep * (1 - C(E - E/ep, topk) / C(E, topk)), "
        "of which (ep-1)/ep are remote; an all-gather brings every token to every rank",
    )


def _fact(inputs: Inputs, shape: Shape, name: str, key: str) -> int:
    if key in inputs:
        return inputs.count(key, most=DEGREE)
    value: int | None = getattr(shape, name)
    if value is None:
        inputs.refuse(key, f"{key} is missing: the model is dense")
    return value or 1


def _step_time(ask: Ask) -> Found:
    inputs = ask.inputs
    inputs.also_stated(_in_text(STEP_FORMULA, ask.formula))
    tokens, copies = inputs.count("tokens", most=SAFE), inputs.count("copies", most=DEGREE)
    hidden, bandwidth = inputs.count("hidden", most=WIDTH), inputs.number("bw")
    widths = [inputs.number(name) for name in ("disp_bytes", "comb_bytes")]
    inputs.check()
    return Found(
        exact=expert_step_time(tokens, copies, hidden, sum(widths, Fraction(0)), bandwidth),
        unit="s",
        formula="(dispatch bytes + combine bytes) * tokens * copies * hidden / bandwidth",
    )


def _token_time(ask: Ask) -> Found:
    inputs = ask.inputs
    inputs.also_stated(_in_text(TOKEN_FORMULA, ask.formula))
    layers, batches = inputs.count("layers", most=LAYERS), inputs.count("micro_batches", most=DEGREE)
    step = ask.step_s if ask.step_s is not None and "comm_us" not in inputs else inputs.number("comm_us") / 10**6
    inputs.check()
    return Found(
        exact=layers * batches * step,
        unit="s",
        formula="layers * micro-batches * time of dispatch and combine of a layer",
        more={"comm_us": step * 10**6},
    )


def _in_text(pattern: re.Pattern[str], formula: str) -> dict[str, int | float]:
    """Return the numbers that a formula's text spells out, by the name of their input."""
    found = pattern.match(formula)
    stated = {} if found is None else {name: text for name, text in found.groupdict().items() if text}
    return {name: int(text) if text.isdigit() else float(text) for name, text in stated.items()}


TENSOR = Quantity(id="tensor_traffic", formulas=r"2 all-reduces per layer", answer=_tensor, prefix="tp_layer_")
PIPELINE = Quantity(id="pipeline_traffic", formulas=r"vLLM: 2 tensors", answer=_pipeline, prefix="pp_p2p_")
EXPERTS = Quantity(id="expert_traffic", formulas=r"no-dedup: ", answer=_experts, prefix="moe_dispatch_")
STEP_TIME = Quantity(id="expert_step_time", formulas=r"\([0-9.]+B\+[0-9.]+B\)\*", answer=_step_time)
TOKEN_TIME = Quantity(id="expert_token_time", formulas=r"[0-9]+\*[0-9]+\*(comm|[0-9.]+us)", answer=_token_time)
