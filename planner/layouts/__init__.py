"""The engine layouts, by id."""

from collections.abc import Mapping
from types import MappingProxyType

from planner.layouts import closed, megatron, sglang, trtllm, vllm
from planner.layouts.base import (
    Degrees,
    DivisibilityCheck,
    InstanceGroups,
    Launch,
    Layout,
    LayoutRefusedError,
    Seats,
)
from planner.registry import collect

__all__ = [
    "LAYOUTS",
    "Degrees",
    "DivisibilityCheck",
    "InstanceGroups",
    "Launch",
    "Layout",
    "LayoutRefusedError",
    "Seats",
]

MODULES = (closed, vllm, sglang, megatron, trtllm)

LAYOUTS: Mapping[str, Layout] = MappingProxyType({layout.id: layout for layout in collect(MODULES, Layout)})
