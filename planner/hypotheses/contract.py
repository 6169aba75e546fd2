"""The facts of a contract's model and precision sections, as hypotheses need them.

Not handled: small tensors of single families (biases, norms of query and key heads), which a contract does not state;
they are a thousandth of the weights and are left out.
"""

from planner.hypotheses.facts import Shape
from planner.hypotheses.formats import WHOLE_FORMATS, Quantisation, WeightFormat
from planner.records.base import stated
from planner.records.contract import AttentionWidths, Model, Precision

__all__ = ["formats_of_precision", "pointer_of", "shape_of_model"]


def shape_of_model(model: Model) -> Shape:
    """Return the shape that a contract states; fields that it leaves out are not stated."""
    widths = stated(model.attention_widths) or AttentionWidths()
    return Shape(
        layers=model.layers,
        hidden_size=stated(model.hidden_size),
        vocab_size=stated(model.vocab_size),
        tied_embeddings=stated(model.tied_embeddings),
        intermediate_size=stated(model.intermediate_size),
        attention_heads=model.attention_heads,
        kv_heads=model.kv_heads,
        head_dim=stated(model.head_dim),
        latent=model.attention == "mla",
        q_lora_rank=stated(widths.q_lora_rank),
        kv_lora_rank=stated(widths.kv_lora_rank),
        rope_head_dim=stated(widths.rope_head_dim),
        nope_head_dim=stated(widths.nope_head_dim),
        value_head_dim=stated(widths.value_head_dim),
        sliding_window_tokens=stated(widths.sliding_window_tokens),
        sliding_layers=stated(widths.sliding_layers),
        experts=stated(model.experts),
        experts_per_token=stated(model.experts_per_token),
        shared_experts=stated(model.shared_experts),
        expert_intermediate_size=stated(model.expert_intermediate_size),
        dense_layers=stated(model.dense_layers),
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
