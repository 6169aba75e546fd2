"""Questions about weights: parameters, active parameters, bytes, and the share of one rank of every stage."""

from fractions import Fraction

from planner.hypotheses.asks.inputs import DEGREE, Inputs
from planner.hypotheses.asks.quantity import GIB, Ask, Found, Quantity, Rounded
from planner.hypotheses.asks.shapes import shape_of
from planner.hypotheses.facts import Shape, known
from planner.hypotheses.formats import Excluded, Quantisation, WeightFormat
from planner.hypotheses.residency import active_parameters, next_token_bytes, parameters, weight_bytes
from planner.hypotheses.tensors import Shares
from planner.layouts.layers import split_before_last

BF16 = WeightFormat(plain="bf16")

DEEPSEEK_FP8 = WeightFormat(
    plain="bf16",
    quantisation=Quantisation(
        format="fp8",
        block=(128, 128),
        scale_bytes=4,
        excluded=Excluded(("lm_head", "mlp.gate", "eh_proj")),
    ),
)
"""DeepSeek-V3 ``README_WEIGHTS.md``: FP8 projections with one FP32 scale for 128 x 128; the rest stays BF16."""


def _parameters(ask: Ask) -> Found:
    shape = _shape(ask)
    (total,) = parameters(shape)
    return Found(exact=total, unit="params", formula="sum of the elements of every tensor, without next-token layers")


def _active(ask: Ask) -> Found:
    return Found(
        exact=active_parameters(_shape(ask)),
        unit="params",
        formula="total - (experts - experts per token) / experts * parameters of routed experts",
    )


def _bytes(ask: Ask) -> Found:
    shape = _shape(ask)
    return Found(exact=weight_bytes(shape, BF16), unit="bytes", formula="2 * parameters (BF16)")


def _fp8_bytes(ask: Ask) -> Found:
    shape = _shape(ask)
    main, further = weight_bytes(shape, DEEPSEEK_FP8), next_token_bytes(shape, DEEPSEEK_FP8)
    return Found(
        exact=main + further,
        unit="bytes",
        formula="FP8 projections 1 B + 4 B per 128x128 block; embedding, head, norms, router BF16; router bias FP32; "
        "one next-token layer with its own embedding and head",
        more={"main": main, "next_token_layer": further},
    )


def _shape(ask: Ask) -> Shape:
    shape = shape_of(ask.inputs, ask.models)
    ask.inputs.check()
    return shape


def _rank(ask: Ask) -> Found:
    inputs = ask.inputs
    tp, pp = inputs.count("tp", most=DEGREE), inputs.count("pp", most=DEGREE)
    moe_tp, ep = inputs.count("moe_tp", most=DEGREE), inputs.count("ep", most=DEGREE)
    shape = shape_of(inputs, ask.models)
    held = _experts_held(inputs, shape, ep)
    (layers,) = known(shape, "layers")
    if pp > layers:
        inputs.refuse("pp", f"pp is at most the {layers} layers; found {pp}")
    inputs.check()
    # Expert parallelism over tensor and data ranks: vLLM then splits tokens, not the shared expert, over tensor ranks.
    sequence_parallel = ep > 1 and tp > 1 and ep // tp > 1
    shares = Shares(
        attention=tp,
        dense=tp,
        shared=1 if sequence_parallel else tp,
        expert_width=moe_tp,
        vocabulary=tp,
        experts_held=held,
    )
    stages = parameters(shape, shares, split_before_last(layers, pp))
    return Found(
        exact={
            "params_by_stage": list(stages),
            "bf16_bytes_by_stage": [2 * count for count in stages],
            "bf16_GiB_by_stage": [Rounded(Fraction(2 * count, GIB)) for count in stages],
        },
        unit="params/bytes",
        formula="tensors of one rank of every stage by vLLM's sharding rules; 2 bytes each",
        more={"sequence_parallel_experts": int(sequence_parallel)} if shape.moe else {},
    )


def _experts_held(inputs: Inputs, shape: Shape, ep: int) -> int | None:
    if not shape.moe:
        if "experts_per_rank" in inputs:
            inputs.count("experts_per_rank", most=0, least=0)
        return None
    (experts,) = known(shape, "experts")
    if "experts_per_rank" in inputs:
        return inputs.count("experts_per_rank", most=experts)
    if experts % ep:
        inputs.refuse("experts_per_rank", f"experts_per_rank is missing, and {experts} experts do not split over {ep}")
    return experts // ep


WEIGHT_BYTES = Quantity(id="weight_bytes", formulas=r"2 ?\* ?params", answer=_bytes)
PARAMETERS = Quantity(id="parameters", formulas=r"sum\b", answer=_parameters)
ACTIVE_PARAMETERS = Quantity(id="active_parameters", formulas=r"total ?- ?", answer=_active)
FP8_BYTES = Quantity(id="deepseek_fp8_bytes", formulas=r"FP8 linears", answer=_fp8_bytes)
RANK_PARAMETERS = Quantity(id="rank_parameters", formulas=r"per-rank params", answer=_rank, prefix="wrank_")
