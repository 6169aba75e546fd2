"""The order among eligible trials, written out key by key.

Rules kept: keys are expanded once per contract, never per trial, so that every trial is compared by the same keys;
the order is total, because it always ends in the topology (by its integers) and the trial's content id; a key that
the contract gives no statistic for is left out and the reason is noted. Reading a trial's value of a key is not done
here (``planner.evaluate``), nor is the ordering itself (``planner.selection``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from msgspec import structs

from planner.records.base import UnsetType
from planner.records.contract import Contract, KeyName, SelectionKey
from planner.records.plan import OrderKey

SATURATED = "saturated"

PRESETS: dict[str, tuple[KeyName, ...]] = {
    "highest_throughput": (
        "output_tokens_per_s_per_charged_device",
        "serving_group_ranks",
        "ttft",
        "charged_devices",
        "topology",
        "trial_content_id",
    ),
    "smallest_first": (
        "serving_group_ranks",
        "charged_devices",
        "output_tokens_per_s_per_charged_device",
        "ttft",
        "topology",
        "trial_content_id",
    ),
}
"""Keys of each preset, first to last (spec 2.2)."""

MORE_IS_BETTER = frozenset({"output_tokens_per_s_per_charged_device", "output_tokens_per_s"})
MEASURED = MORE_IS_BETTER | {"usd_per_million_output_tokens", "ttft"}
"""Keys whose value is read from windows and therefore has a load point."""

TIE_BREAKS: tuple[KeyName, ...] = ("topology", "trial_content_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The expanded order of one contract.

    ``notes`` say what was left out or added. ``load_point`` is the one that text, frontier and demand read.
    ``copies`` says whether a trial may stand for several units of itself (``scale: independent_replicas``).
    """

    keys: tuple[OrderKey, ...]
    notes: tuple[str, ...]
    load_point: str
    copies: bool


def order_expand(contract: Contract) -> Order:
    """Write out the selection keys of ``contract`` (spec 2.2; settled question 20)."""
    keys: list[OrderKey] = []
    notes: list[str] = []
    for wanted in _wanted(contract):
        expanded = _expand(contract, wanted)
        if isinstance(expanded, str):
            notes.append(expanded)
        else:
            keys.append(expanded)
    return Order(
        keys=tuple(_named(keys)),
        notes=tuple(notes),
        load_point=_main_load_point(contract, keys),
        copies=contract.selection.scale == "independent_replicas",
    )


def _named(keys: list[OrderKey]) -> Iterator[OrderKey]:
    """Tell keys that are read at several load points apart by their names."""
    places: dict[str, set[str | None]] = {}
    for key in keys:
        places.setdefault(key.key, set()).add(key.load_point)
    for key in keys:
        yield structs.replace(key, name=f"{key.key}@{key.load_point}") if len(places[key.key]) > 1 else key


def ttft_limit(contract: Contract, load_point: str) -> str | None:
    """Name the limit that the ttft key and the text read: the lowest limit id at ``load_point``, or None."""
    limits = contract.gates.get("ttft", {})
    return min((id for id, limit in limits.items() if limit.get("load_point") == load_point), default=None)


def _wanted(contract: Contract) -> list[SelectionKey]:
    """List the contract's keys with the tie-breaks that make the order total."""
    selection = contract.selection
    if isinstance(selection.keys, UnsetType):
        return [SelectionKey(key=key) for key in PRESETS[str(selection.preset)]]
    named = {key.key for key in selection.keys}
    return [*selection.keys, *(SelectionKey(key=key) for key in TIE_BREAKS if key not in named)]


def _expand(contract: Contract, wanted: SelectionKey) -> OrderKey | str:
    """Fill in direction, load point and statistic, or say why the key is left out."""
    direction = _direction(wanted)
    if wanted.key not in MEASURED:
        return OrderKey(key=wanted.key, direction=direction)
    load_point = _load_point(contract, wanted)
    if wanted.key != "ttft":
        return OrderKey(key=wanted.key, direction=direction, load_point=load_point)
    limit = ttft_limit(contract, load_point)
    if limit is None:
        return f"Key ttft is left out: the contract has no ttft limit at {load_point}, so no statistic is named."
    statistic = str(contract.gates["ttft"][limit]["statistic"])
    return OrderKey(key="ttft", direction=direction, load_point=load_point, statistic=statistic)


def _direction(wanted: SelectionKey) -> Literal["asc", "desc"]:
    if not isinstance(wanted.direction, UnsetType):
        return wanted.direction
    return "desc" if wanted.key in MORE_IS_BETTER else "asc"


def _load_point(contract: Contract, wanted: SelectionKey) -> str:
    """Use the key's own load point, else ``saturated``, else the only one there is.

    With several and none of them ``saturated`` the name stays ``saturated``: no trial has a value there, and each
    becomes INCONCLUSIVE with the key named, which is what an order without a load point deserves.
    """
    if not isinstance(wanted.load_point, UnsetType):
        return wanted.load_point
    declared = contract.identity.workload.load_points
    if len(declared) == 1:
        return next(iter(declared))
    return SATURATED


def _main_load_point(contract: Contract, keys: list[OrderKey]) -> str:
    """Use ``saturated`` where it is declared, else the first measured key's, else the first by name."""
    declared = contract.identity.workload.load_points
    if SATURATED in declared:
        return SATURATED
    return next((key.load_point for key in keys if key.load_point in declared and key.load_point), min(declared))
