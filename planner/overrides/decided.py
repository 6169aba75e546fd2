"""All trials judged by one contract, ordered, and the selection among them."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.demand import units_needed
from planner.documents import ContractDocument, EvidenceDocument
from planner.evaluate import judge
from planner.keys import key_spread
from planner.order import Order, order_expand
from planner.records.plan import Candidate
from planner.selection import Selection, select
from planner.view import TrialView, views

__all__ = ["Decided", "decided", "selected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """All trials judged and ordered."""

    views: Mapping[str, TrialView]
    candidates: Mapping[str, Candidate]
    order: Order
    selection: Selection


def decided(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> Decided:
    """Judge and order all trials of the evidence; ``as_of`` as for a plan."""
    order = order_expand(contract.record)
    trials = views(contract, evidence, as_of)
    return selected(trials, {name: judge(view, order.keys) for name, view in trials.items()}, order)


def selected(trials: Mapping[str, TrialView], candidates: Mapping[str, Candidate], order: Order) -> Decided:
    """Select among candidates that were judged before."""
    selection = select(
        candidates,
        order,
        spread_of=lambda trial: key_spread(trials[trial], order.keys[0]),
        units_of=lambda trial: units_needed(trials[trial], order),
    )
    return Decided(views=trials, candidates=candidates, order=order, selection=selection)
