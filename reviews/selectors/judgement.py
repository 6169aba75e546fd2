"""Fetches what the rules of reviewing ask about any number of decisions, and lets them judge."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reviews.blobs import checked
from reviews.facts import Member, SignOffFact, SubjectParts
from reviews.models import Policy, Revision, SignOff, Workspace
from reviews.policies.document import PolicyDocument, asked_teams, read_policy
from reviews.policies.requirements import (
    AGAINST,
    Approval,
    JudgedSignOff,
    Requirement,
    judge_approval,
    judge_requirements,
    judge_signoff,
)
from reviews.selectors.people import team_members
from reviews.selectors.revisions import revision_row, row_parts, with_digests
from reviews.selectors.rows import Objection, RevisionRow


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say about one decision's newest revision; ``signoffs`` pairs each stored row with its status."""

    newest: RevisionRow
    document: PolicyDocument
    author_ids: frozenset[int]
    signoffs: tuple[tuple[SignOff, JudgedSignOff], ...]
    requirements: tuple[Requirement, ...]
    approval: Approval

    def owed_by_person(self, person_id: int, members: Sequence[Member]) -> tuple[str, ...]:
        """Return the teams for which the person could give a missing approval now."""
        if person_id in self.author_ids or self.newest.plan is None:
            return ()
        if any(_is_given_by(row, judged, person_id) for row, judged in self.signoffs):
            return ()
        mine = {member.team for member in members if member.person_id == person_id and member.is_active}
        return tuple(
            r.team
            for r in self.requirements
            if r.status == "UNSATISFIED" and not r.is_answered_by_author and r.team in mine
        )

    @property
    def objections(self) -> tuple[Objection, ...]:
        """What the author is asked to answer, newest first."""
        teams = {r.team for r in self.requirements if r.is_answered_by_author}
        return tuple(
            Objection(row.team.slug, row.person.display_name, row.meaning, row.statement)
            for row, judged in self.signoffs
            if judged.status == "CURRENT" and row.meaning in AGAINST and row.team.slug in teams
        )

    def is_answered_by(self, person_id: int) -> bool:
        """Whether the person is an author of the decision and something was asked of its newest revision."""
        return person_id in self.author_ids and bool(self.objections)


def _is_given_by(row: SignOff, judged: JudgedSignOff, person_id: int) -> bool:
    return row.person_id == person_id and judged.status == "CURRENT"


def judge_decisions(
    workspace: Workspace, newest: Sequence[Revision]
) -> tuple[dict[int, Judgement], tuple[Member, ...]]:
    """Return decision id -> judgement for newest revisions fetched by ``with_digests``, and the team members.

    Six queries, however many decisions.
    """
    decision_ids = [revision.decision_id for revision in newest]
    members = team_members(workspace)
    authors: dict[int, set[int]] = defaultdict(set)
    for decision_id, author_id in Revision.objects.filter(decision_id__in=decision_ids).values_list(
        "decision_id", "author_id"
    ):
        authors[decision_id].add(author_id)
    signoffs = _signoffs(decision_ids)
    documents = _policies({revision.policy_id for revision in newest})
    judged = {
        revision.decision_id: _judge(
            revision,
            documents[revision.policy_id],
            signoffs[revision.decision_id],
            members=members,
            author_ids=frozenset(authors[revision.decision_id]),
        )
        for revision in newest
    }
    return judged, members


def _policies(policy_ids: Iterable[int]) -> Mapping[int, PolicyDocument]:
    policies = Policy.objects.filter(pk__in=set(policy_ids)).select_related("blob")
    return {policy.pk: read_policy(checked(bytes(policy.blob.data), policy.blob_id, "policy")) for policy in policies}


def _signoffs(decision_ids: Iterable[int]) -> Mapping[int, list[SignOff]]:
    """Return the sign-offs of every revision, newest first, with the revisions they were given on."""
    by_decision: dict[int, list[SignOff]] = defaultdict(list)
    rows = SignOff.objects.filter(revision__decision_id__in=list(decision_ids)).select_related(
        "team", "person", "withdrawal", "revision"
    )
    signed_ids = {row.revision_id for row in rows}
    revisions = with_digests(Revision.objects.filter(pk__in=signed_ids)).in_bulk()
    for row in sorted(rows, key=lambda row: -row.pk):
        row.revision = revisions[row.revision_id]
        by_decision[row.revision.decision_id].append(row)
    return by_decision


def _judge(
    revision: Revision,
    document: PolicyDocument,
    signoffs: Sequence[SignOff],
    *,
    members: tuple[Member, ...],
    author_ids: frozenset[int],
) -> Judgement:
    newest = revision_row(revision)
    parts = row_parts(newest)
    facts = _facts(signoffs)
    judged = [judge_signoff(fact, newest=parts, members=members, author_ids=author_ids) for fact in facts]
    requirements = judge_requirements(
        asked_teams(document), judged, members=members, author_ids=author_ids, author=newest.author
    )
    word = newest.plan.decision_word if newest.plan else None
    return Judgement(
        newest=newest,
        document=document,
        author_ids=author_ids,
        signoffs=tuple(zip(signoffs, judged, strict=True)),
        requirements=requirements,
        approval=judge_approval(requirements, judged, decision_word=word),
    )


def _facts(signoffs: Sequence[SignOff]) -> list[SignOffFact]:
    latest: dict[tuple[int, int, int], int] = {}
    for row in signoffs:
        seat = (row.revision_id, row.team_id, row.person_id)
        latest[seat] = max(latest.get(seat, 0), row.turn)
    return [
        SignOffFact(
            id=row.pk,
            revision=row.revision.number,
            team=row.team.slug,
            person_id=row.person_id,
            meaning=row.meaning,
            signed=_signed_parts(row),
            is_latest=row.turn == latest[row.revision_id, row.team_id, row.person_id],
            is_withdrawn=hasattr(row, "withdrawal"),
        )
        for row in signoffs
    ]


def _signed_parts(row: SignOff) -> SubjectParts:
    return row_parts(revision_row(row.revision))
