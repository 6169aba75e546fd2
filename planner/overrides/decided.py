"""All trials judged by one contract, ordered, and the selection among them; each is written down when it is asked for.

Rules kept: what is not written yet is decided all the same (``planner.alike``), and is written as a plan has it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from planner.alike import Glance, Member, weigh_all
from planner.demand import units_needed
from planner.documents import ContractDocument, EvidenceDocument
from planner.evaluate import Verdict, judge, recorded
from planner.keys import key_spread
from planner.order import Order, order_expand
from planner.records.plan import Candidate
from planner.selection import Selection, select
from planner.view import TrialView, views

__all__ = ["Candidates", "Decided", "decided", "selected"]

Judged = Candidate | Glance | Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates(Mapping[str, Candidate]):
    """The trials as a plan has them, by id; one is written the first time that it is asked for."""

    views: Mapping[str, TrialView]
    verdicts: Mapping[str, Judged]
    order: Order
    written: dict[str, Candidate] = field(default_factory=dict)

    def __getitem__(self, trial: str) -> Candidate:
        verdict = self.verdicts[trial]
        if isinstance(verdict, Candidate):
            return verdict
        if trial not in self.written:
            view = self.views[trial]
            self.written[trial] = recorded(verdict) if isinstance(verdict, Verdict) else judge(view, self.order.keys)
            view.forget()
        return self.written[trial]

    def __iter__(self) -> Iterator[str]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)


@dataclass(frozen=True, kw_only=True)
class Decided:
    """All trials judged and ordered."""

    views: Mapping[str, TrialView]
    candidates: Candidates
    order: Order
    selection: Selection

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of every eligible trial in the order, 1 for the winner."""
        return {entry.trial: place for place, entry in enumerate(self.selection.eligible, start=1)}


def decided(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> Decided:
    """Judge and order all trials of the evidence; ``as_of`` as for a plan."""
    order = order_expand(contract.record)
    trials = views(contract, evidence, as_of)
    members = (Member(name, view.trial, view.content_id) for name, view in trials.items())
    return selected(trials, weigh_all(members, order, trials.__getitem__).verdicts, order)


def selected(trials: Mapping[str, TrialView], verdicts: Mapping[str, Judged], order: Order) -> Decided:
    """Select among trials that were judged before."""
    selection = select(
        verdicts,
        order,
        spread_of=lambda trial: key_spread(trials[trial], order.keys[0]),
        units_of=lambda trial: units_needed(trials[trial], order),
    )
    candidates = Candidates(views=trials, verdicts=verdicts, order=order)
    return Decided(views=trials, candidates=candidates, order=order, selection=selection)
