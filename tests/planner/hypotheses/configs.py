"""Small ``config.json`` of our own, one for each way in which published ones differ, and how they are read."""

import json
from typing import Any

from planner.hypotheses.config import ConfigModel, File, read_config
from planner.strict_json import read

DENSE: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 32,
    "intermediate_size": 96,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 128,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
EXPERTS: dict[str, Any] = {
    **DENSE,
    "model_type": "qwen3_moe",
    "num_experts": 16,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
LATENT: dict[str, Any] = {
    **DENSE,
    "model_type": "deepseek_v3",
    "num_key_value_heads": 8,
    "q_lora_rank": 16,
    "kv_lora_rank": 12,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 6,
    "v_head_dim": 5,
    "n_routed_experts": 16,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "first_k_dense_replace": 1,
}


PLAIN_ASKED = "weights (format of weights that are not quantised (torch_dtype))"


def file_of(config: object, name: str = "config.json") -> File:
    """Return a file with the value as its JSON."""
    return File(name=name, reading=read(json.dumps(config).encode()))


def read_one(config: dict[str, Any], **changed: Any) -> ConfigModel:
    """Read a configuration with keys changed; a key that is None here is ``null`` in the file."""
    return read_config([file_of({**config, **changed})])


def asked(found: ConfigModel) -> list[str]:
    """Return the fields that are asked for beyond those that no configuration states."""
    always = {"name", "revision", "tokenizer_revision", "parameters"}
    fields = [part.field for part in found.missing if part.field != "/identity/precision/kv_cache"]
    return [field for field in fields if field.rpartition("/")[2] not in always]
