"""Fetches what the rules of reviewing ask about any number of decisions, and lets them judge."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q, Subquery

from planner.canonical import content_id
from reviews.asked_once import moment
from reviews.blobs import blob_read, checked
from reviews.clock import when
from reviews.facts import Member, Newest, ScopeFact
from reviews.models import (
    Activation,
    ActivationKind,
    Blob,
    Decision,
    DecisionState,
    Policy,
    Revision,
    SignOff,
    TeamScope,
    Workspace,
)
from reviews.planning import decode_plan
from reviews.policies.document import PolicyDocument, quorums, read_policy
from reviews.policies.requirements import (
    Approval,
    Case,
    Requirement,
    judge_approval,
    judge_requirements,
    overridden,
)
from reviews.policies.scope import ScopeChange, scope_change
from reviews.policies.signoff_status import AGAINST, OBJECT, JudgedSignOff, judge_signoff
from reviews.policies.waiving import chosen_trial
from reviews.selectors.people import team_roster
from reviews.selectors.revisions import revision_row, revisions_of, row_parts
from reviews.selectors.rows import Objection, RevisionRow
from reviews.selectors.signoff_facts import StoredSignOffs, signoff_facts, stored_signoffs
from reviews.selectors.thread_blockers import Blockers, blockers_of_teams, thread_blockers
from reviews.selectors.waivers import waived_gates, waivers_of

UNDER_REVIEW = (
    DecisionState.DRAFT,
    DecisionState.EVALUATING,
    DecisionState.EVALUATION_FAILED,
    DecisionState.IN_REVIEW,
    DecisionState.EMERGENCY,
)
"""States in which a change of the workspace's policy asks for a new revision; what is in force keeps its own."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say about one decision's newest revision; ``signoffs`` pairs each stored row with its status.

    ``requirements`` are as they are shown: in an emergency what blocks is overridden. ``approval`` never is. ``stored``
    holds what happened to the sign-offs: carries, conditions, follow-ups.
    """

    newest: RevisionRow
    document: PolicyDocument
    author_ids: frozenset[int]
    signoffs: tuple[tuple[SignOff, JudgedSignOff], ...]
    requirements: tuple[Requirement, ...]
    approval: Approval
    stored: StoredSignOffs

    def owed_by_person(self, person_id: int, members: Sequence[Member]) -> tuple[str, ...]:
        """Return the teams for which the person could give a missing approval now."""
        if person_id in self.author_ids or self.newest.plan is None:
            return ()
        if any(row.person_id == person_id and judged.counts for row, judged in self.signoffs):
            return ()
        mine = {member.team for member in members if member.person_id == person_id and member.is_active}
        return tuple(
            r.team
            for r in self.requirements
            if r.status in ("UNSATISFIED", "OVERRIDDEN") and not r.is_answered_by_author and r.team in mine
        )

    @property
    def objections(self) -> tuple[Objection, ...]:
        """What the author is asked to answer, newest first."""
        return tuple(
            Objection(row.team.slug, row.person.display_name, row.meaning, row.statement)
            for row, judged in self.signoffs
            if judged.counts and (row.meaning in AGAINST or row.meaning == OBJECT)
        )

    def is_answered_by(self, person_id: int) -> bool:
        """Whether the person is an author of the decision, and a team or a change of the policy asks them for the next
        revision."""
        asked = bool(self.objections) or any(row.blocks and row.is_answered_by_author for row in self.requirements)
        return asked and person_id in self.author_ids


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was fetched to judge some decisions; the keys are ids of decisions, revisions or policies."""

    now: datetime
    members: tuple[Member, ...]
    admins: tuple[str, ...]
    signers: frozenset[int]
    authors: Mapping[int, frozenset[int]]
    signoffs: StoredSignOffs
    documents: Mapping[int, PolicyDocument]
    policy_in_force: str | None
    scopes: Mapping[int, Mapping[str, TeamScope]]
    waivers: Mapping[int, str]
    emergencies: Mapping[int, tuple[str, datetime]]
    blockers: Mapping[int, Blockers]


def judge_decisions(
    workspace: Workspace, decision_ids: Iterable[int], *, name_changes: bool = False
) -> tuple[dict[int, Judgement], tuple[Member, ...]]:
    """Return decision id -> judgement of the decision's newest revision, and the team members.

    The number of queries is the same however many decisions. ``name_changes`` looks up which items of a scope moved
    under a stale sign-off, which reads the items of all its revisions.
    """
    return judge_revisions(workspace, revisions_of(tuple(sorted(set(decision_ids)))), name_changes=name_changes)


def judge_revisions(
    workspace: Workspace, revisions: Sequence[Revision], *, name_changes: bool = False
) -> tuple[dict[int, Judgement], tuple[Member, ...]]:
    """Do the same of decisions of which these are all revisions, in order of their numbers."""
    newest = list({revision.decision_id: revision for revision in revisions}.values())
    found = fetched(workspace, newest, revisions, with_signed_scopes=name_changes)
    changes = _changes(newest, found) if name_changes else {}
    return {revision.decision_id: _judge(revision, found, changes) for revision in newest}, found.members


def fetched(
    workspace: Workspace,
    newest: Sequence[Revision],
    revisions: Sequence[Revision],
    *,
    with_signed_scopes: bool = False,
) -> Found:
    """Fetch what judging the newest revisions of some decisions takes; ``revisions`` are all of theirs.

    ``with_signed_scopes``: the scopes of revisions that were signed too, which naming changes takes.
    """
    decision_ids = [revision.decision_id for revision in newest]
    now = moment()
    roster = team_roster(workspace, now)
    signoffs = stored_signoffs(revisions)
    signed = [row.revision_id for rows in signoffs.rows.values() for row in rows] if with_signed_scopes else []
    documents, in_force = _policies(workspace, {revision.policy_id for revision in newest})
    return Found(
        now=now,
        members=roster.members,
        admins=roster.admins,
        signers=roster.signers,
        authors=authors(revisions),
        signoffs=signoffs,
        documents=documents,
        policy_in_force=in_force,
        scopes=_scopes({*(revision.pk for revision in newest), *signed}),
        waivers=waiver_digests(decision_ids, now),
        emergencies=_emergencies(newest),
        blockers=thread_blockers(revisions),
    )


def author_ids(decision: Decision) -> frozenset[int]:
    """Return everyone who ever made a revision in the decision, or uploaded a contract or evidence of one."""
    revisions = Revision.objects.filter(decision=decision).select_related("contract", "evidence")
    return authors(revisions)[decision.pk]


def authors(revisions: Iterable[Revision]) -> Mapping[int, frozenset[int]]:
    """Return decision -> everyone who made one of these revisions, or uploaded a contract or evidence of one."""
    found: dict[int, frozenset[int]] = defaultdict(frozenset)
    for row in revisions:
        found[row.decision_id] |= {row.author_id, row.contract.stored_by_id, row.evidence.stored_by_id}
    return found


def waiver_digests(decision_ids: Iterable[int], now: datetime) -> Mapping[int, str]:
    """Return decision id -> the digest of its waivers in force; decisions without any are left out."""
    waived: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in waivers_of(tuple(decision_ids)):
        if row.ends_at > now:
            waived[row.decision_id].append({"trial": row.trial, "gate": row.gate, "waiver": row.pk})
    return {decision_id: content_id(rows) for decision_id, rows in waived.items()}


def _policies(workspace: Workspace, policy_ids: Collection[int]) -> tuple[dict[int, PolicyDocument], str | None]:
    """Return the policies by id, and the content id of the workspace's newest one."""
    newest = Policy.objects.filter(workspace=workspace).order_by("-version").values("pk")[:1]
    found = Policy.objects.filter(Q(pk__in=policy_ids) | Q(pk__in=Subquery(newest))).select_related("blob")
    rows = list(found.order_by("version"))
    documents = {
        policy.pk: read_policy(checked(bytes(policy.blob.data), policy.blob_id, "policy"))
        for policy in rows
        if policy.pk in policy_ids
    }
    return documents, rows[-1].content_id if rows else None


def _scopes(revision_ids: Iterable[int]) -> Mapping[int, Mapping[str, TeamScope]]:
    """Return revision id -> team -> its scope, for planned revisions."""
    scopes: dict[int, dict[str, TeamScope]] = defaultdict(dict)
    rows = TeamScope.objects.filter(basis__planned__revision_id__in=list(revision_ids))
    for row in rows.select_related("basis__planned").order_by():
        scopes[row.basis.planned.revision_id][row.team] = row
    return scopes


def _emergencies(newest: Sequence[Revision]) -> Mapping[int, tuple[str, datetime]]:
    """Return decision id -> incident and end of the emergency that it is in; asked only where one is."""
    declared = [row.decision_id for row in newest if row.decision.state == DecisionState.EMERGENCY]
    if not declared:
        return {}
    activations = Activation.objects.filter(
        kind=ActivationKind.EMERGENCY, revision__decision_id__in=declared, valid_until__isnull=False
    ).select_related("emergency", "revision")
    return {
        row.revision.decision_id: (row.emergency.incident, row.valid_until) for row in activations if row.valid_until
    }


def _changes(newest: Sequence[Revision], found: Found) -> Mapping[int, ScopeChange]:
    """Return sign-off id -> how what its team owns moved since it was given."""
    wanted = [
        (row, found.scopes[revision.pk][row.team.slug])
        for revision in newest
        for row in found.signoffs.rows.get(revision.decision_id, ())
        if row.revision_id != revision.pk and row.team.slug in found.scopes.get(revision.pk, ())
    ]
    pairs = [
        (row.pk, found.scopes[row.revision_id][row.team.slug], scope)
        for row, scope in wanted
        if row.team.slug in found.scopes.get(row.revision_id, ())
    ]
    moved = {scope.items_id for _, *scopes in pairs for scope in scopes if scopes[0].digest != scopes[1].digest}
    items = {sha256: _items(blob) for sha256, blob in Blob.objects.in_bulk(moved).items()} if moved else {}
    return {
        pk: scope_change(items[earlier.items_id], items[later.items_id])
        for pk, earlier, later in pairs
        if earlier.items_id in items
    }


def _items(blob: Blob) -> dict[str, str]:
    found: dict[str, str] = msgspec.json.decode(checked(bytes(blob.data), blob.sha256, "scope"), type=dict[str, str])
    return found


def newest_fact(revision: Revision, found: Found) -> Newest:
    """Return a newest revision as the rules see it."""
    row = revision_row(revision)
    scopes = found.scopes.get(revision.pk)
    basis = next(iter(scopes.values())).basis if scopes else None
    return Newest(
        parts=row_parts(row),
        author=row.author,
        since=row.planned_at or row.made_at,
        now=found.now,
        scopes={team: ScopeFact(team, scope.digest, scope.is_touched) for team, scope in scopes.items()}
        if scopes
        else None,
        evidence_until=basis.evidence_until if basis else None,
        policy_in_force=found.policy_in_force if revision.decision.state in UNDER_REVIEW else None,
        waivers=found.waivers.get(revision.decision_id, ""),
        is_past_review=revision.decision.state not in UNDER_REVIEW,
    )


def _decision_word(revision: Revision, row: RevisionRow, found: Found) -> str | None:
    """Return what the plan decides; a candidate that waivers let pass is a selection. Read only where there are any."""
    if row.plan is None or revision.decision_id not in found.waivers or row.plan.decision_word == "SELECT_TOPOLOGY":
        return row.plan.decision_word if row.plan else None
    plan = decode_plan(blob_read(revision.planned.plan.blob_id, "plan"))
    chosen = chosen_trial(plan, waived_gates(revision.decision_id, found.now))
    return row.plan.decision_word if chosen is None else "SELECT_TOPOLOGY"


def _judge(revision: Revision, found: Found, changes: Mapping[int, ScopeChange]) -> Judgement:
    newest, authors = newest_fact(revision, found), found.authors[revision.decision_id]
    document = found.documents[revision.policy_id]
    judged = [
        judge_signoff(fact, newest=newest, members=found.members, author_ids=authors, change=changes.get(fact.id))
        for fact in signoff_facts(found.signoffs, revision, found.signers)
    ]
    case = Case(
        quorums=quorums(document),
        newest=newest,
        judged=judged,
        members=found.members,
        author_ids=authors,
        blockers=blockers_of_teams(
            found.blockers.get(revision.decision_id, {}), document.teams, document.fallback_owner
        ),
        admins=found.admins,
    )
    requirements = judge_requirements(case)
    row = revision_row(revision)
    approval = judge_approval(requirements, judged, decision_word=_decision_word(revision, row, found))
    if revision.decision_id in found.emergencies:
        incident, until = found.emergencies[revision.decision_id]
        requirements = overridden(requirements, incident=incident, until=f"{when(until)} UTC")
    return Judgement(
        newest=row,
        document=document,
        author_ids=authors,
        signoffs=tuple(zip(found.signoffs.rows.get(revision.decision_id, ()), judged, strict=True)),
        requirements=requirements,
        approval=approval,
        stored=found.signoffs,
    )
