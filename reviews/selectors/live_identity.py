"""What the hosts of a slot say that runs, against what was decided for it, as of now.

Rules kept: only what was collected after the decision came into force, and not too long ago, counts; a slot matches
only while every key and every rank is reported and as decided; a host that stopped reporting is shown with its last
report and counts for nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from planner.identity_live import Decided, Said, Together, together
from reviews.asked_once import moment
from reviews.errors import NotFoundError
from reviews.models import Activation, Decision, DecisionState, HostReport, Person, Workspace
from reviews.policies.document import PolicyDocument
from reviews.policies.host_reports import WHOLE_NAME
from reviews.policies.slots import IN_FORCE, standing_for
from reviews.policies.transitions import FINAL
from reviews.policies.validity import Difference, StateNow, key_owner, owned
from reviews.selectors.decided import decided_by, owners_of
from reviews.selectors.decision_page import decision_of_member
from reviews.selectors.in_force import activations_of, states_now
from reviews.selectors.people import standing_of
from reviews.selectors.reported_keys import counts_since
from reviews.selectors.said_hosts import said_by_row
from reviews.selectors.slot_check import SlotCheck, difference_text, gates_past

NEVER = Together((), (), (), (), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a slot was given last: a decision with its activation, and its state as of now."""

    decision: Decision
    activation: Activation
    now: StateNow

    @property
    def state(self) -> str:
        """The state as of now."""
        return self.now.state

    @property
    def is_activated(self) -> bool:
        """Always: it has an activation."""
        return True

    @property
    def is_in_force(self) -> bool:
        """Whether it may be matched."""
        return self.state in IN_FORCE

    @property
    def name(self) -> str:
        """The decision with revision and topology."""
        return f"{self.decision.label} r{self.activation.revision.number} ({self.activation.topology})"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """A host with its last report. ``is_compared``: it is of what holds now; ``is_fresh``: and it counts still.

    ``keys`` and ``ranks`` are bits of the keys and ranks that it says as decided.
    """

    place: str
    host: str
    collected_at: datetime | None
    received_at: datetime
    since: datetime
    sha256: str
    keys: int
    ranks: int
    is_fresh: bool
    is_compared: bool
    differences: tuple[Difference, ...]
    refused_because: str
    refused_at: datetime | None

    @property
    def name(self) -> str:
        """What it is called: node, host, or the whole slot."""
        return self.place or WHOLE_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveIdentity:
    """What runs in a slot. ``agrees``: everything is reported and as decided, whatever the decision's state is."""

    slot: str
    held: Held | None
    decided: Decided | None
    owners: PolicyDocument | None
    hosts: tuple[HostRow, ...]
    together: Together
    because: str

    @property
    def agrees(self) -> bool:
        """Whether what runs is what was decided."""
        return self.held is not None and self.together.matches

    @property
    def matches(self) -> bool:
        """Whether what runs is what was decided, and that holds."""
        return self.agrees and self.held is not None and self.held.is_in_force

    @property
    def last_report(self) -> datetime | None:
        """When the newest report was collected."""
        return max((row.collected_at for row in self.hosts if row.collected_at), default=None)

    @property
    def differences(self) -> tuple[tuple[str, Difference], ...]:
        """Who reports what differs, in the order of hosts."""
        fresh = (row for row in self.hosts if row.is_fresh)
        return tuple((row.name, one) for row in fresh for one in row.differences)

    def owner(self, key: str) -> str:
        """Return the team that owns a key."""
        return key_owner(self.owners, key) if self.owners else ""


def held_by(workspace: Workspace, slot: str, now: datetime) -> Held | None:
    """Return what holds for a slot, an emergency first; else what was in force last and may still run."""
    decisions = list(Decision.objects.filter(workspace=workspace, slot=slot).order_by("-number"))
    states = states_now(decisions, now)
    going_on = [row for row in decisions if states[row.pk].state not in FINAL]
    activations = activations_of([row.pk for row in going_on]) if going_on else {}
    activated = [
        Held(decision=row, activation=activations[row.pk], now=states[row.pk])
        for row in going_on
        if row.pk in activations
    ]
    return standing_for(activated)[0] if activated else None


def live_of_slot(*, actor: Person, workspace: Workspace, slot: str) -> LiveIdentity:
    """Return what runs in a slot, to a member.

    Raises:
        NotFoundError: the actor is no member of the workspace, or it has no decision for the slot.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    standing_of(actor, workspace)
    if not Decision.objects.filter(workspace=workspace, slot=slot).exists():
        raise NotFoundError(f"There is no decision for {slot[:128]} in {workspace.slug}.")
    return live_slot(workspace, slot, moment())


def live_of_decision(*, actor: Person, workspace: Workspace, number: int) -> LiveIdentity:
    """Return what runs in a decision's slot against that decision, whether or not it is the one that holds.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    decision = decision_of_member(actor=actor, workspace=workspace, number=number)
    now = moment()
    activation = activations_of([decision.pk]).get(decision.pk)
    if activation is None:
        return _live(workspace, decision.slot, None, now)
    state = states_now([decision], now)[decision.pk]
    return _live(workspace, decision.slot, Held(decision=decision, activation=activation, now=state), now)


def live_slot(workspace: Workspace, slot: str, now: datetime) -> LiveIdentity:
    """Return what runs in a slot without asking who asks; see ``live_of_slot``."""
    return _live(workspace, slot, held_by(workspace, slot, now), now)


def _live(workspace: Workspace, slot: str, held: Held | None, now: datetime) -> LiveIdentity:
    rows = list(HostReport.objects.filter(workspace=workspace, slot=slot).defer("body", "said").order_by("place"))
    if held is None:
        hosts = tuple(_host_row(row, None, None, now) for row in rows)
        because = f"Nothing was put into force for {slot}."
        return LiveIdentity(
            slot=slot, held=None, decided=None, owners=None, hosts=hosts, together=NEVER, because=because
        )
    decided, owners = decided_by(held.activation), owners_of(held.activation)
    outcomes = said_by_row(workspace, slot, held.activation.subject, rows)
    said: dict[str, Said] = {}
    made = []
    for row in rows:
        one = outcomes.get(row.pk)
        made.append(_host_row(row, one, owners, now))
        if one is not None and made[-1].is_fresh:
            said[made[-1].name] = one
    whole = together(decided, said)
    return LiveIdentity(
        slot=slot,
        held=held,
        decided=decided,
        owners=owners,
        hosts=tuple(made),
        together=whole,
        because=_because(held, decided, whole, made, owners),
    )


def _host_row(row: HostReport, said: Said | None, owners: PolicyDocument | None, now: datetime) -> HostRow:
    return HostRow(
        place=row.place,
        host=row.host,
        collected_at=row.collected_at,
        received_at=row.received_at,
        since=row.since,
        sha256=row.sha256,
        keys=said.keys if said else 0,
        ranks=said.ranks if said else 0,
        is_fresh=said is not None and row.collected_at is not None and row.collected_at >= counts_since(now),
        is_compared=said is not None,
        differences=tuple(owned(owners, one) for one in said.differs) if said and owners else (),
        refused_because=row.refused_because,
        refused_at=row.refused_at,
    )


def _because(held: Held, decided: Decided, whole: Together, hosts: Sequence[HostRow], owners: PolicyDocument) -> str:
    """Say in a sentence how the slot stands to what was decided."""
    ended = "" if held.is_in_force else f"{held.name} is {DecisionState(held.state).label.lower()}. "
    if whole.differs:
        name, first = whole.differs[0]
        more = f" And {len(whole.differs) - 1} more." if len(whole.differs) > 1 else ""
        return f"{ended or f'{held.name}: '}{name}: {difference_text(owned(owners, first))}{more}"
    if whole.matches:
        return f"{ended}What runs is what was decided." if ended else f"{held.name} is in force and matches."
    return f"{ended or f'{held.name}: '}{_lacking(decided, whole, hosts)}"


def _lacking(decided: Decided, whole: Together, hosts: Sequence[HostRow]) -> str:
    fresh = [row for row in hosts if row.is_fresh]
    last = max((row.collected_at for row in hosts if row.is_compared and row.collected_at), default=None)
    if not fresh and last is not None:
        return f"No host reports any more. The last report is of {last:%Y-%m-%d %H:%M} UTC."
    if not fresh:
        return "No host has reported since it came into force."
    counts = [
        f"{lacking:,} of {total:,} {noun}"
        for lacking, total, noun in (
            (len(whole.open_keys), len(decided.keys), "keys"),
            (len(whole.open_places), len(decided.ranks), "ranks"),
        )
        if lacking
    ]
    if whole.open_nics:
        counts.append(f"the NIC of {len(whole.open_nics):,} of {len(decided.ranks):,} ranks")
    said = " and ".join([", ".join(counts[:-1]), *counts[-1:]] if counts[1:] else counts)
    names = ", ".join(whole.awaited[:4]) + (f" and {len(whole.awaited) - 4} more" if len(whole.awaited) > 4 else "")
    waiting = f" Waiting for {names}." if whole.awaited else ""
    return f"Not reported: {said}.{waiting}"


def check_of(live: LiveIdentity) -> SlotCheck:
    """Return the answer for a slot as a check gives it; what differs stands once for each key.

    It is of the decision that the hosts are compared with, in the state that it has now: one that ended never matches.
    """
    found = tuple({one.key: one for _, one in live.differences}.values())
    return standing(SlotCheck(slot=live.slot, matches=live.matches, because=live.because, differences=found), live)


def standing(check: SlotCheck, live: LiveIdentity) -> SlotCheck:
    """Return an answer with the decision that a slot was given last, and its state as of now."""
    held = live.held
    if held is None:
        return check
    emergency = held.activation.emergency if held.state == DecisionState.EMERGENCY else None
    return replace(
        check,
        matches=check.matches and held.is_in_force,
        decision=held.decision,
        activation=held.activation,
        state=held.state,
        valid_until=held.activation.valid_until,
        incident=emergency.incident if emergency else "",
        failing_gates=gates_past(emergency) if emergency else (),
    )
