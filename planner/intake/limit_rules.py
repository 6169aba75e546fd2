"""What joins limits with the rest of a contract: the registry types each, and some need other sections.

A need is refused here only where ``fields.md`` of the specification says that the field is needed once the limit is
declared; whether evidence answers a limit is the gate's business.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import chain
from typing import Any

import msgspec

from planner.errors import Problem
from planner.gates import GATES
from planner.gates.base import WHOLE_TRIAL, Limit
from planner.intake.parts import missing, object_at, objects_at, referenced, value_at
from planner.intake.shape import shape_problems
from planner.pointers import child
from planner.shown import shown

__all__ = ["IMPLIED_DOMAINS", "LIMIT_RECORDS", "limit_problems"]

LIMIT_RECORDS = {gate.id: gate.limit for gate in GATES if gate.limit is not None}
IMPLIED_DOMAINS = ("node", "device", "island", "socket", "pcie_switch")


def limit_problems(tree: Any) -> Iterator[Problem]:
    """Yield what is wrong with the limits under ``gates``."""
    for gate in object_at(tree, "gates"):
        if gate not in LIMIT_RECORDS:
            yield _unknown_gate(gate, child("/gates", gate))
    for pointer, gate, limits in objects_at(tree, "gates"):
        record = LIMIT_RECORDS.get(gate)
        for limit_id, limit in limits.items():
            here = child(pointer, limit_id)
            if record is not None and type(limit) is dict:
                yield from shape_problems(limit, record, here)
                yield from _alternatives(record.one_of, limit, here)
                yield from _references(tree, gate, limit, here)
                yield from _default_load_point(tree, limit, record, here)
    yield from chain.from_iterable(rule(tree) for rule in _NEEDS)


def _unknown_gate(gate: str, pointer: str) -> Problem:
    nearest = get_close_matches(gate[:64], LIMIT_RECORDS, n=1)
    expected = f"a gate that takes limits, such as {nearest[0]}" if nearest else "a gate that takes limits"
    return Problem("document/unknown_gate", pointer, expected, shown(gate))


def _alternatives(names: tuple[str, ...], limit: dict[str, Any], pointer: str) -> Iterator[Problem]:
    given = [name for name in names if name in limit]
    if names and len(given) != 1:
        expected = f"exactly one of {', '.join(names)}"
        found = " and ".join(given) or "none of them"
        yield Problem("document/exclusive_fields", pointer, expected, found, is_lacking=not given)


def _default_load_point(tree: Any, limit: dict[str, Any], record: type[Limit], pointer: str) -> Iterator[Problem]:
    """Refuse a limit that leaves its load point to the default where the contract has none of that name."""
    if "load_point" in limit:
        return
    points = object_at(tree, "identity", "workload", "load_points")
    try:
        asks = msgspec.convert(limit, record).asks()
    except msgspec.ValidationError:
        return
    for name in sorted({ask.load_point for ask in asks} - {*points, WHOLE_TRIAL}):
        yield missing(f"{pointer}/load_point", f"a load point of this contract, because none is named {name}")


def _references(tree: Any, gate: str, limit: dict[str, Any], pointer: str) -> Iterator[Problem]:
    points = object_at(tree, "identity", "workload", "load_points")
    yield from referenced(limit.get("load_point"), points, "a load point of this contract", f"{pointer}/load_point")
    links = object_at(tree, "identity", "hardware", "links")
    if links:
        classes = {found for link in links.values() if type(found := value_at(link, "class")) is str}
        yield from referenced(limit.get("link_class"), classes, "the class of a link", f"{pointer}/link_class")
    elif "link_class" in limit:
        yield missing("/identity/hardware/links", f"links, because {gate} limits a class of them")
    shapes = object_at(tree, "identity", "workload", "request_shapes")
    yield from referenced(limit.get("shape"), shapes, "a request shape of this contract", f"{pointer}/shape")
    domains = (*IMPLIED_DOMAINS, *object_at(tree, "fleet", "failure_domains"))
    expected = f"{', '.join(IMPLIED_DOMAINS)}, or a kind under /fleet/failure_domains"
    yield from referenced(limit.get("domain"), domains, expected, f"{pointer}/domain")


def _islands(tree: Any) -> Iterator[Problem]:
    limits = object_at(tree, "gates", "tensor_locality").values()
    inside = any(value_at(limit, "rule") == "inside_island" for limit in limits)
    if inside and value_at(tree, "identity", "hardware", "islands") is None:
        yield missing("/identity/hardware/islands", "islands, because tensor_locality asks for inside_island")


def _context(tree: Any) -> Iterator[Problem]:
    for gate in ("memory_headroom", "kv_capacity"):
        if object_at(tree, "gates", gate) and value_at(tree, "identity", "workload", "context_tokens") is None:
            yield missing("/identity/workload/context_tokens", f"a token count, because {gate} is declared")
            return


def _reserve(tree: Any) -> Iterator[Problem]:
    limits = object_at(tree, "gates", "memory_headroom").values()
    bare = any(type(limit) is dict and "max_used_bytes" not in limit for limit in limits)
    if bare and value_at(tree, "headroom", "memory") is None:
        yield missing("/headroom/memory", "a reserve, because a memory_headroom limit has no max_used_bytes")


def _required_capacity(tree: Any) -> Iterator[Problem]:
    limits = object_at(tree, "gates", "failure_domain").values()
    asked = any(type(limit) is dict and "min_capacity_left_of_required" in limit for limit in limits)
    if asked and value_at(tree, "needs", "capacity") is None:
        yield missing("/needs/capacity", "the required load, because min_capacity_left_of_required is declared")


def _prices(tree: Any) -> Iterator[Problem]:
    if not object_at(tree, "gates", "cost"):
        return
    prices = object_at(tree, "fleet", "usd_per_device_hour")
    devices = object_at(tree, "identity", "hardware", "devices").values()
    types = sorted({found for device in devices if type(found := value_at(device, "type")) is str})
    for name in types:
        if name not in prices:
            yield missing(child("/fleet/usd_per_device_hour", name), "a price, because cost is declared")


_NEEDS = (_islands, _context, _reserve, _required_capacity, _prices)
