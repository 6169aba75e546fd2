"""Whose turn it is, over all decisions of a workspace: which ones wait on a person or on a team.

A turn follows from policy, roster and sign-offs, so no column holds it. What cannot be anybody's turn is left out by
the database; the rest is judged. The number of queries does not grow with the decisions.
"""

from collections.abc import Iterator, Mapping, Sequence

from django.core.cache import caches
from django.db.models import Exists, OuterRef, Q, QuerySet

from reviews.asked_once import once
from reviews.facts import Member, Standing
from reviews.models import Decision, DecisionState, Policy, Revision, SignOff, Workspace
from reviews.policies.document import releasing_teams
from reviews.policies.permissions import SIGNING_ROLES
from reviews.policies.signoff_status import AGAINST, OBJECT
from reviews.selectors.judgement import Judgement, judge_revisions
from reviews.selectors.log import log_now
from reviews.selectors.proposals import proposals_waiting_on
from reviews.selectors.revisions import revisions_within

REVIEWED = (DecisionState.IN_REVIEW, DecisionState.EMERGENCY)
"""States in which sign-offs are owed; in an emergency the review comes after."""


TURNS_KEPT_S = 60
"""How long a count is kept while nothing is entered into the log; so late shows what time alone changes."""


def turn_count(standing: Standing, workspace: Workspace) -> int:
    """Count the decisions and proposals that wait on a person, for the bar of every page.

    What makes a turn is an entry of the log, so the count is kept in this process until the log grows.
    """
    who = f"{standing.person_id}:{standing.role}:{','.join(sorted(standing.teams))}"
    head, is_waiting = log_now(workspace)
    key = f"turns:{workspace.log_origin}:{head}:{who}"
    kept: int | None = caches["process"].get(key)
    if kept is None:
        kept = len(turn_ids(standing, workspace))
        kept += len(proposals_waiting_on(standing, workspace)) if is_waiting else 0
        caches["process"].set(key, kept, TURNS_KEPT_S)
    return kept


def turn_ids(standing: Standing, workspace: Workspace) -> frozenset[int]:
    """Return the ids of the decisions that wait on a person.

    Those for which they could give a missing approval or that they could put into force now, and their own of which
    changes are requested, that are rejected, or that were made under an earlier policy.
    """
    judged, members = judged_for(standing, workspace)
    person = standing.person_id
    return frozenset(
        pk
        for pk, found in judged.items()
        if found.owed_by_person(person, members)
        or found.is_answered_by(person)
        or is_released_by(found, person, members)
    )


@once
def judged_for(standing: Standing, workspace: Workspace) -> tuple[Mapping[int, Judgement], tuple[Member, ...]]:
    """Judge every decision that could be a person's turn; return decision id -> judgement, and the team members."""
    authored = Exists(Revision.objects.filter(decision=OuterRef("pk"), author_id=standing.person_id))
    objected = Exists(SignOff.objects.filter(revision__decision=OuterRef("pk"), meaning__in=(*AGAINST, OBJECT)))
    newer = Policy.objects.filter(workspace=workspace, version__gt=OuterRef("policy__version"))
    outdated = Exists(Revision.objects.filter(Exists(newer), decision=OuterRef("pk")))
    wanted = Q(authored) & (Q(objected) | Q(outdated))
    if standing.teams and standing.role in SIGNING_ROLES:
        wanted |= ~Q(authored)
    return judge_revisions(workspace, revisions_within(_in_review(workspace).filter(wanted)))


def ids_waiting_on(team: str, workspace: Workspace) -> frozenset[int]:
    """Return the ids of the decisions in review in which a team's requirement is not satisfied."""
    judged, _ = judge_revisions(workspace, revisions_within(_in_review(workspace)))
    return frozenset(pk for pk, found in judged.items() if team in _owing(found))


def releasing_of(judgement: Judgement) -> tuple[str, ...]:
    """Return the teams whose members could put an approved decision into force, empty while it is not approved."""
    return tuple(sorted(releasing_teams(judgement.document))) if judgement.approval.approved else ()


def is_released_by(judgement: Judgement, person_id: int, members: Sequence[Member]) -> bool:
    """Whether a person could put the decision into force now: no author, with a seat of their own in such a team."""
    if person_id in judgement.author_ids:
        return False
    mine = {
        member.team
        for member in members
        if member.person_id == person_id and member.is_active and member.in_place_of is None
    }
    return not mine.isdisjoint(releasing_of(judgement))


def _in_review(workspace: Workspace) -> QuerySet[Decision]:
    return Decision.objects.filter(workspace=workspace, state__in=REVIEWED).order_by()


def _owing(judgement: Judgement) -> Iterator[str]:
    return (row.team for row in judgement.requirements if row.blocks and not row.is_answered_by_author)
