"""The facts of a contract's model and precision sections, as hypotheses need them.

Not handled: small tensors of single families (biases, norms of query and key heads), which a contract does not state;
they are a thousandth of the weights and are left out.
"""

from typing import TypeVar

from msgspec import UnsetType

from planner.hypotheses.facts import Shape
from planner.hypotheses.formats import WHOLE_FORMATS, Quantisation, WeightFormat
from planner.records.contract import AttentionWidths, Model, Precision

__all__ = ["formats_of_precision", "pointer_of", "shape_of_model"]

Value = TypeVar("Value")


def shape_of_model(model: Model) -> Shape:
    """Return the shape that a contract states; fields that it leaves out are not stated."""
    widths = AttentionWidths() if isinstance(model.attention_widths, UnsetType) else model.attention_widths
    return Shape(
        layers=model.layers,
        hidden_size=_stated(model.hidden_size),
        vocab_size=_stated(model.vocab_size),
        tied_embeddings=_stated(model.tied_embeddings),
        intermediate_size=_stated(model.intermediate_size),
        attention_heads=model.attention_heads,
        kv_heads=model.kv_heads,
        head_dim=_stated(model.head_dim),
        latent=model.attention == "mla",
        q_lora_rank=_stated(widths.q_lora_rank),
        kv_lora_rank=_stated(widths.kv_lora_rank),
        rope_head_dim=_stated(widths.rope_head_dim),
        nope_head_dim=_stated(widths.nope_head_dim),
        value_head_dim=_stated(widths.value_head_dim),
        sliding_window_tokens=_stated(widths.sliding_window_tokens),
        sliding_layers=_stated(widths.sliding_layers),
        experts=_stated(model.experts),
        experts_per_token=_stated(model.experts_per_token),
        shared_experts=_stated(model.shared_experts),
        expert_intermediate_size=_stated(model.expert_intermediate_size),
        dense_layers=_stated(model.dense_layers),
        moe=model.architecture == "moe",
    )


def formats_of_precision(precision: Precision) -> WeightFormat:
    """Return the formats of the weights; of a quantised model a contract does not state which parts are left alone."""
    name = precision.weights.strip().lower()
    if name in WHOLE_FORMATS:
        return WeightFormat(plain=name)
    quantisation = Quantisation(format=name, block=None, scale_bytes=None, excluded=None)
    return WeightFormat(plain=None, quantisation=quantisation)


def pointer_of(fact: str) -> str:
    """Return the contract's pointer of a fact; what is no field of the model section stays as it is."""
    if fact in Model.__struct_fields__:
        return f"/identity/model/{fact}"
    if fact in AttentionWidths.__struct_fields__:
        return f"/identity/model/attention_widths/{fact}"
    return fact


def _stated(value: Value | UnsetType) -> Value | None:
    return None if isinstance(value, UnsetType) else value
