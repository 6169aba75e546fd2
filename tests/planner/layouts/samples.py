"""Small models, and groups by definition: ranks that differ in some coordinates only."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from planner.layouts.base import DivisibilityCheck
from planner.records.contract import Model

Coordinates = Callable[[int], tuple[int, ...]]


def model(**more: Any) -> Model:
    """Return a mixture-of-experts model with 64 heads, 8 key-value heads, 61 layers and 256 experts."""
    fields: dict[str, Any] = {
        "name": "sample",
        "revision": "r1",
        "architecture": "moe",
        "attention": "gqa",
        "layers": 61,
        "attention_heads": 64,
        "kv_heads": 8,
        "experts": 256,
        "expert_intermediate_size": 2048,
        "intermediate_size": 8192,
        **more,
    }
    return msgspec.convert({name: value for name, value in fields.items() if value is not None}, Model)


def dense(**more: Any) -> Model:
    """Return the same model without experts."""
    return model(**{"architecture": "dense", "experts": None, "expert_intermediate_size": None, **more})


def by_definition(world: int, shared: Coordinates) -> set[tuple[int, ...]]:
    """Return groups of ranks that have the same ``shared`` coordinates, in order of rank."""
    found: dict[tuple[int, ...], list[int]] = {}
    for rank in range(world):
        found.setdefault(shared(rank), []).append(rank)
    return {tuple(ranks) for ranks in found.values()}


def sets(groups: Mapping[str, Any]) -> dict[str, set[tuple[int, ...]]]:
    """Return groups as sets of groups; the order inside a group stays."""
    return {kind: {tuple(group) for group in found} for kind, found in groups.items()}


def failed(checks: tuple[DivisibilityCheck, ...]) -> dict[str, str]:
    """Return name and sentence of every failed check."""
    return {check.name: check.sentence for check in checks if not check.passed}


def notices(checks: tuple[DivisibilityCheck, ...]) -> dict[str, str]:
    """Return name and notice of every check that has one."""
    return {check.name: check.notice for check in checks if check.notice is not None}
