"""The inbox: a workspace's decisions in five lists by what is to be done about them, what they can be filtered by, and
what production breaks that the reader has to act on.

What follows from policy, roster, sign-offs or time alone (turns, ends, lapsed waivers) is worked out first; the
database then sorts, counts and cuts. The number of queries does not grow with the decisions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, F, IntegerField, OuterRef, QuerySet, Subquery, Value, When, Window
from django.db.models.functions import RowNumber

from reviews.asked_once import moment
from reviews.facts import Standing
from reviews.models import Activation, Decision, DecisionState, Person, Team, Workspace
from reviews.policies.validity import StateNow
from reviews.selectors.breaches import BreachRow, breach_rows
from reviews.selectors.decisions import DecisionFilter, decision_row, wanted_decisions
from reviews.selectors.in_force import ENDING, states_now
from reviews.selectors.judgement import judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.rows import DecisionRow
from reviews.selectors.saved_views import SavedViewRow, saved_view_rows
from reviews.selectors.turns import ids_waiting_on, judged_for, turn_ids

PREVIEW = 10
PAGE_SIZE = 25
LISTS = ("mine", "waiting", "expiring", "stale", "decided")
"""In the order of the page. A decision is in the first that fits: mine, then stale, expiring, waiting, decided."""
MINE, WAITING, EXPIRING, STALE, DECIDED = range(5)
OPEN = (
    DecisionState.DRAFT,
    DecisionState.EVALUATING,
    DecisionState.EVALUATION_FAILED,
    DecisionState.IN_REVIEW,
    DecisionState.EMERGENCY,
)
ENDED = (DecisionState.STALE, DecisionState.EXPIRED, DecisionState.CONTESTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxChoices:
    """What occurs in the workspace and may be filtered by: states, engines, models; and its teams."""

    states: tuple[str, ...]
    teams: tuple[str, ...]
    engines: tuple[str, ...]
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InboxList:
    """One list (of ``LISTS``): its first rows, or those of one page, of ``total`` that fit the filter."""

    name: str
    rows: tuple[DecisionRow, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """The lists as the reader sees them. ``only`` is the list that is shown by itself, page by page, or empty.

    ``all_turns`` counts the reader's turns whatever the filter; ``notice`` is how long before its end a decision is
    called expiring. ``breaches`` stand above all lists, not above one of them.
    """

    lists: tuple[InboxList, ...]
    only: str
    page: int
    pages: int
    all_turns: int
    notice: timedelta
    choices: InboxChoices
    views: tuple[SavedViewRow, ...]
    breaches: tuple[BreachRow, ...]

    def of(self, name: str) -> InboxList:
        """Return a list by its name."""
        return self.lists[LISTS.index(name)]


def inbox(
    *,
    actor: Person,
    workspace: Workspace,
    wanted: DecisionFilter,
    waits_on: str = "",
    only: str = "",
    page: int = 1,
    preview: int = PREVIEW,
    page_size: int = PAGE_SIZE,
) -> Inbox:
    """Return the beginning of every list, or a page of the one that is named by ``only``.

    ``waits_on`` is a team's slug. A list or page that does not exist is as if none was asked for.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing, now = standing_of(actor, workspace), moment()
    notice = timedelta(days=settings.EXPIRY_NOTICE_DAYS)
    turns = turn_ids(standing, workspace)
    ending = list(Decision.objects.filter(workspace=workspace, state__in=ENDING))
    states = states_now(ending, now)
    moved = {row.pk: states[row.pk].state for row in ending if states[row.pk].state != row.state}
    decisions = wanted_decisions(Decision.objects.filter(workspace=workspace), wanted, moved)
    if waits_on:
        decisions = decisions.filter(pk__in=ids_waiting_on(waits_on, workspace))
    placed = _placed(decisions, turns, states, now + notice)
    only = only if only in LISTS else ""
    if only:
        totals = dict(placed.order_by().values_list("place").annotate(Count("pk")))
        pages = max(1, -(-totals.get(LISTS.index(only), 0) // page_size))
        page = page if 1 <= page <= pages else 1
        ids, _ = _cut(placed, only, range((page - 1) * page_size, page * page_size))
    else:
        pages = page = 1
        ids, totals = _cut(placed, only, range(preview))
    rows = _rows(ids, workspace, standing, now)
    return Inbox(
        lists=tuple(
            InboxList(name, tuple(rows[pk] for pk, at in ids.items() if at == place), totals.get(place, 0))
            for place, name in enumerate(LISTS)
        ),
        only=only,
        page=page,
        pages=pages,
        all_turns=len(turns),
        notice=notice,
        choices=_choices(workspace, moved),
        views=saved_view_rows(actor=actor, workspace=workspace),
        breaches=() if only else breach_rows(standing, workspace, preview),
    )


def _placed(
    decisions: QuerySet[Decision], turns: frozenset[int], states: Mapping[int, StateNow], soon: datetime
) -> QuerySet[Any]:
    """Return the decisions with ``place``, the index of their list."""
    over = {pk: found.state for pk, found in states.items() if found.state not in ENDING}
    lapsed = [pk for pk, state in over.items() if state in ENDED]
    expiring = [
        pk for pk, found in states.items() if found.until is not None and pk not in over and found.until <= soon
    ]
    place = Case(
        When(pk__in=lapsed, then=Value(STALE)),
        When(pk__in=list(over), then=Value(DECIDED)),
        When(pk__in=turns, then=Value(MINE)),
        When(state__in=ENDED, then=Value(STALE)),
        When(pk__in=expiring, then=Value(EXPIRING)),
        When(state__in=OPEN, then=Value(WAITING)),
        default=Value(DECIDED),
        output_field=IntegerField(),
    )
    return decisions.annotate(place=place)


def _cut(placed: QuerySet[Any], only: str, places: range) -> tuple[dict[int, int], dict[int, int]]:
    """Return id -> list of the decisions at these places of one list, or of every list, in order; and list -> length.

    Lists of which nothing is at these places have no length.
    """
    last = Activation.objects.filter(revision__decision=OuterRef("pk")).order_by("-pk").values("valid_until")[:1]
    order = (
        # What ends first, then what moved last, then the newest.
        Case(When(place=EXPIRING, then=Subquery(last))).asc(nulls_last=True),
        Case(When(place__in=(STALE, DECIDED), then=F("state_since"))).desc(nulls_last=True),
        F("number").desc(),
    )
    ranked = placed.annotate(
        at=Window(RowNumber(), partition_by=F("place"), order_by=order),
        total=Window(Count("pk"), partition_by=F("place")),
    )
    if only:
        ranked = ranked.filter(place=LISTS.index(only))
    cut = ranked.filter(at__gt=places.start, at__lte=places.stop).order_by("place", "at")
    rows = list(cut.values_list("pk", "place", "total"))
    return {pk: place for pk, place, _ in rows}, {place: total for _, place, total in rows}


def _rows(ids: Mapping[int, int], workspace: Workspace, standing: Standing, now: datetime) -> dict[int, DecisionRow]:
    decisions = list(Decision.objects.filter(pk__in=list(ids)).select_related("opened_by").order_by())
    judged, members = judged_for(standing, workspace)
    others = [row.pk for row in decisions if row.pk not in judged]
    if others:
        judged = {**judged, **judge_decisions(workspace, others)[0]}
    states = states_now(decisions, now)
    return {row.pk: decision_row(row, states[row.pk], judged[row.pk], standing.person_id, members) for row in decisions}


def _choices(workspace: Workspace, moved: Mapping[int, str]) -> InboxChoices:
    decisions = Decision.objects.filter(workspace=workspace).order_by()
    stored = Case(When(pk__in=list(moved), then=Value("")), default=F("state"))
    occurring = set(decisions.annotate(stored=stored).values_list("stored", "engine_name", "model_name").distinct())
    states = {*(state for state, _, _ in occurring), *moved.values()}
    return InboxChoices(
        states=tuple(state for state in DecisionState.values if state in states),
        teams=tuple(Team.objects.filter(workspace=workspace).order_by("slug").values_list("slug", flat=True)),
        engines=tuple(sorted({engine for _, engine, _ in occurring} - {""})),
        models=tuple(sorted({model for _, _, model in occurring} - {""})),
    )
