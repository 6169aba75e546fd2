"""Why a decomposition is worth measuring: the baseline first, then what needs ask for, then what is only valid.

Rules kept: the baseline is the first that may fit, fewest ranks and plainest. A candidate is ``needed`` where every
degree that it has more of than the baseline answers a need of the contract, or a gate that holds the need, and where
its ranks fill nodes evenly; else it is ``optional``. At most ``MOST_LISTED`` are listed: the baseline, then needed ones
and optional ones, each the smallest first. Nothing here decides about a topology; it orders what to measure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.contract_view import ContractView
from planner.layouts import Degrees
from planner.matrix.axes import AXES
from planner.matrix.places import Ground
from planner.matrix.search import EXAMPLES, Found
from planner.needs import HELD_BY
from planner.records.base import UnsetType, stated
from planner.records.matrix import Compared, Excluded, Worth

__all__ = ["Listed", "listed"]

MOST_LISTED = 64
"""Candidates of one matrix: more than anybody measures."""

ANSWERS: Mapping[str, tuple[str, ...]] = {
    "tp": ("latency", "residency"),
    "pp": ("residency",),
    "ep": ("residency", "latency"),
    "dp": ("capacity", "isolation"),
    "attn_dp": ("capacity", "residency"),
    "enable_attention_dp": ("capacity", "residency"),
    "etp": ("residency",),
}
"""Which needs an axis can answer. Context degrees answer none by themselves: they are for prompts so long that nothing
else shortens them, and no need says that prompts are."""
SAYS: Mapping[str, str] = {
    "tp": "tensor ranks share every layer, which shortens a step and spreads weights and KV heads",
    "pp": "stages spread the weights with little traffic between them",
    "ep": "expert ranks hold whole experts instead of a slice of each",
    "dp": "replicas serve more requests at once, and some go on when others are lost",
    "cp": "context ranks share a long prompt",
    "dcp": "decode-context ranks share the KV cache that tensor ranks would copy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A candidate with its place in the matrix."""

    found: Found
    worth: Worth
    because: tuple[str, ...]
    compared: tuple[Compared, ...]


def listed(view: ContractView, ground: Ground, found: Sequence[Found]) -> tuple[list[Listed], list[Excluded]]:
    """Return the candidates that are listed, the smallest first, and those that are too many, counted."""
    if not found:
        return [], []
    baseline = found[0]
    needs = _needs(view, baseline)
    judged = [(_worth(baseline, each, needs, ground, view), each) for each in found]
    ranked = sorted(judged, key=lambda pair: ("baseline", "needed", "optional").index(pair[0]))
    kept = {each.name for _, each in ranked[:MOST_LISTED]}
    shown = [(worth, each) for worth, each in judged if each.name in kept]
    names = [each for _, each in shown]
    rows = [
        Listed(
            found=each,
            worth=worth,
            because=tuple(_because(baseline, each, worth, needs, ground, view)),
            compared=tuple(_compared(each, names)),
        )
        for worth, each in shown
    ]
    rest = [each.name for worth, each in ranked[MOST_LISTED:]]
    return rows, list(_rest(rest, len(found)))


def _rest(names: list[str], found: int) -> Iterator[Excluded]:
    if names:
        yield Excluded(
            reason="listed",
            sentence=f"Valid, and not ruled out: of {found:,} such decompositions the {MOST_LISTED} that needs ask for "
            "most are listed, the smallest first.",
            count=len(names),
            examples=tuple(names[:EXAMPLES]),
        )


def _needs(view: ContractView, baseline: Found) -> dict[str, str]:
    """Return the needs that the contract declares, or whose gate it declares, each with the words for it.

    A limit on memory alone does not ask for more ranks where one holds the model.
    """
    declared = view.contract.needs
    found = {}
    for need, gates in HELD_BY.items():
        stated_need = None if isinstance(declared, UnsetType) else stated(getattr(declared, need))
        held = [gate for gate in gates if view.limits.get(gate)]
        if need == "isolation" and stated_need is not None and stated_need.nodes_lost_to_survive == 0 and not held:
            continue
        if stated_need is not None:
            found[need] = f"needs.{need}"
        elif held and (need != "residency" or baseline.ranks > 1):
            found[need] = f"gate {held[0]}"
    return found


def _worth(baseline: Found, each: Found, needs: Mapping[str, str], ground: Ground, view: ContractView) -> Worth:
    if each is baseline:
        return "baseline"
    axes = _more(baseline.degrees, each.degrees)
    asked = axes and all(_asked(axis, needs) for axis in axes)
    fills = each.ranks % ground.per_node == 0 or ground.per_node % each.ranks == 0
    count = stated(view.comparison.accelerator_count)
    return "needed" if asked and fills and count in (None, each.ranks) else "optional"


def _more(baseline: Degrees, degrees: Degrees) -> list[str]:
    """Return the axes, and the engine's own degrees, of which there is more than in the baseline."""
    more = [axis for axis in AXES if getattr(degrees, axis) > getattr(baseline, axis)]
    return more + sorted(name for name in degrees.extra if degrees.extra[name] != baseline.extra.get(name))


def _asked(axis: str, needs: Mapping[str, str]) -> list[str]:
    return [needs[need] for need in ANSWERS.get(axis, ()) if need in needs]


def _because(
    baseline: Found, each: Found, worth: Worth, needs: Mapping[str, str], ground: Ground, view: ContractView
) -> Iterator[str]:
    if worth == "baseline":
        yield "Baseline: the fewest ranks that may fit, and the plainest of them; every gain is told against it."
    for axis in _more(baseline.degrees, each.degrees):
        degree = f"{axis} {getattr(each.degrees, axis)}" if axis in AXES else f"{axis} {each.degrees.extra[axis]}"
        asked = _asked(axis, needs)
        says = f": {SAYS[axis]}" if axis in SAYS else ""
        yield (
            f"{degree}{says}; asked for by {' and '.join(asked)}." if asked else f"{degree}{says}; no need asks for it."
        )
    if worth != "baseline" and each.ranks % ground.per_node and ground.per_node % each.ranks:
        yield f"{each.ranks} ranks leave devices of a node of {ground.per_node} idle."
    count = stated(view.comparison.accelerator_count)
    if count is not None and count != each.ranks:
        yield (
            f"comparison.accelerator_count is {count}, so equal_service fails with {each.ranks} ranks: it can justify "
            "an axis and cannot be selected."
        )


def _compared(each: Found, names: Sequence[Found]) -> Iterator[Compared]:
    """Yield the predecessor of every axis above 1: the nearest with less of it and no more of any other (domain 6)."""
    for axis in AXES:
        if getattr(each.degrees, axis) == 1:
            continue
        before = [other for other in names if _precedes(other.degrees, each.degrees, axis)]
        nearest = max((_nearness(other, each, axis) for other in before), default=None)
        yield Compared(axis=axis, candidate=None if nearest is None else nearest[2])


def _precedes(other: Degrees, degrees: Degrees, axis: str) -> bool:
    if getattr(other, axis) >= getattr(degrees, axis):
        return False
    return all(getattr(other, each) <= getattr(degrees, each) for each in AXES) and other.extra == degrees.extra


def _nearness(other: Found, each: Found, axis: str) -> tuple[int, int, str]:
    """Order predecessors: most of the axis, then most degrees alike; the name only makes the order total."""
    alike = sum(getattr(other.degrees, name) == getattr(each.degrees, name) for name in AXES)
    return getattr(other.degrees, axis), alike, other.name
