"""Judges sign-offs: whether each still counts, what every team owes, and whether the revision is approved.

Nothing of this is stored. Rules kept: a sign-off counts only while the newest revision's subject is the one that was
signed; authors and people without a seat never count; one person counts once; a team with fewer eligible members
than its quorum blocks; no requirement at all is never an approval; at least two people have to agree.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reviews.facts import Member, SignOffFact, SubjectParts

SignOffStatus = Literal["CURRENT", "STALE", "WITHDRAWN", "VOID"]
RequirementStatus = Literal["SATISFIED", "UNSATISFIED", "UNSATISFIABLE"]
MINIMUM_PEOPLE = 2
AGAINST = {"request_changes": "Changes requested", "reject": "Rejected"}
"""Meanings of a sign-off that the author answers, as words."""

NOTHING_SELECTED = "To select a topology, measure what is missing and submit a new revision."


@dataclass(frozen=True, slots=True)
class JudgedSignOff:
    """A sign-off's status with its reason; ``keys`` names what a reason refers to (parts of the subject)."""

    fact: SignOffFact
    status: SignOffStatus
    reason: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one team owes. ``owed_by`` names people who could fill it, in order of their login.

    ``is_answered_by_author``: somebody of the team requests changes or rejects, and the author's answer is owed.
    """

    team: str
    quorum: int
    approvals: int
    status: RequirementStatus
    because: str
    owed_by: tuple[str, ...]
    is_answered_by_author: bool = False


@dataclass(frozen=True, slots=True)
class Approval:
    """Whether the newest revision is approved, and why not."""

    approved: bool
    because: str


def judge_signoff(
    fact: SignOffFact, *, newest: SubjectParts, members: Sequence[Member], author_ids: Collection[int]
) -> JudgedSignOff:
    """Say whether a sign-off counts on the newest revision."""
    if fact.is_withdrawn:
        return JudgedSignOff(fact, "WITHDRAWN")
    if not fact.is_latest:
        return JudgedSignOff(fact, "VOID", "REPLACED")
    if fact.person_id in author_ids:
        return JudgedSignOff(fact, "VOID", "SIGNER_BECAME_AUTHOR")
    if not any(m.person_id == fact.person_id and m.team == fact.team and m.is_active for m in members):
        return JudgedSignOff(fact, "VOID", "SIGNER_INELIGIBLE")
    moved = newest.moved_from(fact.signed)
    if moved:
        return JudgedSignOff(fact, "STALE", "SUBJECT_CHANGED", moved)
    return JudgedSignOff(fact, "CURRENT")


def judge_requirements(
    quorums: Mapping[str, int],
    judged: Sequence[JudgedSignOff],
    *,
    members: Sequence[Member],
    author_ids: Collection[int],
    author: str,
) -> tuple[Requirement, ...]:
    """Return what every asked team owes, in order of the team's name.

    ``author`` is the name of who made the newest revision: what was asked of it is theirs to answer.
    """
    current = [signoff.fact for signoff in judged if signoff.status == "CURRENT"]
    return tuple(
        _requirement(team, quorum, [fact for fact in current if fact.team == team], members, author_ids, author)
        for team, quorum in sorted(quorums.items())
    )


def _requirement(
    team: str,
    quorum: int,
    current: Sequence[SignOffFact],
    members: Sequence[Member],
    author_ids: Collection[int],
    author: str,
) -> Requirement:
    eligible = [m for m in members if m.team == team and m.is_active and m.person_id not in author_ids]
    approving = {fact.person_id for fact in current if fact.meaning == "approve"}
    against = [fact for fact in current if fact.meaning != "approve"]
    names = {member.person_id: member.name for member in eligible}
    if len(eligible) < quorum:
        because = f"{team} has {len(eligible)} eligible {_members(len(eligible))} of {quorum}. An admin adds members."
        return Requirement(team, quorum, len(approving), "UNSATISFIABLE", because, ())
    if against:
        because = " ".join(f"{AGAINST[fact.meaning]} by {names[fact.person_id]}." for fact in against)
        return Requirement(team, quorum, len(approving), "UNSATISFIED", because, (author,), is_answered_by_author=True)
    if len(approving) < quorum:
        owed_by = tuple(member.name for member in eligible if member.person_id not in approving)
        because = f"{len(approving)} of {quorum} {'approval' if quorum == 1 else 'approvals'} given."
        return Requirement(team, quorum, len(approving), "UNSATISFIED", because, owed_by)
    because = f"{', '.join(sorted(names[person] for person in approving))} approved."
    return Requirement(team, quorum, len(approving), "SATISFIED", because, ())


def _members(count: int) -> str:
    return "member" if count == 1 else "members"


def judge_approval(
    requirements: Sequence[Requirement], judged: Sequence[JudgedSignOff], *, decision_word: str | None
) -> Approval:
    """Say whether the newest revision is approved. ``decision_word`` is the plan's, None while there is no plan."""
    if decision_word is None:
        return Approval(False, "There is no plan yet.")
    if not requirements:
        return Approval(False, "The policy asks no team. Without a requirement nothing is approved.")
    owing = [requirement for requirement in requirements if requirement.status != "SATISFIED"]
    if owing:
        waited = (f"the author for {r.team}" if r.is_answered_by_author else r.team for r in owing)
        return Approval(False, f"Waiting on {', '.join(waited)}.")
    people = {j.fact.person_id for j in judged if j.status == "CURRENT" and j.fact.meaning == "approve"}
    if len(people) < MINIMUM_PEOPLE:
        return Approval(False, f"{len(people)} person approved. At least {MINIMUM_PEOPLE} people have to agree.")
    if decision_word != "SELECT_TOPOLOGY":
        return Approval(False, f"Every team agrees that nothing is selected. {NOTHING_SELECTED}")
    return Approval(True, "Every team approved this revision.")
