"""Fetches what countersigning asks about any number of proposals of a workspace."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from reviews.asked_once import moment
from reviews.blobs import checked
from reviews.errors import TamperedError
from reviews.facts import Standing
from reviews.models import (
    Activation,
    Blob,
    Decision,
    DecisionState,
    Membership,
    Policy,
    Proposal,
    ProposalKind,
    Retraction,
    Revision,
    SignOff,
    Workspace,
)
from reviews.policies.document import PolicyDocument, read_policy
from reviews.selectors.in_force import states_now
from reviews.selectors.judgement import authors

Proposed = Sequence[tuple[Proposal, Mapping[str, Any]]]
"""Open proposals, each with its body."""
WITH_PLAN = (ProposalKind.WAIVER, ProposalKind.EMERGENCY)
"""What is about gates of the decision's plan."""


class _Gate(msgspec.Struct):
    family: str


class _Candidate(msgspec.Struct):
    gates: dict[str, _Gate]
    trial_content_id: str


class _Plan(msgspec.Struct):
    """Of a plan as much as the families of its gates, and what it counted, take."""

    candidates: dict[str, _Candidate]


@dataclass(frozen=True, slots=True)
class Who:
    """A member who may log in, and the teams that they lead."""

    standing: Standing
    leads: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A decision's newest policy and subject, and everybody who made a revision of it.

    ``families``: trial and gate -> family of the gate, and ``counted`` what the plan counted, where that was asked for;
    ``problem`` says that the plan is not what was stored.
    """

    document: PolicyDocument
    authors: frozenset[int]
    subject: str
    families: Mapping[tuple[str, str], str]
    counted: frozenset[str]
    problem: str

    def family(self, trial: str, gate: str) -> str:
        """Return the family of a gate; empty where the plan has no such gate."""
        return self.families.get((trial, gate), "")


@dataclass(frozen=True, slots=True)
class ObjectionFact:
    """An objection that is proposed to be lifted."""

    person: str
    team: str
    is_lifted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFacts:
    """What was fetched. ``people``, ``states`` and ``grounds`` are by id, ``people`` in order of names.

    ``targets``: slot and number -> ground of a decision to go back to; ``emergencies``: slot -> number of one that
    runs; ``retracted``: content ids; ``policy``: content id of the newest one.
    """

    now: datetime
    people: Mapping[int, Who]
    states: Mapping[int, str]
    grounds: Mapping[int, Ground]
    targets: Mapping[tuple[str, int], Ground]
    emergencies: Mapping[str, int]
    objections: Mapping[int, ObjectionFact]
    retracted: frozenset[str]
    policy: str


def proposed_body(row: Proposal) -> dict[str, Any]:
    """Return what a proposal asks; of many select ``body`` with them.

    Raises:
        TamperedError: it is not what was stored.
    """
    body: dict[str, Any] = msgspec.json.decode(checked(bytes(row.body.data), row.body_id, "proposal"))
    return body


def second_facts(workspace: Workspace, proposals: Proposed) -> SecondFacts:
    """Fetch what judging some proposals takes; nothing is asked that none of them is about."""
    now = moment()
    decisions = {row.decision.pk: row.decision for row, _ in proposals if row.decision is not None}
    targets = _targets(workspace, _named(proposals, ProposalKind.ROLLBACK, "to"))
    running = _running(workspace) if any(row.kind == ProposalKind.EMERGENCY for row, _ in proposals) else []
    states = states_now([*decisions.values(), *running], now)
    about_gates = {row.decision_id for row, _ in proposals if row.kind in WITH_PLAN}
    grounds = _grounds({*decisions, *(row.pk for row in targets)}, {*about_gates, *(row.pk for row in targets)})
    of_policy = any(row.kind == ProposalKind.POLICY for row, _ in proposals)
    return SecondFacts(
        now=now,
        people=_people(workspace),
        states={pk: found.state for pk, found in states.items()},
        grounds=grounds,
        targets={(row.slot, row.number): grounds[row.pk] for row in targets},
        emergencies={row.slot: row.number for row in running if states[row.pk].state == DecisionState.EMERGENCY},
        objections=_objections(_named(proposals, ProposalKind.LIFT_OBJECTION, "signoff")),
        retracted=_retracted(workspace) if targets else frozenset(),
        policy=_newest_policy(workspace) if of_policy else "",
    )


def _named(proposals: Proposed, kind: ProposalKind, name: str) -> set[int]:
    return {body[name] for row, body in proposals if row.kind == kind}


def _people(workspace: Workspace) -> dict[int, Who]:
    rows = Membership.objects.filter(workspace=workspace, person__is_active=True)
    found: dict[int, tuple[str, str, str]] = {}
    seats: dict[int, dict[str, bool]] = defaultdict(dict)
    columns = ("person_id", "role", "person__token", "person__display_name", "seats__team__slug", "seats__is_lead")
    for pk, role, token, name, team, is_lead in rows.order_by("person__display_name", "pk").values_list(*columns):
        found[pk] = (token, name, role)
        if team:
            seats[pk][team] = is_lead
    return {
        pk: Who(
            Standing(pk, token, name, workspace.pk, role, frozenset(seats[pk])),
            frozenset(team for team, leads in seats[pk].items() if leads),
        )
        for pk, (token, name, role) in found.items()
    }


def _targets(workspace: Workspace, numbers: set[int]) -> list[Decision]:
    """Return those decisions that were in force and were superseded."""
    if not numbers:
        return []
    was_in_force = Activation.objects.filter(revision__decision__workspace=workspace).values("revision__decision")
    rows = Decision.objects.filter(workspace=workspace, number__in=numbers, state=DecisionState.SUPERSEDED)
    return list(rows.filter(pk__in=was_in_force).order_by("number"))


def _running(workspace: Workspace) -> list[Decision]:
    return list(Decision.objects.filter(workspace=workspace, state=DecisionState.EMERGENCY).order_by("number"))


def _retracted(workspace: Workspace) -> frozenset[str]:
    rows = Retraction.objects.filter(workspace=workspace).order_by()
    return frozenset(rows.values_list("content_id", flat=True))


def _newest_policy(workspace: Workspace) -> str:
    return Policy.objects.filter(workspace=workspace).order_by("-version").values_list("content_id", flat=True)[0]


def _objections(signoff_ids: set[int]) -> dict[int, ObjectionFact]:
    if not signoff_ids:
        return {}
    rows = SignOff.objects.filter(pk__in=signoff_ids).select_related("person", "team", "withdrawal")
    return {
        row.pk: ObjectionFact(row.person.display_name, row.team.slug, hasattr(row, "withdrawal"))
        for row in rows.order_by("pk")
    }


def _grounds(decision_ids: Iterable[int], with_plan: set[int | None]) -> dict[int, Ground]:
    """Return decision id -> ground; of those ``with_plan`` the newest plan is read."""
    rows = Revision.objects.filter(decision__in=list(decision_ids)).order_by("number")
    revisions = list(rows.select_related("contract", "evidence", "policy__blob", "planned__plan"))
    made_by = authors(revisions)
    newest = {row.decision_id: row for row in revisions}
    planned = {pk: row.planned.plan.blob_id for pk, row in newest.items() if hasattr(row, "planned")}
    wanted = [blob for pk, blob in planned.items() if pk in with_plan]
    plans = dict(Blob.objects.filter(pk__in=wanted).values_list("pk", "data")) if wanted else {}
    return {
        pk: _ground(row, made_by[pk], plans.get(planned.get(pk, "")), planned.get(pk, "")) for pk, row in newest.items()
    }


def _ground(revision: Revision, made_by: frozenset[int], data: bytes | memoryview | None, blob_id: str) -> Ground:
    problem = ""
    candidates: dict[str, _Candidate] = {}
    if data is not None:
        try:
            candidates = msgspec.json.decode(checked(bytes(data), blob_id, "plan"), type=_Plan).candidates
        except TamperedError as error:
            problem = error.message
    blob = revision.policy.blob
    return Ground(
        document=read_policy(checked(bytes(blob.data), blob.sha256, "policy")),
        authors=made_by,
        subject=revision.planned.subject if hasattr(revision, "planned") else "",
        families={(trial, gate): of.family for trial, row in candidates.items() for gate, of in row.gates.items()},
        counted=frozenset({revision.evidence.content_id, *(row.trial_content_id for row in candidates.values())}),
        problem=problem,
    )
