"""Models whose shape is known here, for people who have no ``config.json`` at hand.

Every figure is re-typed from the model's published ``config.json``, as the repository named in ``SOURCE`` keeps a copy
of it at the commit named there; nothing is derived. The commit of the weights is no part of such a file, so a revision
is asked for and never filled in. Models with layers that the contract's model section cannot state (recurrent layers,
a cache that is compressed) are left out rather than simplified.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["KNOWN_MODELS", "SOURCE", "KnownModel"]

SOURCE = (
    "the copy of its config.json in github.com/ai-dynamo/aiconfigurator at 095f58a51c4ca8e61b66ec108d86f223f8d559ce"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model by the name it is published under; ``notes`` say what the figures leave out."""

    name: str
    model: Mapping[str, Any]
    precision: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where the figures were read."""
        return f"{self.name}: {SOURCE}"

    @property
    def fragment(self) -> dict[str, Any]:
        """The members of a contract that are known."""
        return {"identity": {"model": {"name": self.name, **self.model}, "precision": dict(self.precision)}}


_NEXT_LAYERS = "next-token layers of the checkpoint are not counted"
_BF16: Mapping[str, Any] = MappingProxyType({"weights": "bf16", "activations": "bf16"})
_FP8: Mapping[str, Any] = MappingProxyType({"weights": "fp8", "activations": "bf16", "quantisation_block": 128})


def _dense(**shape: Any) -> Mapping[str, Any]:
    return MappingProxyType({"architecture": "dense", "attention": "gqa", **shape})


def _moe(**shape: Any) -> Mapping[str, Any]:
    return MappingProxyType({"architecture": "moe", **shape})


KNOWN_MODELS: tuple[KnownModel, ...] = (
    KnownModel(
        name="Qwen/Qwen3-32B",
        model=_dense(
            layers=64,
            hidden_size=5120,
            intermediate_size=25600,
            attention_heads=64,
            kv_heads=8,
            head_dim=128,
            vocab_size=151936,
            tied_embeddings=False,
        ),
        precision=_BF16,
    ),
    KnownModel(
        name="meta-llama/Meta-Llama-3.1-405B",
        model=_dense(
            layers=126,
            hidden_size=16384,
            intermediate_size=53248,
            attention_heads=128,
            kv_heads=8,
            head_dim=128,
            vocab_size=128256,
            tied_embeddings=False,
        ),
        precision=_BF16,
    ),
    KnownModel(
        name="mistralai/Mixtral-8x7B-v0.1",
        model=_moe(
            layers=32,
            hidden_size=4096,
            attention="gqa",
            attention_heads=32,
            kv_heads=8,
            head_dim=128,
            vocab_size=32000,
            tied_embeddings=False,
            dense_layers=0,
            experts=8,
            experts_per_token=2,
            shared_experts=0,
            expert_intermediate_size=14336,
        ),
        precision=_BF16,
    ),
    KnownModel(
        name="Qwen/Qwen3-235B-A22B-FP8",
        model=_moe(
            layers=94,
            hidden_size=4096,
            attention="gqa",
            attention_heads=64,
            kv_heads=4,
            head_dim=128,
            vocab_size=151936,
            tied_embeddings=False,
            dense_layers=0,
            experts=128,
            experts_per_token=8,
            shared_experts=0,
            expert_intermediate_size=1536,
        ),
        precision=_FP8,
    ),
    KnownModel(
        name="openai/gpt-oss-120b",
        model=_moe(
            layers=36,
            hidden_size=2880,
            attention="gqa",
            attention_widths={"sliding_window_tokens": 128, "sliding_layers": 18},
            attention_heads=64,
            kv_heads=8,
            head_dim=64,
            vocab_size=201088,
            tied_embeddings=False,
            dense_layers=0,
            experts=128,
            experts_per_token=4,
            shared_experts=0,
            expert_intermediate_size=2880,
        ),
        precision=MappingProxyType({"weights": "mxfp4"}),
    ),
    KnownModel(
        name="deepseek-ai/DeepSeek-V3",
        model=_moe(
            layers=61,
            hidden_size=7168,
            intermediate_size=18432,
            attention="mla",
            attention_widths={
                "q_lora_rank": 1536,
                "kv_lora_rank": 512,
                "rope_head_dim": 64,
                "nope_head_dim": 128,
                "value_head_dim": 128,
            },
            attention_heads=128,
            kv_heads=128,
            vocab_size=129280,
            tied_embeddings=False,
            dense_layers=3,
            experts=256,
            experts_per_token=8,
            shared_experts=1,
            expert_intermediate_size=2048,
        ),
        precision=_FP8,
        notes=(_NEXT_LAYERS,),
    ),
    KnownModel(
        name="zai-org/GLM-5",
        model=_moe(
            layers=78,
            hidden_size=6144,
            intermediate_size=12288,
            attention="mla",
            attention_widths={
                "q_lora_rank": 2048,
                "kv_lora_rank": 512,
                "rope_head_dim": 64,
                "nope_head_dim": 192,
                "value_head_dim": 256,
            },
            attention_heads=64,
            kv_heads=64,
            vocab_size=154880,
            tied_embeddings=False,
            dense_layers=3,
            experts=256,
            experts_per_token=8,
            shared_experts=1,
            expert_intermediate_size=2048,
        ),
        precision=_BF16,
        notes=(_NEXT_LAYERS, "the indexer of sparse attention and its cache are not counted"),
    ),
)
"""A modest list: what is published with figures that were checked, dense before mixtures of experts, by size."""
