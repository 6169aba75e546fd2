"""What joins the fields of a contract beyond their types: references, alternatives, and what one field needs.

Every rule yields problems from a tree that may be wrong anywhere. Limits are in ``planner.intake.limit_rules``.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from planner.errors import Problem
from planner.intake.likeness import look_alikes
from planner.intake.limit_rules import limit_problems
from planner.intake.parts import array_at, missing, object_at, objects_at, referenced, value_at
from planner.pointers import child
from planner.shown import shown

__all__ = ["contract_problems"]

_NODE, _DEVICE, _NIC = "a node of this contract", "a device of this contract", "a NIC of this contract"
_LOAD_POINT = "a load point of this contract"
_HARDWARE = ("identity", "hardware")
_DISTRIBUTION = ("mean", "p50", "p95", "max")
_EXPERT_FIELDS = ("experts", "experts_per_token", "shared_experts", "expert_intermediate_size")


def contract_problems(tree: Any) -> Iterator[Problem]:
    """Yield what is wrong with a contract beyond the types of its fields."""
    yield from chain.from_iterable(rule(tree) for rule in _RULES)


def _hardware_references(tree: Any) -> Iterator[Problem]:
    nodes, devices = object_at(tree, *_HARDWARE, "nodes"), object_at(tree, *_HARDWARE, "devices")
    for pointer, _, device in objects_at(tree, *_HARDWARE, "devices"):
        yield from referenced(device.get("node"), nodes, _NODE, f"{pointer}/node")
    for pointer, _, nic in objects_at(tree, *_HARDWARE, "nics"):
        yield from referenced(nic.get("node"), nodes, _NODE, f"{pointer}/node")
    for pointer, _, island in objects_at(tree, *_HARDWARE, "islands"):
        yield from _members(array_at(island, "devices"), devices, _DEVICE, f"{pointer}/devices")
    for pointer, _, link in objects_at(tree, *_HARDWARE, "links"):
        yield from referenced(link.get("nic"), object_at(tree, *_HARDWARE, "nics"), _NIC, f"{pointer}/nic")


def _members(listed: list[Any], known: dict[str, Any], what: str, pointer: str) -> Iterator[Problem]:
    for index, item in enumerate(listed):
        yield from referenced(item, known, what, child(pointer, index))
    for item, times in Counter(item for item in listed if type(item) is str).items():
        if times > 1:
            yield Problem("document/repeated", pointer, "each entry once", f"{shown(item)} {times} times")


def _fleet_references(tree: Any) -> Iterator[Problem]:
    nodes = object_at(tree, *_HARDWARE, "nodes")
    for pointer, _, domains in objects_at(tree, "fleet", "failure_domains"):
        for domain, listed in domains.items():
            yield from _members(listed if type(listed) is list else [], nodes, _NODE, child(pointer, domain))
    spares = array_at(tree, "fleet", "spare_devices")
    yield from _members(spares, object_at(tree, *_HARDWARE, "devices"), _DEVICE, "/fleet/spare_devices")
    if value_at(tree, "fleet", "charge") == "rack" and not object_at(tree, "fleet", "failure_domains", "rack"):
        yield missing("/fleet/failure_domains/rack", "racks, because charge is by rack")


def _load_points(tree: Any) -> Iterator[Problem]:
    for pointer, _, point in objects_at(tree, "identity", "workload", "load_points"):
        arrival = point.get("arrival")
        if arrival == "closed":
            yield from _arrival(point, pointer, "closed", "concurrent_requests", ("requests_per_s", "burstiness"))
        elif arrival == "open":
            yield from _arrival(point, pointer, "open", "requests_per_s", ("concurrent_requests",))


def _arrival(
    point: dict[str, Any], pointer: str, arrival: str, needed: str, foreign: tuple[str, ...]
) -> Iterator[Problem]:
    if needed not in point:
        yield missing(f"{pointer}/{needed}", f"a load, because arrival is {arrival}")
    for name in foreign:
        if name in point:
            expected = f"no {name} where arrival is {arrival}"
            yield Problem("document/exclusive_fields", f"{pointer}/{name}", expected, shown(point[name]))


def _lengths(tree: Any) -> Iterator[Problem]:
    for name in ("prompt_tokens", "output_tokens"):
        lengths = value_at(tree, "identity", "workload", name)
        if type(lengths) is dict and ("fixed" in lengths) is any(field in lengths for field in _DISTRIBUTION):
            found = "both" if lengths else "neither"
            expected = "either fixed, or a distribution (mean, p50, p95, max)"
            at = f"/identity/workload/{name}"
            yield Problem("document/exclusive_fields", at, expected, found, is_lacking=not lengths)


def _experts(tree: Any) -> Iterator[Problem]:
    model = object_at(tree, "identity", "model")
    if model.get("architecture") == "moe":
        for name in _EXPERT_FIELDS:
            if name not in model:
                yield missing(f"/identity/model/{name}", "an integer, because architecture is moe")


def _memory_reserve(tree: Any) -> Iterator[Problem]:
    reserve = value_at(tree, "headroom", "memory")
    if type(reserve) is dict and ("reserved_share" in reserve) is ("reserved_bytes" in reserve):
        is_lacking = "reserved_share" not in reserve
        found = "neither" if is_lacking else "both"
        expected = "exactly one of reserved_share and reserved_bytes"
        yield Problem("document/exclusive_fields", "/headroom/memory", expected, found, is_lacking=is_lacking)


def _required_evidence(tree: Any) -> Iterator[Problem]:
    known = object_at(tree, "identity", "workload", "load_points")
    for pointer, _, required in objects_at(tree, "evidence_required"):
        yield from _members(array_at(required, "load_points"), known, _LOAD_POINT, f"{pointer}/load_points")


def _selection(tree: Any) -> Iterator[Problem]:
    known = object_at(tree, "identity", "workload", "load_points")
    selection = value_at(tree, "selection")
    if type(selection) is not dict:
        return
    if ("preset" in selection) is ("keys" in selection):
        is_lacking = "preset" not in selection
        found, expected = "neither" if is_lacking else "both", "exactly one of preset and keys"
        yield Problem("document/exclusive_fields", "/selection", expected, found, is_lacking=is_lacking)
    if "preset" in selection and known and "saturated" not in known:
        expected = "a load point named saturated, which a preset reads"
        yield Problem("document/unknown_reference", "/selection/preset", expected, ", ".join(map(shown, known)))
    for index, key in enumerate(array_at(selection, "keys")):
        yield from referenced(value_at(key, "load_point"), known, _LOAD_POINT, f"/selection/keys/{index}/load_point")


def _look_alikes(tree: Any) -> Iterator[Problem]:
    for collection in ("nodes", "devices", "nics"):
        for first, later in look_alikes(object_at(tree, *_HARDWARE, collection)):
            pointer = child(f"/identity/hardware/{collection}", later)
            expected = f"an id that does not look like {shown(first)}"
            yield Problem("document/confusable_id", pointer, expected, shown(later))


_RULES = (
    _hardware_references,
    _fleet_references,
    _load_points,
    _lengths,
    _experts,
    limit_problems,
    _memory_reserve,
    _required_evidence,
    _selection,
    _look_alikes,
)
