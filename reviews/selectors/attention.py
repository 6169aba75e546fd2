"""Who is told about an entry of the log: the attention set. Whoever owes something, is asked or named; nobody else.

Never the person who acted, nobody who left the workspace or whose account is closed. The number of queries does not
grow with the entries.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviews.facts import Member
from reviews.models import AuditEntry, Decision, Membership, Mention, Person, Proposal, Revision, Workspace
from reviews.models.notices import NoticeReason
from reviews.policies.signoff_status import AGAINST, APPROVING, OBJECT
from reviews.selectors.judgement import Judgement, judge_decisions
from reviews.selectors.turns import is_released_by

ASKING = ("revision.planned", "re_review.asked", "signoff.withdrawn", "emergency.declared")
"""After these, whoever could give a missing approval is asked to."""
TELLING = (
    "revision.not_planned",
    "identity.differs",
    "decision.activated",
    "decision.closed",
    "decision.contested",
    "decision.expired",
    "decision.ran_out",
    "decision.rejected",
    "decision.revoked",
    "decision.rolled_back",
    "decision.stale",
    "emergency.declared",
)
"""These change what a decision is; its author is told."""
OBSERVED = ("observations.breached", "observations.drifted", "observations.cleared")
"""Of these the decision's author is told, and the teams whose limits they are about; who reported is a machine."""
TO_WEBHOOKS = ("decision.superseded",)
"""These end what held in a slot by an act that everybody concerned is told of anyway; only webhooks are told."""
NOTABLE = frozenset({*ASKING, *TELLING, *TO_WEBHOOKS, *OBSERVED, "signoff.given", "comments.published"})


@dataclass(frozen=True, slots=True)
class Said:
    """An entry, and what of it only its bytes say.

    ``teams``: whose limits or keys it is about, none elsewhere; ``proposal``: the id of the one that it is about.
    """

    entry: AuditEntry
    meaning: str
    reason: str
    teams: frozenset[str] = frozenset()
    proposal: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """An entry with what it is about, who made it, and person id -> why they are told; empty where nobody is.

    A proposal to change the policy is about no decision.
    """

    said: Said
    decision: Decision | None
    actor: Person | None
    people: Mapping[int, NoticeReason]
    proposal: Proposal | None = None


def told_by(workspace: Workspace, entries: Sequence[Said]) -> list[Told]:
    """Return who is told about notable entries, in their order."""
    numbers = {said.entry.decision_number for said in entries if said.entry.decision_number is not None}
    decisions = {row.number: row for row in Decision.objects.filter(workspace=workspace, number__in=numbers)}
    judged, members = judge_decisions(workspace, [row.pk for row in decisions.values()])
    authors = dict(_newest_authors(judged))
    tokens = {said.entry.actor_token for said in entries} - {""}
    actors = {person.token: person for person in Person.objects.filter(token__in=tokens)}
    present = set(
        Membership.objects.filter(workspace=workspace, person__is_active=True).values_list("person_id", flat=True)
    )
    mentioned = _mentioned(decisions.values(), [said.entry.seq for said in entries])
    told = []
    for said in entries:
        decision = decisions.get(said.entry.decision_number or 0)
        if decision is None:
            continue
        actor = None if said.entry.action in OBSERVED else actors.get(said.entry.actor_token)
        reasons = _reasons(
            said, judged[decision.pk], members, authors[decision.pk], mentioned[decision.pk, said.entry.seq]
        )
        people: dict[int, NoticeReason] = {}
        for person, why in reasons:
            if person in present and (actor is None or person != actor.pk):
                people.setdefault(person, why)
        told.append(Told(said, decision, actor, people))
    return told


def told_nobody(workspace: Workspace, entries: Sequence[Said]) -> list[Told]:
    """Return notable entries that are told to webhooks alone: nobody can be judged, but what holds did change."""
    numbers = {said.entry.decision_number for said in entries if said.entry.decision_number is not None}
    decisions = {row.number: row for row in Decision.objects.filter(workspace=workspace, number__in=numbers)}
    found = ((said, decisions.get(said.entry.decision_number or 0)) for said in entries)
    return [Told(said, decision, None, {}) for said, decision in found if decision is not None]


def _newest_authors(judged: Mapping[int, Judgement]) -> Iterator[tuple[int, int]]:
    """Yield decision id and who made its newest revision."""
    newest = {judgement.newest.id: decision_id for decision_id, judgement in judged.items()}
    for revision_id, author_id in Revision.objects.filter(pk__in=newest).values_list("pk", "author_id"):
        yield newest[revision_id], author_id


def _mentioned(decisions: Iterable[Decision], seqs: list[int]) -> Mapping[tuple[int, int], list[int]]:
    """Return (decision id, seq) -> the people who are named in the comments of an entry."""
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    rows = Mention.objects.filter(comment__thread__decision__in=list(decisions), comment__entry__in=seqs)
    for decision, seq, person in rows.values_list("comment__thread__decision_id", "comment__entry", "person_id"):
        found[decision, seq].append(person)
    return found


def _reasons(
    said: Said, judgement: Judgement, members: Sequence[Member], author: int, mentioned: Iterable[int]
) -> Iterator[tuple[int, NoticeReason]]:
    """Yield people with a reason to be told, the reasons that weigh most first."""
    action, is_newest = said.entry.action, said.entry.revision_number in (None, judgement.newest.number)
    if action == "revision.planned" and is_newest:
        yield from ((person, NoticeReason.OUTDATED) for person in _outdated(judgement))
    if action in ASKING and is_newest:
        yield from ((person, NoticeReason.TURN) for person in _owing(judgement, members, said.entry.team))
    if action == "signoff.given" and (said.meaning in AGAINST or said.meaning == OBJECT):
        yield author, NoticeReason.TURN
    if action == "signoff.given" and said.meaning in APPROVING and judgement.approval.approved:
        if judgement.document.duties.release:
            people = {member.person_id for member in members}
            yield from ((person, NoticeReason.TURN) for person in people if is_released_by(judgement, person, members))
        yield author, NoticeReason.AUTHOR
    if action == "comments.published":
        yield from ((person, NoticeReason.MENTIONED) for person in mentioned)
    yield from _owning(members, said.teams)
    if action in (*TELLING, *OBSERVED):
        yield author, NoticeReason.AUTHOR


def differing_teams(payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the teams that own what an identity report found to differ."""
    reports = payload.get("reports", (payload,))
    return frozenset(one["team"] for report in reports for one in report.get("differences", ()))


def _owing(judgement: Judgement, members: Sequence[Member], team: str) -> Iterator[int]:
    """Yield who could give a missing approval; of one team where the entry is about one."""
    for person in sorted({member.person_id for member in members}):
        owed = judgement.owed_by_person(person, members)
        if team in owed if team else owed:
            yield person


def _owning(members: Sequence[Member], teams: Container[str]) -> Iterator[tuple[int, NoticeReason]]:
    """Yield the members of teams, who are not switched off."""
    for person in sorted({member.person_id for member in members if member.team in teams and member.is_active}):
        yield person, NoticeReason.OWNER


def _outdated(judgement: Judgement) -> Iterator[int]:
    """Yield whose sign-off counted on the revision before and does not on the newest one."""
    before = judgement.newest.number - 1
    for row, judged in judgement.signoffs:
        carries = judgement.stored.carries.get(row.pk, ())
        counted = row.revision.number == before or any(carry.revision.number == before for carry in carries)
        if judged.status == "STALE" and counted:
            yield row.person_id
