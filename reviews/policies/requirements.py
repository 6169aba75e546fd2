"""What every team of the policy owes on the newest revision, and whether the revision is approved.

Nothing of this is stored. Rules kept: which teams are touched follows from identity keys and gates, never from who
asks; only sign-offs that count fill seats; authors and people without a seat never do; one person fills one seat of
one team; a team with fewer eligible members than its quorum blocks and names who is missing; a rule that fails is an
ERROR and blocks; no requirement at all is never an approval; at least two people have to agree.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from reviews.facts import Blocker, Member, Newest
from reviews.policies.signoff_status import AGAINST, APPROVING, OBJECT, JudgedSignOff

RequirementStatus = Literal["NOT_APPLICABLE", "SATISFIED", "UNSATISFIED", "UNSATISFIABLE", "OVERRIDDEN", "ERROR"]
DONE = ("SATISFIED", "NOT_APPLICABLE")
MINIMUM_PEOPLE = 2
EVALUATOR_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a broken rule or unreadable policy raises. What the database raises is not judged: the page fails as a whole."""

NOTHING_SELECTED = "To select a topology, measure what is missing and submit a new revision."


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one team owes. ``owed_by`` names people who could fill it; ``since`` is when it came to this status.

    ``is_answered_by_author``: somebody of the team requests changes or rejects, or the policy changed, and the author
    owes a new revision.
    """

    team: str
    quorum: int
    approvals: int
    status: RequirementStatus
    because: str
    owed_by: tuple[str, ...] = ()
    since: datetime | None = None
    is_answered_by_author: bool = False

    @property
    def blocks(self) -> bool:
        """Whether nothing can be activated because of it."""
        return self.status not in DONE


@dataclass(frozen=True, slots=True)
class Approval:
    """Whether the newest revision is approved, and why not."""

    approved: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What requirements are judged by. ``blockers`` are by team; ``admins`` names who can add members."""

    quorums: Mapping[str, int]
    newest: Newest
    judged: Sequence[JudgedSignOff]
    members: Sequence[Member]
    author_ids: Collection[int]
    blockers: Mapping[str, Sequence[Blocker]] = field(default_factory=dict)
    admins: tuple[str, ...] = ()

    def is_touched(self, team: str) -> bool:
        """Whether the team owns anything that is decided; until there is a plan, every team may."""
        scopes = self.newest.scopes
        return scopes is None or scopes[team].is_touched

    def counting(self, team: str) -> list[JudgedSignOff]:
        """The sign-offs for a team that say something about the newest revision, the first given first."""
        counting = [signoff for signoff in self.judged if signoff.counts and signoff.fact.team == team]
        return sorted(counting, key=lambda signoff: signoff.fact.id)

    def eligible(self, team: str) -> list[Member]:
        """The members of a team who may fill one of its seats: no authors, nobody who fills another team's seat."""
        elsewhere = {
            person
            for signoff in self.judged
            if signoff.counts and signoff.fact.team != team and signoff.fact.meaning in APPROVING
            for person in people_of(signoff)
        }
        return [
            member
            for member in self.members
            if member.team == team
            and member.is_active
            and not {member.person_id, member.in_place_of} & set(self.author_ids)
            and not {member.person_id, member.in_place_of} & elsewhere
        ]


def people_of(signoff: JudgedSignOff) -> frozenset[int]:
    """Return whose seats a sign-off fills: the signer's, and that of the person in whose place it was given."""
    giver = signoff.fact.giver_id
    return frozenset((signoff.fact.person_id,) if giver is None else (signoff.fact.person_id, giver))


def seats_filled(approving: Iterable[JudgedSignOff]) -> int:
    """Return how many seats approvals fill; the first given fills it.

    A member and whoever signs in their place share one seat, and so do all to whom it was lent one after another.
    """
    taken: set[int] = set()
    given = 0
    for signoff in approving:
        people = people_of(signoff)
        given += not people & taken
        taken |= people
    return given


def judge_requirements(case: Case) -> tuple[Requirement, ...]:
    """Return what every team of the policy owes, in order of the team's name."""
    return tuple(_judged(case, team, quorum) for team, quorum in sorted(case.quorums.items()))


def _judged(case: Case, team: str, quorum: int) -> Requirement:
    try:
        return _requirement(case, team, quorum)
    except EVALUATOR_ERRORS as error:
        because = f"This requirement could not be judged: {type(error).__name__}: {error}. An operator looks into it."
        return Requirement(team, quorum, 0, "ERROR", because, case.admins, case.newest.since)


Rule = Callable[[Case, str, int], Requirement | None]


def _requirement(case: Case, team: str, quorum: int) -> Requirement:
    return next(found for rule in RULES if (found := rule(case, team, quorum)) is not None)


def _objected(case: Case, team: str, quorum: int) -> Requirement | None:
    vetoes = [signoff.fact for signoff in case.counting(team) if signoff.fact.meaning == OBJECT]
    if not vetoes:
        return None
    names = tuple(fact.person for fact in vetoes)
    because = f"{_listed(names)} {'objects' if len(names) == 1 else 'object'}. It stays until it is lifted."
    return Requirement(team, quorum, _approvals(case, team), "UNSATISFIED", because, names, vetoes[0].signed_at)


def _untouched(case: Case, team: str, quorum: int) -> Requirement | None:
    if case.blockers.get(team) and (quorum == 0 or not case.is_touched(team)):
        return _blocked(case, team, 0)
    if not case.is_touched(team):
        because = "Owns no identity key of this contract and no gate that it declares."
        return Requirement(team, quorum, 0, "NOT_APPLICABLE", because)
    if quorum == 0:
        return Requirement(team, 0, 0, "NOT_APPLICABLE", "The policy asks no approval of this team.")
    return None


def _policy_changed(case: Case, team: str, quorum: int) -> Requirement | None:
    newest = case.newest
    if newest.policy_in_force in (None, newest.parts.policy):
        return None
    because = "The policy changed since this revision was made. A new revision is judged by it."
    return Requirement(
        team, quorum, 0, "UNSATISFIED", because, (newest.author,), newest.since, is_answered_by_author=True
    )


def _too_few(case: Case, team: str, quorum: int) -> Requirement | None:
    seats = [member for member in case.eligible(team) if member.in_place_of is None]
    if len(seats) >= quorum or case.newest.is_past_review:
        return None
    missing = [member for member in case.members if member.team == team and member.in_place_of is None]
    named = [f"{member.name} ({_why_not(case, member)})" for member in missing if member not in seats]
    count = f"{team} has {len(seats)} eligible {'member' if len(seats) == 1 else 'members'} of {quorum}."
    because = f"{count} {f'Missing: {_listed(named)}. ' if named else ''}An admin adds members."
    return Requirement(team, quorum, _approvals(case, team), "UNSATISFIABLE", because, case.admins, case.newest.since)


def _why_not(case: Case, member: Member) -> str:
    if not member.is_active:
        return "switched off"
    return "an author of this decision" if member.person_id in case.author_ids else "fills another team's seat"


def _answered_by_author(case: Case, team: str, quorum: int) -> Requirement | None:
    against = [signoff.fact for signoff in case.counting(team) if signoff.fact.meaning in AGAINST]
    if not against:
        return None
    because = " ".join(f"{AGAINST[fact.meaning]} by {fact.person}." for fact in against)
    return Requirement(
        team,
        quorum,
        _approvals(case, team),
        "UNSATISFIED",
        because,
        (case.newest.author,),
        against[0].signed_at,
        is_answered_by_author=True,
    )


def _blocked(case: Case, team: str, quorum: int) -> Requirement | None:
    blockers = [*case.blockers.get(team, ()), *_open_conditions(case, team)]
    if not blockers:
        return None
    because = " ".join(blocker.because for blocker in blockers)
    owed_by = tuple(dict.fromkeys(name for blocker in blockers for name in blocker.owed_by))
    since = min(blocker.since for blocker in blockers)
    return Requirement(team, quorum, _approvals(case, team), "UNSATISFIED", because, owed_by, since)


def _open_conditions(case: Case, team: str) -> Iterable[Blocker]:
    for signoff in case.counting(team):
        for text in signoff.fact.open_conditions:
            fact = signoff.fact
            yield Blocker(f"Condition of {fact.person} not met: {text}", (fact.person,), fact.signed_at)


def _approved(case: Case, team: str, quorum: int) -> Requirement:
    approving = [signoff for signoff in case.counting(team) if signoff.fact.meaning in APPROVING]
    given = seats_filled(approving)
    if given < quorum:
        taken = {person for signoff in approving for person in people_of(signoff)}
        owed_by = tuple(
            member.name for member in case.eligible(team) if not {member.person_id, member.in_place_of} & taken
        )
        because = f"{given} of {quorum} {'approval' if quorum == 1 else 'approvals'} given."
        return Requirement(team, quorum, given, "UNSATISFIED", because, owed_by, case.newest.since)
    names = sorted({signoff.fact.person for signoff in approving})
    since = max(signoff.fact.carried_at or signoff.fact.signed_at for signoff in approving)
    return Requirement(team, quorum, given, "SATISFIED", f"{', '.join(names)} approved.", (), since)


RULES: tuple[Rule, ...] = (
    _objected,
    _untouched,
    _policy_changed,
    _too_few,
    _answered_by_author,
    _blocked,
    _approved,
)
"""Asked in this order; the first that has an answer gives it."""


def _approvals(case: Case, team: str) -> int:
    return seats_filled(signoff for signoff in case.counting(team) if signoff.fact.meaning in APPROVING)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def overridden(requirements: Iterable[Requirement], *, incident: str, until: str) -> tuple[Requirement, ...]:
    """Return the requirements as an emergency shows them: what blocks is overridden, and the review is still owed."""
    return tuple(
        Requirement(
            row.team,
            row.quorum,
            row.approvals,
            "OVERRIDDEN",
            f"Overridden by emergency {incident} until {until}. Review owed: {row.because}",
            row.owed_by,
            row.since,
            row.is_answered_by_author,
        )
        if row.blocks and row.status != "ERROR"
        else row
        for row in requirements
    )


def judge_approval(
    requirements: Sequence[Requirement], judged: Sequence[JudgedSignOff], *, decision_word: str | None
) -> Approval:
    """Say whether the newest revision is approved. ``decision_word`` is the plan's, None while there is no plan."""
    if decision_word is None:
        return Approval(False, "There is no plan yet.")
    if all(requirement.status == "NOT_APPLICABLE" for requirement in requirements):
        return Approval(False, "The policy asks no team. Without a requirement nothing is approved.")
    owing = [requirement for requirement in requirements if requirement.blocks]
    if owing:
        waited = (f"the author for {r.team}" if r.is_answered_by_author else r.team for r in owing)
        return Approval(False, f"Waiting on {', '.join(waited)}.")
    people = _approving_people(judged)
    if people < MINIMUM_PEOPLE:
        return Approval(False, f"{people} person approved. At least {MINIMUM_PEOPLE} people have to agree.")
    if decision_word != "SELECT_TOPOLOGY":
        return Approval(False, f"Every team agrees that nothing is selected. {NOTHING_SELECTED}")
    return Approval(True, "Every team approved this revision.")


def is_agreed(requirements: Sequence[Requirement], judged: Sequence[JudgedSignOff]) -> bool:
    """Whether every team that is asked approved the outcome, whatever the plan decided, and enough people did."""
    is_asked = any(requirement.status != "NOT_APPLICABLE" for requirement in requirements)
    is_owed = any(requirement.blocks for requirement in requirements)
    return is_asked and not is_owed and _approving_people(judged) >= MINIMUM_PEOPLE


def _approving_people(judged: Iterable[JudgedSignOff]) -> int:
    return len({signoff.fact.person_id for signoff in judged if signoff.counts and signoff.fact.meaning in APPROVING})


def teams_that(signoffs: Iterable[JudgedSignOff], meaning: str) -> Mapping[str, tuple[str, ...]]:
    """Return team -> names of the people whose counting sign-off has this meaning."""
    found: dict[str, list[str]] = defaultdict(list)
    for signoff in signoffs:
        if signoff.counts and signoff.fact.meaning == meaning:
            found[signoff.fact.team].append(signoff.fact.person)
    return {team: tuple(sorted(names)) for team, names in sorted(found.items())}
