"""What the hosts of a slot say that runs, against what was decided for it, as of now.

Rules kept: only what was collected after the decision came into force, and not too long ago, counts; a slot matches
only while every key and every rank is reported and as decided; a host that stopped reporting is shown with its last
report and counts for nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from planner.identity_live import Decided, Together
from reviews.asked_once import moment
from reviews.clock import when
from reviews.errors import NotFoundError
from reviews.models import Activation, Decision, DecisionState, Person, Workspace
from reviews.policies.document import PolicyDocument
from reviews.policies.host_reports import WHOLE_NAME
from reviews.policies.slots import IN_FORCE, standing_for
from reviews.policies.transitions import FINAL
from reviews.policies.validity import Difference, StateNow, key_owner, owned
from reviews.selectors.decided import decided_by, owners_of
from reviews.selectors.decision_page import decision_of_member
from reviews.selectors.in_force import activations_of, states_with
from reviews.selectors.people import standing_of
from reviews.selectors.reported_keys import counts_since
from reviews.selectors.said_hosts import Host, SaidHosts, hosts_of, put_together
from reviews.selectors.slot_check import SlotCheck, difference_text, gates_past

DOCUMENTS = ("revision__contract", "revision__evidence", "revision__policy")
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

    ``keys`` and ``ranks`` are bits of the keys and ranks that it says as decided. ``is_decided``: the rank map has it.
    While it flaps (``flaps_since``) it changed what it says so often, and ``flapped`` are the keys that differed.
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
    is_decided: bool
    differences: tuple[Difference, ...]
    changes: int
    flaps_since: datetime | None
    flapped: tuple[str, ...]
    refused_because: str
    refused_at: datetime | None

    @property
    def name(self) -> str:
        """What it is called: node, host, or the whole slot."""
        return self.place or WHOLE_NAME


@dataclass(frozen=True, kw_only=True)
class LiveIdentity:
    """What runs in a slot. ``agrees``: everything is reported and as decided, whatever the decision's state is.

    ``flapping`` are hosts that count and change what they say too often, of which none is trusted.
    """

    slot: str
    held: Held | None
    decided: Decided | None
    owners: PolicyDocument | None
    said: SaidHosts
    since: datetime
    together: Together
    flapping: tuple[str, ...]
    because: str

    @property
    def agrees(self) -> bool:
        """Whether what runs is what was decided, and no host flaps."""
        return self.held is not None and self.together.matches and not self.flapping

    @property
    def matches(self) -> bool:
        """Whether what runs is what was decided, and that holds."""
        return self.agrees and self.held is not None and self.held.is_in_force

    @property
    def last_report(self) -> datetime | None:
        """When the newest report was collected."""
        return max((one.collected_at for one in self.said.hosts.values() if one.collected_at), default=None)

    @cached_property
    def differences(self) -> tuple[tuple[str, Difference], ...]:
        """Who reports what differs, in the order of hosts."""
        return tuple((name, owned(self.owners, one)) for name, one in self.together.differs) if self.owners else ()

    @cached_property
    def hosts(self) -> tuple[HostRow, ...]:
        """Every host, in the order of places."""
        return self.rows(self.said.hosts)

    def rows(self, places: Iterable[str]) -> tuple[HostRow, ...]:
        """Return hosts of these places, in their order, but for those that are not there."""
        hosts = self.said.hosts
        return tuple(_host_row(hosts[place], self) for place in places if place in hosts)

    def owner(self, key: str) -> str:
        """Return the team that owns a key."""
        return key_owner(self.owners, key) if self.owners else ""


def held_by(workspace: Workspace, slot: str, now: datetime) -> Held | None:
    """Return what holds for a slot, an emergency first; else what was in force last and may still run."""
    open_ones = Decision.objects.filter(workspace=workspace, slot=slot).exclude(state__in=FINAL)
    decisions = list(open_ones.order_by("-number"))
    activations = activations_of([row.pk for row in decisions], *DOCUMENTS) if decisions else {}
    states = states_with(decisions, activations, now)
    activated = [
        Held(decision=row, activation=activations[row.pk], now=states[row.pk])
        for row in decisions
        if row.pk in activations and states[row.pk].state not in FINAL
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
    activations = activations_of([decision.pk], *DOCUMENTS)
    if not activations:
        return _live(workspace, decision.slot, None, now)
    activation, state = activations[decision.pk], states_with([decision], activations, now)[decision.pk]
    return _live(workspace, decision.slot, Held(decision=decision, activation=activation, now=state), now)


def live_slot(workspace: Workspace, slot: str, now: datetime) -> LiveIdentity:
    """Return what runs in a slot without asking who asks; see ``live_of_slot``."""
    return _live(workspace, slot, held_by(workspace, slot, now), now)


def _live(workspace: Workspace, slot: str, held: Held | None, now: datetime) -> LiveIdentity:
    said, since = hosts_of(workspace, slot), counts_since(now)
    if held is None:
        return LiveIdentity(
            slot=slot,
            held=None,
            decided=None,
            owners=None,
            said=said,
            since=since,
            together=NEVER,
            flapping=(),
            because=f"Nothing was put into force for {slot}.",
        )
    decided, owners = decided_by(held.activation), owners_of(held.activation)
    counting = [one for one in said.hosts.values() if _counts(one, held, since)]
    whole = put_together(workspace, slot, decided, {one.name: one.said for one in counting if one.said is not None})
    flapping = [one for one in counting if one.flaps_since is not None]
    return LiveIdentity(
        slot=slot,
        held=held,
        decided=decided,
        owners=owners,
        said=said,
        since=since,
        together=whole,
        flapping=tuple(one.name for one in flapping),
        because=_because(held, decided, whole, said, flapping, owners=owners, is_heard=bool(counting)),
    )


def _is_compared(one: Host, held: Held | None) -> bool:
    return held is not None and one.said is not None and one.subject == held.activation.subject


def _counts(one: Host, held: Held | None, since: datetime) -> bool:
    return _is_compared(one, held) and one.collected_at is not None and one.collected_at >= since


def _host_row(one: Host, live: LiveIdentity) -> HostRow:
    said = one.said if _is_compared(one, live.held) else None
    owners = live.owners
    return HostRow(
        place=one.place,
        host=one.host,
        collected_at=one.collected_at,
        received_at=one.received_at,
        since=one.since,
        sha256=one.sha256,
        keys=said.keys if said else 0,
        ranks=said.ranks if said else 0,
        is_fresh=_counts(one, live.held, live.since),
        is_compared=said is not None,
        is_decided=live.decided is None or not one.place or one.place in live.decided.places,
        differences=tuple(owned(owners, each) for each in said.differs) if said and owners else (),
        changes=one.changes,
        flaps_since=one.flaps_since if said else None,
        flapped=one.flapped if said else (),
        refused_because=one.refused_because,
        refused_at=one.refused_at,
    )


def _because(
    held: Held,
    decided: Decided,
    whole: Together,
    said: SaidHosts,
    flapping: Sequence[Host],
    *,
    owners: PolicyDocument,
    is_heard: bool,
) -> str:
    """Say in a sentence how the slot stands to what was decided."""
    ended = "" if held.is_in_force else f"{held.name} is {DecisionState(held.state).label.lower()}. "
    name = ended or f"{held.name}: "
    if whole.differs:
        who, first = whole.differs[0]
        # Keys are counted, as differences are elsewhere, and not who says so.
        others = len({one.key for _, one in whole.differs}) - 1
        more = f" And {others:,} more." if others else ""
        who = who.capitalize() if ended and who == WHOLE_NAME else who
        return f"{name}{who}: {difference_text(owned(owners, first))}{more}"
    if flapping:
        return f"{name}{_flapping(flapping)}"
    if whole.matches:
        return f"{ended}What runs is what was decided." if ended else f"{held.name} is in force and matches."
    if not is_heard:
        times = (one.collected_at for one in said.hosts.values() if _is_compared(one, held) and one.collected_at)
        return f"{name}{_silent(max(times, default=None))}"
    return f"{name}{_lacking(decided, whole)}"


def _flapping(flapping: Sequence[Host]) -> str:
    first = flapping[0]
    more = f", and {len(flapping) - 1} more" if len(flapping) > 1 else ""
    since = f"{when(first.flaps_since)} UTC" if first.flaps_since else ""
    return f"{first.name} flaps since {since}, with {first.changes:,} changes so far{more}."


def _silent(last: datetime | None) -> str:
    if last is not None:
        return f"No host reports any more. The last report is of {when(last)} UTC."
    return "No host has reported since it came into force."


def _lacking(decided: Decided, whole: Together) -> str:
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
        matches=check.matches and held.is_in_force and not live.flapping,
        because=live.because if check.matches and live.flapping else check.because,
        decision=held.decision,
        activation=held.activation,
        state=held.state,
        valid_until=held.activation.valid_until,
        incident=emergency.incident if emergency else "",
        failing_gates=gates_past(emergency) if emergency else (),
    )
