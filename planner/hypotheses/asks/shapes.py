"""Model shapes of questions: short keys in a question's inputs, or the name of a shape that is known.

A name is looked up among the shapes that the input brought (``models``), then among published ones, re-typed from the
``config.json`` of each model on Hugging Face.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from planner.hypotheses.asks.inputs import DEGREE, LAYERS, WIDTH, Inputs, RefusedAskError
from planner.hypotheses.facts import Shape, Trait
from planner.shown import shown

__all__ = ["PUBLISHED", "Models", "expert_layers", "read_models", "read_shape", "shape_of"]

Models = dict[str, Shape]
KINDS = ("dense", "moe", "moe-mla")
MOST_MODELS = 1000


def read_models(value: Any) -> Models:
    """Read shapes by name.

    Raises:
        RefusedAskError: with every problem of every shape.
    """
    if not isinstance(value, dict) or len(value) > MOST_MODELS:
        message = f"models is an object of at most {MOST_MODELS} shapes; found {shown(value)}"
        raise RefusedAskError([("models", message)])
    found, problems = {}, []
    for name, shape in value.items():
        try:
            inputs = Inputs(shape)
            found[name] = read_shape(inputs)
            inputs.check()
        except RefusedAskError as refused:
            where = f"models.{shown(name, quote=False)}"
            problems += [(f"{where}.{field}", f"{where}: {message}") for field, message in refused.problems]
    if problems:
        raise RefusedAskError(problems)
    return found


def shape_of(inputs: Inputs, models: Models) -> Shape:
    """Return the shape that inputs state (with ``kind``) or name (``model``).

    Raises:
        RefusedAskError: no shape has the name; with every problem found before.
    """
    if "kind" in inputs:
        if "model" in inputs:
            inputs.text("model")
        return read_shape(inputs)
    name = inputs.text("model")
    shapes = {**PUBLISHED, **models}
    if name not in shapes:
        known = ", ".join(sorted(shapes))
        inputs.refuse("model", f"model is one of {known}, or its shape in the inputs; found {shown(name)}")
        inputs.check()
    return shapes[name]


def read_shape(inputs: Inputs) -> Shape:
    """Read a shape in short keys, as formulas name them (L layers, h hidden size, E experts, ...)."""
    kind = inputs.text("kind")
    if kind not in KINDS:
        inputs.refuse("kind", f"kind is one of {', '.join(KINDS)}; found {shown(kind)}")
    moe, latent = kind.startswith("moe"), kind.endswith("mla")
    facts: dict[str, Any] = {
        "layers": inputs.count("L", most=LAYERS),
        "hidden_size": inputs.count("h", most=WIDTH),
        "attention_heads": inputs.count("nh", most=DEGREE),
        "vocab_size": inputs.count("V", most=WIDTH),
        "tied_embeddings": inputs.flag("tie"),
    }
    facts |= _latent(inputs) if latent else _heads(inputs)
    facts |= _experts(inputs, facts["layers"]) if moe else {"intermediate_size": inputs.count("i", most=WIDTH)}
    traits: set[Trait] = set()
    if "qk_norm" in inputs and inputs.flag("qk_norm"):
        traits.add("qk_norm")
    if moe and latent:
        # The router of the DeepSeek family corrects its scores with a bias; plain mixtures have none.
        traits.add("router_bias")
    return Shape(moe=moe, latent=latent, traits=frozenset(traits), **facts)


def _heads(inputs: Inputs) -> dict[str, int]:
    return {"kv_heads": inputs.count("kv", most=DEGREE), "head_dim": inputs.count("d", most=WIDTH)}


def _latent(inputs: Inputs) -> dict[str, int]:
    return {
        "q_lora_rank": inputs.count("q_lora", most=WIDTH, least=0),
        "kv_lora_rank": inputs.count("kv_lora", most=WIDTH),
        "nope_head_dim": inputs.count("nope", most=WIDTH),
        "rope_head_dim": inputs.count("rope", most=WIDTH),
        "value_head_dim": inputs.count("vd", most=WIDTH),
    }


def _experts(inputs: Inputs, layers: int) -> dict[str, int]:
    experts = inputs.count("E", most=DEGREE)
    visited = inputs.count("topk", most=DEGREE)
    dense = inputs.count("dense_layers", most=LAYERS, least=0) if "dense_layers" in inputs else 0
    if visited > experts:
        inputs.refuse("topk", f"topk is at most E ({experts}); found {visited}")
    if dense > layers:
        inputs.refuse("dense_layers", f"dense_layers is at most L ({layers}); found {dense}")
    facts = {
        "expert_intermediate_size": inputs.count("mi", most=WIDTH),
        "experts": experts,
        "experts_per_token": visited,
        "dense_layers": dense,
        "shared_experts": inputs.count("shared", most=DEGREE, least=0) if "shared" in inputs else 0,
    }
    if dense or "i" in inputs:
        facts["intermediate_size"] = inputs.count("i", most=WIDTH)
    return facts


def expert_layers(shape: Shape) -> int:
    """Return how many layers have routed experts."""
    return shape.feed_forwards().count("experts")


_LLAMA_31 = {"kind": "dense", "kv": 8, "d": 128, "V": 128256, "tie": False}
PUBLISHED: Mapping[str, Shape] = MappingProxyType(
    read_models(
        {
            "llama-3.1-8b": {**_LLAMA_31, "L": 32, "h": 4096, "i": 14336, "nh": 32},
            "llama-3.1-70b": {**_LLAMA_31, "L": 80, "h": 8192, "i": 28672, "nh": 64},
            "llama-3.1-405b": {**_LLAMA_31, "L": 126, "h": 16384, "i": 53248, "nh": 128},
            "mixtral-8x7b": {
                "kind": "moe",
                "L": 32,
                "h": 4096,
                "mi": 14336,
                "E": 8,
                "topk": 2,
                "nh": 32,
                "kv": 8,
                "d": 128,
                "V": 32000,
                "tie": False,
            },
            "qwen3-235b-a22b": {
                "kind": "moe",
                "L": 94,
                "h": 4096,
                "mi": 1536,
                "E": 128,
                "topk": 8,
                "nh": 64,
                "kv": 4,
                "d": 128,
                "V": 151936,
                "tie": False,
                "qk_norm": True,
            },
            "deepseek-v3": {
                "kind": "moe-mla",
                "L": 61,
                "dense_layers": 3,
                "h": 7168,
                "i": 18432,
                "mi": 2048,
                "E": 256,
                "shared": 1,
                "topk": 8,
                "nh": 128,
                "q_lora": 1536,
                "kv_lora": 512,
                "nope": 128,
                "rope": 64,
                "vd": 128,
                "V": 129280,
                "tie": False,
            },
        }
    )
)
"""Published shapes of Llama 3.1, Mixtral 8x7B, Qwen3 235B-A22B and DeepSeek-V3."""
