"""What one failure would leave: groups and ranks that go down, and the rate that is left at once and after recovery.

Rules kept: those of ``planner.failure`` and of the gate ``failure_domain``: arithmetic on measured rates, in place of
which a rate counts that an injection measured; the lowest rate of all counted windows of a load point is given. A
recovery counts within the longest that the contract allows for this kind of domain; without such a limit, any.

Not handled: verdicts (``planner.gates.failure``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from planner.failure import Loss, Range, losses
from planner.gates.failure import FailureDomainLimit
from planner.gates.failure_capacity import (
    Capacity,
    Left,
    capacity,
    distinct_in,
    injected,
    left_after_recovery,
    left_at_once,
)
from planner.needs import required_rate, reserved_capacity
from planner.numbers import exact
from planner.readings import WindowView
from planner.records.base import UnsetType
from planner.view import TrialView

__all__ = ["CapacityLeft", "DomainLoss", "Horizon", "domain_loss", "failure_kinds", "worst_of"]

Horizon = Literal["immediate", "after_recovery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityLeft:
    """What is left at one load point, in output tokens per second; ``rate`` is None where it is not known.

    ``whole`` is the measured rate of everything in the same window, ``share_of_required`` what is left after the
    replica reserve over the required load; None where one is missing. ``injection`` names what measured the rate.
    """

    load_point: str
    window: str
    horizon: Horizon
    rate: Range | None
    whole: Fraction | None
    share_of_required: Range | None
    injection: str
    missing: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainLoss:
    """The loss of one domain: ``loss`` as in ``planner.failure``, ``gone`` ranks on its own devices."""

    kind: str
    loss: Loss
    gone: tuple[int, ...]
    left: tuple[CapacityLeft, ...]

    def at_full_load(self, horizon: Horizon) -> CapacityLeft | None:
        """Return what is left at the load point that served most; without such a figure at the first one by name.

        None without a counted window.
        """
        found = [left for left in self.left if left.horizon == horizon]
        return max(found, key=lambda left: Fraction(-1) if left.whole is None else left.whole, default=None)


def failure_kinds(view: TrialView) -> tuple[str, ...]:
    """Return the kinds of domain that may be lost: device, island, node, then what the contract declares."""
    declared = view.site.fleet.failure_domains
    kinds = dict.fromkeys(("device", "island", "node", *(() if isinstance(declared, UnsetType) else sorted(declared))))
    return tuple(kind for kind in kinds if view.site.domains(kind))


def domain_loss(view: TrialView, kind: str, domain: str) -> DomainLoss | None:
    """Return what the loss of a domain leaves; None where the contract has no such domain.

    Expects a rank map of exactly the topology's ranks.

    Raises:
        LayoutRefusedError: the layout refuses the degrees.
    """
    domains = view.site.domains(kind) or {}
    if domain not in domains:
        return None
    found = _losses(view, kind, domains)
    loss = next((loss for loss in found if loss.domain == domain), Loss(domain=domain, groups=(), ranks=0))
    return _judged(view, kind, loss, domains[domain], found)


def worst_of(view: TrialView, kind: str) -> DomainLoss | None:
    """Return the loss of a kind that leaves least: least known rate at once, then most ranks, then the first by id.

    None where no declared domain of the kind holds a rank. Expects and raises as ``domain_loss`` does.
    """
    domains = view.site.domains(kind) or {}
    found = _losses(view, kind, domains)
    judged = [_judged(view, kind, loss, domains[loss.domain], found) for loss in distinct_in(view, kind, found)]
    return min(judged, key=_worst_first, default=None)


def _worst_first(found: DomainLoss) -> tuple[Fraction, int, str]:
    left = found.at_full_load("immediate")
    rate = left.rate.low if left and left.rate else Fraction(0)
    return rate, -found.loss.ranks, found.loss.domain


def _losses(view: TrialView, kind: str, domains: Mapping[str, frozenset[str]]) -> tuple[Loss, ...]:
    return view.placed.kept.once(("losses", kind), lambda: losses(view.serving_groups, view.rank_device, domains))


def _judged(view: TrialView, kind: str, loss: Loss, devices: frozenset[str], found: Sequence[Loss]) -> DomainLoss:
    gone = tuple(rank for rank, device in enumerate(view.rank_device) if device in devices)
    left = []
    for load_point, windows in sorted(view.counted.items()):
        spoken = injected(view, kind, load_point, found).get(loss.domain, ())
        for horizon in ("immediate", "after_recovery"):
            each = []
            for window in windows:
                known = capacity(view, window)
                rest = left_at_once(view, loss, known, spoken)
                if horizon == "after_recovery" and loss.groups:
                    most = _longest_recovery(view, kind)
                    rest = left_after_recovery(view, loss, rest, spoken, kind=kind, most_s=most)
                each.append(_capacity_left(view, window, load_point, horizon, known, rest))
            left.append(min(each, key=_least))
    return DomainLoss(kind=kind, loss=loss, gone=gone, left=tuple(left))


def _capacity_left(
    view: TrialView, window: WindowView, load_point: str, horizon: Horizon, known: Capacity, rest: Left
) -> CapacityLeft:
    required = required_rate(view.contract)
    kept = 1 - reserved_capacity(view.contract)
    return CapacityLeft(
        load_point=load_point,
        window=window.id,
        horizon=horizon,
        rate=rest.rate,
        whole=known.total if known.is_known else None,
        share_of_required=rest.rate.scaled(kept / required) if rest.rate and required else None,
        injection=rest.injection,
        missing=rest.missing,
        notes=rest.notes,
    )


def _least(left: CapacityLeft) -> tuple[bool, Fraction]:
    """Put what is not known first: it may be the least of all."""
    return left.rate is not None, left.rate.low if left.rate else Fraction(0)


def _longest_recovery(view: TrialView, kind: str) -> Fraction | None:
    """Return the shortest of the longest recoveries that the contract allows for a kind of domain."""
    limits = view.limits.get("failure_domain", {}).values()
    allowed = [
        exact(limit.max_recovery_s)
        for limit in limits
        if isinstance(limit, FailureDomainLimit)
        and limit.domain == kind
        and not isinstance(limit.max_recovery_s, UnsetType)
    ]
    return min(allowed, default=None)
