"""The inbox: decisions of a workspace with the reader's turn first, page by page, and what they can be filtered by."""

from dataclasses import dataclass

from django.db.models import Case, QuerySet, Value, When
from django.utils import timezone

from reviews.models import Decision, DecisionState, Person, Team, Workspace
from reviews.selectors.decisions import DecisionFilter, decision_row, wanted_decisions
from reviews.selectors.in_force import states_now
from reviews.selectors.judgement import judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.rows import DecisionRow
from reviews.selectors.turns import ids_waiting_on, newest_revisions, turn_ids

PAGE_SIZE = 25
OPEN = (DecisionState.DRAFT, DecisionState.EVALUATING, DecisionState.EVALUATION_FAILED, DecisionState.IN_REVIEW)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxChoices:
    """What occurs in the workspace and may be filtered by: states, engines, models; and its teams."""

    states: tuple[str, ...]
    teams: tuple[str, ...]
    engines: tuple[str, ...]
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """One page: the reader's turn first, then what is open, then the rest, each newest first.

    ``total`` decisions fit the filter, ``turns`` of them are the reader's turn; ``all_turns`` whatever the filter.
    """

    rows: tuple[DecisionRow, ...]
    page: int
    pages: int
    total: int
    turns: int
    all_turns: int
    choices: InboxChoices


def inbox(
    *,
    actor: Person,
    workspace: Workspace,
    wanted: DecisionFilter,
    waits_on: str = "",
    page: int = 1,
    page_size: int = PAGE_SIZE,
) -> Inbox:
    """Return a page of the inbox; a page that does not exist is the first. ``waits_on`` is a team's slug.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    turns = turn_ids(standing, workspace)
    decisions = wanted_decisions(Decision.objects.filter(workspace=workspace), wanted)
    if waits_on:
        decisions = decisions.filter(pk__in=ids_waiting_on(waits_on, workspace))
    total = decisions.count()
    pages = max(1, -(-total // page_size))
    page = page if 1 <= page <= pages else 1
    shown = list(_ordered(decisions, turns)[(page - 1) * page_size : page * page_size])
    judged, members = judge_decisions(workspace, newest_revisions(shown))
    states = states_now(shown, timezone.now())
    return Inbox(
        rows=tuple(
            decision_row(found, states[found.pk], judged[found.pk], standing.person_id, members) for found in shown
        ),
        page=page,
        pages=pages,
        total=total,
        turns=decisions.filter(pk__in=turns).count(),
        all_turns=len(turns),
        choices=_choices(workspace),
    )


def _ordered(decisions: QuerySet[Decision], turns: frozenset[int]) -> QuerySet[Decision]:
    place = Case(When(pk__in=turns, then=Value(0)), When(state__in=OPEN, then=Value(1)), default=Value(2))
    return decisions.select_related("opened_by").order_by(place, "-number")


def _choices(workspace: Workspace) -> InboxChoices:
    decisions = Decision.objects.filter(workspace=workspace).order_by()
    occurring = set(decisions.values_list("state", flat=True).distinct())
    names = {
        field: tuple(sorted(set(decisions.values_list(field, flat=True).distinct()) - {""}))
        for field in ("engine_name", "model_name")
    }
    return InboxChoices(
        states=tuple(state for state in DecisionState.values if state in occurring),
        teams=tuple(Team.objects.filter(workspace=workspace).order_by("slug").values_list("slug", flat=True)),
        engines=names["engine_name"],
        models=names["model_name"],
    )
