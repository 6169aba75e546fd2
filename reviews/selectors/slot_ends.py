"""What ends when: decisions in force, emergencies, waivers that they rest on, evidence of what is in review."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Q

from reviews.asked_once import moment
from reviews.models import DecisionState, Person, ReviewBasis, Workspace
from reviews.selectors.in_force import counting_waivers
from reviews.selectors.people import standing_of
from reviews.selectors.slot_facts import SlotFact, slots_of
from reviews.selectors.slots import SlotFilter, fits
from reviews.selectors.turns import REVIEWED

EndKind = Literal["decision", "emergency", "waiver", "evidence"]
KINDS: tuple[EndKind, ...] = ("decision", "emergency", "waiver", "evidence")
OF_AGE = "The age that policy or contract set is reached."


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Something that ends. ``name`` says more: a waived gate and its trial, or an incident.

    ``by_evidence``: a decision ends because its evidence gets too old, not by an age that policy or contract set.
    """

    at: datetime
    kind: EndKind
    slot: str
    number: int
    label: str
    topology: str
    name: str = ""
    by_evidence: bool = False

    @property
    def follows(self) -> str:
        """What follows when it ends, in words."""
        if self.kind == "decision":
            why = "Its evidence is then too old." if self.by_evidence else OF_AGE
            return f"{why} The slot runs without a decision in force from then on."
        if self.kind == "emergency":
            return f"For {self.name}. It is revoked then, unless its review is done."
        if self.kind == "waiver":
            return f"{self.name}. The decision turns stale then."
        return "In review. It cannot be put into force after that."


@dataclass(frozen=True, slots=True)
class Limits:
    """Until when evidence is young enough: by revision that is in force, and by decision in review."""

    in_force: Mapping[int, datetime]
    in_review: Mapping[int, datetime]


def slot_ends(*, actor: Person, workspace: Workspace, wanted: SlotFilter) -> tuple[End, ...]:
    """Return everything of the slots that fit a filter that is still to end, the first first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    now = moment()
    facts = [fact for fact in slots_of(workspace, now) if fits(fact, wanted)]
    limits = _evidence_limits(facts)
    found = [*_of_decisions(facts, limits), *_of_waivers(facts), *_of_reviews(facts, limits)]
    return tuple(sorted((end for end in found if end.at > now), key=lambda end: (end.at, end.number, end.name)))


def _of_decisions(facts: Collection[SlotFact], limits: Limits) -> Iterator[End]:
    for fact in facts:
        held, until = fact.held, fact.decision.now.until
        if fact.hold != "in_force" or held is None or until is None:
            continue
        is_emergency = fact.decision.state == DecisionState.EMERGENCY
        yield _end(
            fact,
            until,
            "emergency" if is_emergency else "decision",
            name=held.incident if is_emergency else "",
            by_evidence=not is_emergency and limits.in_force.get(held.revision_id) == until,
        )


def _of_waivers(facts: Collection[SlotFact]) -> Iterator[End]:
    """Yield the end of every waiver that a decision in force rests on."""
    in_force = {fact.decision.id: fact for fact in facts if fact.decision.state == DecisionState.EFFECTIVE}
    held = {decision_id: fact.held for decision_id, fact in in_force.items() if fact.held is not None}
    for decision_id, rows in counting_waivers(in_force, held).items():
        for row in rows:
            yield _end(in_force[decision_id], row.ends_at, "waiver", name=f"{row.gate} of {row.trial}")


def _of_reviews(facts: Collection[SlotFact], limits: Limits) -> Iterator[End]:
    """Yield until when what is in review can still be put into force."""
    for fact in facts:
        for decision in fact.decisions:
            if decision.id in limits.in_review:
                yield End(
                    at=limits.in_review[decision.id],
                    kind="evidence",
                    slot=fact.slot,
                    number=decision.number,
                    label=decision.label,
                    topology="",
                )


def _evidence_limits(facts: Collection[SlotFact]) -> Limits:
    """Return the limits of evidence; one query. Of a decision in review the newest planned revision counts."""
    revisions = [fact.held.revision_id for fact in facts if fact.held and fact.hold == "in_force"]
    reviewed = [row.id for fact in facts for row in fact.decisions if row.state in REVIEWED]
    asked = Q(planned__revision__in=revisions) | Q(planned__revision__decision__in=reviewed)
    rows = ReviewBasis.objects.filter(asked, evidence_until__isnull=False).order_by("planned__revision__number")
    named = list(rows.values_list("planned__revision", "planned__revision__decision", "evidence_until"))
    in_force, in_review = set(revisions), set(reviewed)
    return Limits(
        in_force={revision: at for revision, _, at in named if at is not None and revision in in_force},
        in_review={decision: at for _, decision, at in named if at is not None and decision in in_review},
    )


def _end(fact: SlotFact, at: datetime, kind: EndKind, *, name: str = "", by_evidence: bool = False) -> End:
    return End(
        at=at,
        kind=kind,
        slot=fact.slot,
        number=fact.decision.number,
        label=fact.decision.label,
        topology=fact.held.topology if fact.held else "",
        name=name,
        by_evidence=by_evidence,
    )
