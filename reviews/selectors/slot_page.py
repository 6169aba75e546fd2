"""Everything of one slot: what holds, what it rests on, what runs, and every decision that there was about it."""

from dataclasses import dataclass

from planner.records.plan import Plan as PlanRecord
from reviews.asked_once import moment
from reviews.models import Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.live_identity import LiveIdentity, live_slot
from reviews.selectors.people import standing_of
from reviews.selectors.proposals import ProposalRow, proposals_beside
from reviews.selectors.rows import DecisionPage
from reviews.selectors.slot_facts import SlotFact, slot_named
from reviews.selectors.slots import SlotRow, slot_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotPage:
    """A slot. ``page``, ``plan`` and ``live`` are of what was put into force last; None where nothing stands.

    ``proposals`` are those about its decisions that wait for a second person.
    """

    row: SlotRow
    page: DecisionPage | None
    plan: PlanRecord | None
    live: LiveIdentity | None
    proposals: tuple[ProposalRow, ...]

    @property
    def fact(self) -> SlotFact:
        """Its decisions."""
        return self.row.fact


def slot_page(*, actor: Person, workspace: Workspace, slot: str) -> SlotPage:
    """Return a slot by its exact name.

    Raises:
        NotFoundError: no decision is about such a slot, or the actor is no member of the workspace.
        TamperedError: what was put into force is not what was stored.
    """
    standing_of(actor, workspace)
    now = moment()
    fact = slot_named(workspace, now, slot)
    page = None
    if fact.held is not None:
        page = decision_page(actor=actor, workspace=workspace, number=fact.decision.number, revision=fact.held.revision)
    return SlotPage(
        row=slot_rows(workspace, [fact], now)[0],
        page=page,
        plan=page.plan() if page else None,
        live=live_slot(workspace, slot, now) if page else None,
        proposals=proposals_beside(actor=actor, workspace=workspace, slot=slot),
    )


def slot_row(*, actor: Person, workspace: Workspace, slot: str) -> SlotRow:
    """Return a slot by its exact name as lists have it; no document and no plan is read.

    Raises:
        NotFoundError: no decision is about such a slot, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    now = moment()
    return slot_rows(workspace, [slot_named(workspace, now, slot)], now)[0]
