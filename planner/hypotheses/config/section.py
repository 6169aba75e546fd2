"""A shape as the contract's model section, and what a contract or a figure still needs."""

from dataclasses import fields
from typing import Any

from planner.hypotheses.config.keys import Missing
from planner.hypotheses.facts import Shape
from planner.hypotheses.formats import WeightFormat

__all__ = ["MODEL", "WIDTHS", "asked_for", "model_section"]

MODEL = "/identity/model"
WIDTHS = f"{MODEL}/attention_widths"
ALWAYS_ASKED = {
    f"{MODEL}/name": "name of the model",
    f"{MODEL}/revision": "commit of the weights",
    f"{MODEL}/tokenizer_revision": "commit of the tokenizer (optional)",
    f"{MODEL}/parameters": "all parameters (optional; the index of the weights states them)",
}


def asked_for(shape: Shape, formats: WeightFormat) -> tuple[Missing, ...]:
    """Return what no file stated of a model of this kind."""
    stated = {f"{MODEL}/{name}" for name in model_section(shape)}
    wanted = {**ALWAYS_ASKED, **_wanted(shape)}
    asked = [Missing(field=field, asked=text) for field, text in wanted.items() if field not in stated]
    if shape.traits is None:
        asked.append(Missing(field="weights", asked="bytes of the weights: tensors of this model_type are not known"))
    else:
        asked += [Missing(field=f"weights ({name})", asked="needed for their bytes") for name in formats.missing()]
    return tuple(asked)


def _wanted(shape: Shape) -> dict[str, str]:
    """Return what a contract, or a figure, needs of a model of this kind."""
    wanted = {
        "architecture": "dense or moe",
        "layers": "number of layers",
        "attention_heads": "number of query heads",
        "kv_heads": "number of key-value heads",
        "hidden_size": "width of the residual stream",
        "vocab_size": "entries of the vocabulary",
        "tied_embeddings": "tie_word_embeddings is absent: whether the head is the embedding's table",
    }
    if not shape.latent:
        wanted["head_dim"] = "width of a head"
    if shape.moe:
        wanted |= {
            "experts": "routed experts of a layer",
            "experts_per_token": "experts that a token visits",
            "shared_experts": "experts that every token visits; 0 is a value",
            "expert_intermediate_size": "width of one expert",
        }
    else:
        wanted["intermediate_size"] = "width of the feed-forward layers"
    return {f"{MODEL}/{name}": text for name, text in wanted.items()}


COPIED = (
    *("layers", "hidden_size", "intermediate_size", "attention_heads", "kv_heads", "head_dim", "vocab_size"),
    *("tied_embeddings", "experts", "experts_per_token", "shared_experts", "expert_intermediate_size"),
)


def model_section(shape: Shape) -> dict[str, Any]:
    """Return the contract's model section, as far as it is known."""
    values = {field.name: getattr(shape, field.name) for field in fields(shape)}
    section: dict[str, Any] = {} if shape.layers is None else {"architecture": "moe" if shape.moe else "dense"}
    section |= {name: values[name] for name in COPIED if values[name] is not None}
    if shape.feed_forward is not None and "dense" not in shape.feed_forward:
        section.pop("intermediate_size", None)  # stated, but no layer has it
    if shape.latent:
        section["attention"] = "mla"
    elif shape.kv_heads and shape.attention_heads:
        section["attention"] = "mha" if shape.kv_heads == shape.attention_heads else "gqa"
    leading = _leading_dense(shape)
    if leading is not None:
        section["dense_layers"] = leading
    names = ("q_lora_rank", "kv_lora_rank", "rope_head_dim", "nope_head_dim", "value_head_dim")
    widths = {name: values[name] for name in names if values[name] is not None}
    windows = [cache.window_tokens for cache in shape.caches or () if cache is not None and cache.window_tokens]
    if windows:
        widths |= {"sliding_window_tokens": windows[0], "sliding_layers": len(windows)}
    return section | ({"attention_widths": widths} if widths else {})


def _leading_dense(shape: Shape) -> int | None:
    """Return the leading layers without experts, None where layers without experts stand elsewhere too."""
    if not shape.moe or shape.feed_forward is None:
        return None
    sparse = shape.feed_forward.count("experts")
    leading = len(shape.feed_forward) - sparse
    return leading if "experts" not in shape.feed_forward[:leading] else None
