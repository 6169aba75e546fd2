"""Which fields bear on the rest: experts only of a model that has some, a rate only where requests arrive by a clock.

A rule names the field that decides and the values for which others are asked. What the document holds already is
always shown, or it could not be taken out.
"""

from collections.abc import Mapping
from typing import Any

from planner.contract_builder.labels import matches
from planner.contract_builder.shapes import Path
from planner.intake.parts import value_at

__all__ = ["DECIDING", "is_relevant"]

_MODEL = ("identity", "model")
_WIDTHS = (*_MODEL, "attention_widths")
_POINT = ("identity", "workload", "load_points", "*")
_MOE = ("dense_layers", "experts", "experts_per_token", "shared_experts", "expert_intermediate_size")
_LATENT = ("q_lora_rank", "kv_lora_rank", "rope_head_dim", "nope_head_dim", "value_head_dim")

_RULES: tuple[tuple[Path, Path, str], ...] = (
    *(((*_MODEL, name), (*_MODEL, "architecture"), "moe") for name in _MOE),
    *(((*_WIDTHS, name), (*_MODEL, "attention"), "mla") for name in _LATENT),
    ((*_POINT, "concurrent_requests"), (*_POINT, "arrival"), "closed"),
    ((*_POINT, "requests_per_s"), (*_POINT, "arrival"), "open"),
    ((*_POINT, "burstiness"), (*_POINT, "arrival"), "open"),
    (("selection", "keys"), ("selection", "preset"), ""),
    (("selection", "preset"), ("selection", "keys"), ""),
)
"""(field, field that decides, its value), "" for a field that is empty; ``*`` is the same id in both."""

DECIDING = frozenset({"architecture", "attention", "arrival", "preset"})
"""Names of fields whose choice shows or hides others."""


def is_relevant(tree: Mapping[str, Any], path: Path) -> bool:
    """Say whether a field is asked for, by what the tree says so far."""
    if value_at(tree, *path) is not None:
        return True
    for field, decider, wanted in _RULES:
        if matches(path, field):
            where = tuple(path[place] if step == "*" else step for place, step in enumerate(decider))
            return (value_at(tree, *where) or "") == wanted
    return True
