"""What a field may name of the same contract (its load points, nodes, links), and words that are usual in others.

Choices are what intake knows of: a field that has some takes one of them. Suggestions are only offered.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from planner.contract_builder.labels import matches
from planner.contract_builder.shapes import Path
from planner.gates import GATES
from planner.intake.limit_rules import IMPLIED_DOMAINS
from planner.intake.parts import object_at, value_at
from planner.records.evidence import Load

__all__ = ["choices_at", "device_types", "suggestions_at"]

Tree = Mapping[str, Any]
Names = Callable[[Any], tuple[str, ...]]

_HARDWARE = ("identity", "hardware")
_WORKLOAD = ("identity", "workload")


def choices_at(tree: Tree, path: Path) -> tuple[str, ...]:
    """Return what a field may name; what it holds already is one of it, even if it names nothing."""
    names = _found(_CHOICES, path)
    found = () if names is None else names(tree)
    held = value_at(tree, *path)
    return (*found, held) if found and isinstance(held, str) and held not in found else found


def suggestions_at(tree: Tree, path: Path) -> tuple[str, ...]:
    """Return what is usual in a field, or as an id in a collection."""
    names = _found(_SUGGESTIONS, path)
    return () if names is None else names(tree)


def device_types(tree: Any) -> tuple[str, ...]:
    """Return the types of the contract's devices, once each."""
    devices = object_at(tree, *_HARDWARE, "devices").values()
    types = (value_at(device, "type") for device in devices)
    return tuple(dict.fromkeys(found for found in types if isinstance(found, str)))


def _found(table: tuple[tuple[Path, Names], ...], path: Path) -> Names | None:
    return next((names for pattern, names in table if matches(path, pattern)), None)


def _ids(*path: str) -> Names:
    return lambda tree: tuple(object_at(tree, *path))


def _words(*words: str) -> Names:
    return lambda tree: words


def _link_classes(tree: Any) -> tuple[str, ...]:
    found = (value_at(link, "class") for link in object_at(tree, *_HARDWARE, "links").values())
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str)))


def _domains(tree: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*IMPLIED_DOMAINS, *object_at(tree, "fleet", "failure_domains"))))


@cache
def _metrics() -> tuple[str, ...]:
    read = (metric for gate in GATES for metric in gate.reads if metric.count(".") == 1)
    return tuple(sorted({*read, *(f"load.{field}" for field in Load.__struct_fields__)}))


_LIMIT = ("gates", "*", "*")
_REQUIRED = ("evidence_required", "*")
_CHOICES: tuple[tuple[Path, Names], ...] = (
    ((*_LIMIT, "load_point"), _ids(*_WORKLOAD, "load_points")),
    ((*_REQUIRED, "load_points"), _ids(*_WORKLOAD, "load_points")),
    (("selection", "keys", "*", "load_point"), _ids(*_WORKLOAD, "load_points")),
    ((*_LIMIT, "link_class"), _link_classes),
    ((*_LIMIT, "shape"), _ids(*_WORKLOAD, "request_shapes")),
    ((*_LIMIT, "domain"), _domains),
    ((*_LIMIT, "may_not_cross"), _domains),
    ((*_HARDWARE, "devices", "*", "node"), _ids(*_HARDWARE, "nodes")),
    ((*_HARDWARE, "nics", "*", "node"), _ids(*_HARDWARE, "nodes")),
    ((*_HARDWARE, "links", "*", "nic"), _ids(*_HARDWARE, "nics")),
    ((*_HARDWARE, "islands", "*", "devices"), _ids(*_HARDWARE, "devices")),
    (("fleet", "spare_devices"), _ids(*_HARDWARE, "devices")),
    (("fleet", "failure_domains", "*", "*"), _ids(*_HARDWARE, "nodes")),
)
_SUGGESTIONS: tuple[tuple[Path, Names], ...] = (
    ((*_WORKLOAD, "load_points"), _words("single", "saturated")),
    (("fleet", "failure_domains"), _words("rack")),
    (("fleet", "usd_per_device_hour"), device_types),
    (("fleet", "power_cap_watts"), device_types),
    ((*_HARDWARE, "devices", "*", "type"), device_types),
    ((*_HARDWARE, "links", "*", "class"), _words("inter_node")),
    ((*_REQUIRED, "metric"), lambda tree: _metrics()),
    *(
        (("identity", "precision", name), _words("bf16", "fp16", "fp8", "int8", "mxfp4", "nvfp4"))
        for name in ("weights", "activations", "kv_cache")
    ),
    (("identity", "stack", "engine", "name"), _words("vllm", "sglang", "tensorrt-llm")),
    ((*_LIMIT, "kind"), _words("tp", "pp", "ep", "dp", "cp")),
    ((*_LIMIT, "group_kind"), _words("tp", "pp", "ep", "dp", "cp")),
    ((*_LIMIT, "domain_kind"), _domains),
)
