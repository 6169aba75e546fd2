"""What holds in slots as of now, or what was in force there last: for tools that mirror it.

The number of queries does not grow with the slots. Of each slot one decision speaks: the one that holds, an emergency
before what it overrides; else the one that was put into force last; else the newest.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from planner.identity_live import Said
from reviews.asked_once import moment
from reviews.clock import when
from reviews.models import Activation, Decision, DecisionState, HostReport, Person, Waiver, Workspace
from reviews.policies.host_reports import outcome_id
from reviews.policies.validity import StateNow
from reviews.selectors.in_force import ENDING, activations_of, counting_waivers, states_with
from reviews.selectors.observed import FindingCount, open_findings
from reviews.selectors.people import workspace_of_member
from reviews.selectors.reported_keys import counts_since

__all__ = ["DecisionNow", "Reported", "decisions_now", "slots_now", "workspace_slots"]


@dataclass(frozen=True, slots=True)
class Reported:
    """What hosts say of a decision that was put into force: how many count now, how many of them differ.

    A report counts while it was collected since then and not too long ago; ``last_at`` is of the newest of all.
    """

    hosts: int = 0
    differing: int = 0
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionNow:
    """A decision as of now. ``activation`` is the last one, ``waivers`` those of its trial, the last of each gate."""

    decision: Decision
    state: StateNow
    activation: Activation | None
    waivers: tuple[Waiver, ...]
    reported: Reported
    findings: FindingCount

    @property
    def holds(self) -> bool:
        """Whether it is in force."""
        return self.activation is not None and self.state.state in ENDING

    @property
    def because(self) -> str:
        """Say in a sentence why it holds or does not."""
        name, state = self.decision.label, self.state
        if self.activation is not None and self.holds:
            until = self.activation.valid_until
            end = f"until {when(until)} UTC" if until else "without an end"
            word = "in force as an emergency" if state.state == DecisionState.EMERGENCY else "in force"
            return f"{name} r{self.activation.revision.number} ({self.activation.topology}) is {word} {end}."
        label = DecisionState(state.state).label.lower()
        said = [f"{name} is {label} since {when(state.since)} UTC.", state.because]
        if self.activation is None:
            said.append("It was never in force.")
        return " ".join(filter(None, said))


def workspace_slots(*, actor: Person, workspace: Workspace) -> tuple[DecisionNow, ...]:
    """Return what holds in every slot of a workspace as of now; see ``slots_now``.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    workspace_of_member(actor, workspace.slug)
    return slots_now(workspace, moment())


def slots_now(workspace: Workspace, now: datetime, slot: str | None = None) -> tuple[DecisionNow, ...]:
    """Return every slot of a workspace, or the named one, in order of their names; none where nothing was decided."""
    named = Decision.objects.filter(workspace=workspace, **({} if slot is None else {"slot": slot}))
    ends = named.order_by().values_list("slot").annotate(Max("number"), Max("revisions__activations__pk"))
    newest = [number for _, number, last in ends if last is None]
    last = [last for _, _, last in ends if last is not None]
    chosen = Q(state__in=ENDING) | Q(number__in=newest) | Q(revisions__activations__in=last)
    decisions = list(named.filter(chosen).distinct().order_by("slot", "number"))
    found: dict[str, DecisionNow] = {}
    for one in decisions_now(workspace, decisions, now):
        known = found.get(one.decision.slot)
        if known is None or _weight(one) > _weight(known):
            found[one.decision.slot] = one
    return tuple(found.values())


def _weight(one: DecisionNow) -> tuple[bool, bool, int]:
    is_emergency = one.holds and one.state.state == DecisionState.EMERGENCY
    return one.holds, is_emergency, one.activation.pk if one.activation else -1


def decisions_now(workspace: Workspace, decisions: Sequence[Decision], now: datetime) -> list[DecisionNow]:
    """Return decisions of a workspace as of now, in their order; five queries."""
    ids = tuple(decision.pk for decision in decisions)
    activations = activations_of(ids)
    states = states_with(decisions, activations, now)
    waivers = counting_waivers(ids, activations)
    reported = _reported(workspace, {decision.slot for decision in decisions}, now)
    findings = open_findings(workspace, ids)
    return [
        DecisionNow(
            decision=decision,
            state=states[decision.pk],
            activation=activations.get(decision.pk),
            waivers=waivers.get(decision.pk, ()),
            reported=reported.get(_of(decision, activations), Reported()),
            findings=findings[decision.pk],
        )
        for decision in decisions
    ]


def _of(decision: Decision, activations: Mapping[int, Activation]) -> tuple[str, str]:
    return decision.slot, activations[decision.pk].subject if decision.pk in activations else ""


def _reported(workspace: Workspace, slots: Collection[str], now: datetime) -> Mapping[tuple[str, str], Reported]:
    """Return slot and subject -> what hosts say of it; hosts that say the same are counted in the database.

    One that flaps differs, whatever it says just now.
    """
    of_slots = HostReport.objects.filter(workspace=workspace, slot__in=slots).exclude(subject="")
    alike = of_slots.order_by().values("slot", "subject", "outcome")
    counts = Q(collected_at__gte=counts_since(now))
    counted = alike.annotate(
        counting=Count("pk", filter=counts),
        flapping=Count("pk", filter=counts & Q(flaps_since__isnull=False)),
        last_at=Max("collected_at"),
    )
    found: dict[tuple[str, str], Reported] = {}
    for slot, subject, outcome, counting, flapping, last_at in counted.values_list(
        "slot", "subject", "outcome", "counting", "flapping", "last_at"
    ):
        known = found.get((slot, subject), Reported())
        differing = counting if outcome != outcome_id(subject, Said()) else flapping
        last = max(filter(None, (known.last_at, last_at)), default=None)
        found[slot, subject] = Reported(known.hosts + counting, known.differing + differing, last)
    return found
