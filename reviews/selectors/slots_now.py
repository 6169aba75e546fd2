"""What holds in slots as of now, or what was in force there last: for tools that mirror it.

The number of queries does not grow with the slots. Of each slot one decision speaks: the one that holds, an emergency
before what it overrides; else the one that was put into force last; else the newest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.db.models import Max, Q

from reviews.asked_once import moment
from reviews.models import Activation, Decision, DecisionState, IdentityReport, Person, Waiver, Workspace
from reviews.policies.validity import StateNow
from reviews.selectors.in_force import ENDING, activations_of, states_with
from reviews.selectors.observed import FindingCount, open_findings
from reviews.selectors.people import workspace_of_member
from reviews.selectors.waivers import waivers_of

__all__ = ["DecisionNow", "Differing", "decisions_now", "slots_now", "workspace_slots"]


HOW = {"differs": "differs", "missing": "is missing", "unknown": "is unknown"}


class Differing(msgspec.Struct, frozen=True):
    """A key of the decided identity that a machine did not show, as an identity report keeps it."""

    key: str
    how: str
    team: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionNow:
    """A decision as of now. ``activation`` is the last one; ``waivers`` are those of its trial, the last of each gate.

    ``report`` is what a machine of the slot said last, compared with this decision or with nothing; ``compared`` the
    last of those that were compared with this decision. Both were made since it was put into force, or are None.
    """

    decision: Decision
    state: StateNow
    activation: Activation | None
    waivers: tuple[Waiver, ...]
    report: IdentityReport | None
    compared: IdentityReport | None
    findings: FindingCount

    @property
    def holds(self) -> bool:
        """Whether it is in force."""
        return self.activation is not None and self.state.state in ENDING

    @property
    def differences(self) -> tuple[Differing, ...]:
        """The keys that differed when a machine was compared with this decision last."""
        named = self.compared.differences if self.compared else ""
        return tuple(msgspec.json.decode(named, type=list[Differing])) if named else ()

    @property
    def because(self) -> str:
        """Say in a sentence why it holds or does not."""
        name, state = self.decision.label, self.state
        if self.activation is not None and self.holds:
            until = self.activation.valid_until
            end = f"until {until:%Y-%m-%d %H:%M} UTC" if until else "without an end"
            word = "in force as an emergency" if state.state == DecisionState.EMERGENCY else "in force"
            return f"{name} r{self.activation.revision.number} ({self.activation.topology}) is {word} {end}."
        label = DecisionState(state.state).label.lower()
        said = [f"{name} is {label} since {state.since:%Y-%m-%d %H:%M} UTC.", state.because]
        if state.state == DecisionState.STALE and self.differences and not state.because:
            first = self.differences[0]
            said.append(f"{first.key} {HOW[first.how]}. Owned by {first.team}.")
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
    waivers = _counting(waivers_of(ids), activations)
    reports = _last_reports(workspace, decisions)
    findings = open_findings(workspace, ids)
    found = []
    for decision in decisions:
        activation = activations.get(decision.pk)
        against = _since(activation, reports.get((decision.slot, decision.pk)))
        nothing = _since(activation, reports.get((decision.slot, None)))
        found.append(
            DecisionNow(
                decision=decision,
                state=states[decision.pk],
                activation=activation,
                waivers=waivers.get(decision.pk, ()),
                report=max(filter(None, (against, nothing)), key=lambda row: row.pk, default=None),
                compared=against,
                findings=findings[decision.pk],
            )
        )
    return found


def _since(activation: Activation | None, report: IdentityReport | None) -> IdentityReport | None:
    is_since = activation is not None and report is not None and report.reported_at >= activation.activated_at
    return report if is_since else None


def _counting(rows: Sequence[Waiver], activations: Mapping[int, Activation]) -> dict[int, tuple[Waiver, ...]]:
    last: dict[int, dict[str, Waiver]] = {}
    for row in sorted(rows, key=lambda row: (row.ends_at, row.pk)):
        activation = activations.get(row.decision_id)
        if activation is not None and activation.trial == row.trial:
            last.setdefault(row.decision_id, {})[row.gate] = row
    return {decision: tuple(by_gate.values()) for decision, by_gate in last.items()}


def _last_reports(
    workspace: Workspace, decisions: Sequence[Decision]
) -> Mapping[tuple[str, int | None], IdentityReport]:
    """Return slot and what a report was compared with -> the last such report."""
    ids, slots = {decision.pk for decision in decisions}, {decision.slot for decision in decisions}
    of_slots = IdentityReport.objects.filter(
        Q(decision__in=ids) | Q(decision=None), workspace=workspace, slot__in=slots
    )
    last = of_slots.order_by().values("slot", "decision").annotate(last=Max("pk")).values("last")
    return {(row.slot, row.decision_id): row for row in IdentityReport.objects.filter(pk__in=last)}
