"""What TensorRT-LLM reads from the YAML file of ``--config``: degrees and cache settings that no argument sets.

Rules kept: names are those of its ``LlmArgs`` (``tests/planner/matrix/arguments.py``); what is not decided is left out.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from planner.layouts.base import Degrees
from planner.matrix.caches import FP8, prefix_cache_off
from planner.records.contract import Contract

__all__ = ["setting_line", "trtllm_settings"]

CP_TYPE = "ULYSSES"
"""What the layout takes where the topology names no kind of context parallelism."""


def trtllm_settings(contract: Contract, degrees: Degrees) -> dict[str, Any]:
    """Return the tree of the file, empty where arguments say all."""
    return dict(_settings(contract, degrees))


def setting_line(name: str, value: Any) -> str:
    """Return one setting as the line of YAML that it is."""
    return yaml.safe_dump({name: value}, sort_keys=False, default_flow_style=None, width=1000).strip()


def _settings(contract: Contract, degrees: Degrees) -> Iterator[tuple[str, Any]]:
    extra = degrees.extra
    if extra.get("enable_attention_dp"):
        yield "enable_attention_dp", True
    if extra.get("enable_lm_head_tp_in_adp"):
        yield "enable_lm_head_tp_in_adp", True
    if "moe_tp" in extra:
        yield "moe_tensor_parallel_size", extra["moe_tp"]
    if degrees.cp > 1:
        yield "cp_config", {"cp_type": extra.get("cp_type") or CP_TYPE}
    if extra.get("orchestrator") == "ray":
        yield "orchestrator_type", "ray"
    cache = dict(_cache(contract))
    if cache:
        yield "kv_cache_config", cache


def _cache(contract: Contract) -> Iterator[tuple[str, Any]]:
    if prefix_cache_off(contract):
        yield "enable_block_reuse", False
    if contract.identity.precision.kv_cache.lower() in FP8:
        yield "dtype", "fp8"
