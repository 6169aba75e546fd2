"""Every decision of every slot of a workspace, as light rows: what lists of many slots are made of.

The number of queries does not grow with slots or decisions, the work grows with them linearly, and no stored document
or plan is read (``ActivationFootprint``).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from planner.decision_numbers import decision_label
from planner.footprint import Footprint
from reviews.asked_once import once
from reviews.errors import NotFoundError, is_storable, printable
from reviews.models import Activation, Decision, Workspace
from reviews.planning import footprint_from
from reviews.policies.slots import Hold, standing_for
from reviews.policies.transitions import FINAL
from reviews.policies.validity import StateNow, state_now
from reviews.selectors.in_force import ENDING, lapsed_waivers

__all__ = ["DecisionFact", "HeldFact", "SlotFact", "slot_named", "slots_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldFact:
    """What was put into force last; ``footprint`` is None where the bytes behind it could not be read."""

    id: int
    decision_id: int
    revision_id: int
    revision: int
    kind: str
    subject: str
    trial: str
    topology: str
    rollback: str
    activated_at: datetime
    valid_until: datetime | None
    incident: str
    footprint: Footprint | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFact:
    """A decision with its state as of now; ``owner`` is what its newest contract says, else who opened it."""

    id: int
    number: int
    slot: str
    title: str
    owner: str
    engine: str
    model: str
    now: StateNow
    held: HeldFact | None

    @property
    def state(self) -> str:
        """The state as of now."""
        return self.now.state

    @property
    def is_activated(self) -> bool:
        """Whether it was ever put into force."""
        return self.held is not None

    @property
    def label(self) -> str:
        """The number as people write it."""
        return decision_label(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFact:
    """A slot: the decision that stands for it, how, and all of its decisions, newest first."""

    slot: str
    decision: DecisionFact
    hold: Hold
    decisions: tuple[DecisionFact, ...]

    @property
    def held(self) -> HeldFact | None:
        """What is in force, or was and may still run."""
        return self.decision.held if self.hold != "none" else None

    @property
    def others(self) -> tuple[DecisionFact, ...]:
        """Its other decisions that have not ended."""
        return tuple(row for row in self.decisions if row is not self.decision and row.state not in FINAL)


@once
def slots_of(workspace: Workspace, now: datetime) -> tuple[SlotFact, ...]:
    """Return every slot of a workspace, in no order; three queries."""
    return tuple(_facts(workspace, now, None))


def slot_named(workspace: Workspace, now: datetime, slot: str) -> SlotFact:
    """Return one slot; three queries.

    Raises:
        NotFoundError: no decision of the workspace is about it.
    """
    found = next(_facts(workspace, now, slot), None) if is_storable(slot) else None
    if found is None:
        raise NotFoundError(f"There is no slot {printable(slot)} in {workspace.slug}.")
    return found


def _facts(workspace: Workspace, now: datetime, slot: str | None) -> Iterator[SlotFact]:
    decisions = Decision.objects.filter(workspace=workspace)
    if slot is not None:
        decisions = decisions.filter(slot=slot)
    held = _held(decisions)
    by_slot: dict[str, list[DecisionFact]] = defaultdict(list)
    for fact in _decisions(decisions, held, now):
        by_slot[fact.slot].append(fact)
    for name, rows in by_slot.items():
        decision, hold = standing_for(rows)
        yield SlotFact(slot=name, decision=decision, hold=hold, decisions=tuple(rows))


def _decisions(decisions: QuerySet[Decision], held: Mapping[int, HeldFact], now: datetime) -> Iterator[DecisionFact]:
    """Yield the decisions, newest first."""
    rows = list(
        decisions.order_by("-number").values_list(
            *("pk", "number", "slot", "title", "state", "state_since"),
            *("owner", "engine_name", "model_name", "opened_by__display_name"),
        )
    )
    ending = [row[0] for row in rows if row[4] in ENDING and row[0] in held]
    lapsed = lapsed_waivers(ending, held, now) if ending else {}
    for pk, number, slot, title, state, since, owner, engine, model, author in rows:
        ends_at = held[pk].valid_until if state in ENDING and pk in held else None
        yield DecisionFact(
            id=pk,
            number=number,
            slot=slot,
            title=title,
            owner=owner or author,
            engine=engine,
            model=model,
            now=state_now(state, since, now=now, ends_at=ends_at, lapsed=lapsed.get(pk, ())),
            held=held.get(pk),
        )


def _held(decisions: QuerySet[Decision]) -> Mapping[int, HeldFact]:
    """Return decision id -> what was put into force last."""
    rows = Activation.objects.filter(revision__decision__in=decisions).order_by("pk")
    named = rows.values_list(
        *("revision__decision_id", "pk", "revision_id", "revision__number", "kind", "subject", "trial", "topology"),
        *("rollback", "activated_at", "valid_until", "emergency__incident"),
        *("footprint__charge", "footprint__used", "footprint__spares", "footprint__stranded"),
        *("footprint__types", "footprint__usd_per_hour", "footprint__unpriced"),
    )
    last = {row[0]: row for row in named}
    return {decision_id: _held_fact(row) for decision_id, row in last.items()}


def _held_fact(row: tuple[Any, ...]) -> HeldFact:
    decision_id, pk, revision_id, revision, kind, subject, trial, topology, rollback, *rest = row
    activated_at, valid_until, incident, *columns = rest
    return HeldFact(
        id=pk,
        decision_id=decision_id,
        revision_id=revision_id,
        revision=revision,
        kind=kind,
        subject=subject,
        trial=trial,
        topology=topology,
        rollback=rollback,
        activated_at=activated_at,
        valid_until=valid_until,
        incident=incident or "",
        footprint=footprint_from(*columns) if columns[0] is not None else None,
    )
