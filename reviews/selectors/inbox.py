"""The inbox: a workspace's decisions in five lists by what is to be done about them, what they can be filtered by; what
waits for the reader's countersignature, and what production breaks that they have to act on.

What follows from policy, roster, sign-offs or time alone (turns, ends, lapsed waivers) is worked out first; the
database then counts, sorts and cuts: one query for the totals and one for each list that has any decisions. The number
of queries does not grow with the decisions.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Case, Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When

from reviews.asked_once import moment
from reviews.facts import Standing
from reviews.models import Activation, Decision, DecisionState, Person, Team, Workspace
from reviews.policies.validity import StateNow
from reviews.selectors.breaches import Breaches, breaches_of
from reviews.selectors.decisions import DecisionFilter, decision_row, settled_row, wanted_decisions
from reviews.selectors.in_force import ENDING, states_now
from reviews.selectors.judgement import judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.proposals import ProposalRow, proposals_waiting_on
from reviews.selectors.revisions import revision_row, revisions_of
from reviews.selectors.rows import DecisionRow
from reviews.selectors.saved_views import SavedViewRow, saved_view_rows
from reviews.selectors.turns import REVIEWED, ids_waiting_on, judged_for, turn_ids

PREVIEW = 10
PAGE_SIZE = 25
LISTS = ("mine", "waiting", "expiring", "stale", "decided")
"""In the order of the page. A decision is in the first that fits: mine, then stale, expiring, waiting, decided."""
BREACHES = "breaches"
"""The list above these, which holds decisions of any of them."""
SECONDS = "seconds"
"""The list above all: proposals that wait for the reader as their second person."""
MINE, WAITING, EXPIRING, STALE, DECIDED = range(5)
OPEN = (
    DecisionState.DRAFT,
    DecisionState.EVALUATING,
    DecisionState.EVALUATION_FAILED,
    DecisionState.IN_REVIEW,
    DecisionState.EMERGENCY,
)
ENDED = (DecisionState.STALE, DecisionState.EXPIRED, DecisionState.CONTESTED)
STORED = {
    STALE: ENDED,
    WAITING: OPEN,
    DECIDED: tuple(state for state in DecisionState if state not in (*ENDED, *OPEN)),
}
"""List -> the states of its decisions, but for those that are named for a list."""
JUDGED = (*REVIEWED, DecisionState.CONTESTED)
"""States of which a row says what sign-offs ask for: reviews, and what an objection contests."""


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

    ``total`` counts the rows of that one, 0 where there is none. ``all_turns`` counts the reader's turns whatever the
    filter; ``notice`` is how long before its end a decision is called expiring. ``seconds`` and ``breaches`` stand
    above all lists, or by themselves, whatever the filter; ``all_seconds`` counts what is not shown as well.
    """

    lists: tuple[InboxList, ...]
    only: str
    page: int
    pages: int
    total: int
    all_turns: int
    notice: timedelta
    choices: InboxChoices
    views: tuple[SavedViewRow, ...]
    breaches: Breaches
    seconds: tuple[ProposalRow, ...]
    all_seconds: int

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
    named = _named(turns, states, now + notice)
    totals = _totals(decisions, named)
    only = only if only in (*LISTS, BREACHES, SECONDS) else ""
    most = {"": preview, BREACHES: page_size}.get(only)
    broken = breaches_of(standing, workspace, most, page) if most else Breaches()
    seconds = proposals_waiting_on(standing, workspace)
    sizes = {BREACHES: broken.total, SECONDS: len(seconds), **{LISTS[at]: size for at, size in totals.items()}}
    total = sizes.get(only, 0)
    pages = max(1, -(-total // page_size))
    page = page if 1 <= page <= pages else 1
    cut = slice((page - 1) * page_size, page * page_size) if only else slice(preview)
    shown = {place: list(_list(decisions, place, named)[cut]) for place in totals if only in ("", LISTS[place])}
    found = [row for part in shown.values() for row in part]
    states = {**states, **states_now([row for row in found if row.pk not in states], now)}
    rows = _rows(found, states, workspace, standing)
    return Inbox(
        lists=tuple(
            InboxList(name, tuple(rows[row.pk] for row in shown.get(place, ())), totals.get(place, 0))
            for place, name in enumerate(LISTS)
        ),
        only=only,
        page=page,
        pages=pages,
        total=total,
        all_turns=len(turns) + len(seconds),
        notice=notice,
        choices=_choices(workspace, moved),
        views=saved_view_rows(actor=actor, workspace=workspace),
        breaches=broken,
        seconds=seconds[cut] if only in ("", SECONDS) else (),
        all_seconds=len(seconds),
    )


def _named(turns: frozenset[int], states: Mapping[int, StateNow], soon: datetime) -> dict[int, int]:
    """Return decision id -> index of its list, of those whose stored state does not say it."""
    found = {pk: EXPIRING for pk, now in states.items() if now.until is not None and now.until <= soon}
    found |= dict.fromkeys(turns, MINE)
    ended = {pk: now.state for pk, now in states.items() if now.state not in ENDING}
    return found | {pk: STALE if state in ENDED else DECIDED for pk, state in ended.items()}


def _totals(decisions: QuerySet[Decision], named: Mapping[int, int]) -> dict[int, int]:
    """Return index -> how many decisions the list has; lists without any are left out."""
    place = Case(
        *(When(pk__in=ids, then=Value(at)) for at, ids in _ids(named).items()),
        *(When(state__in=stored, then=Value(at)) for at, stored in STORED.items()),
        output_field=IntegerField(),
    )
    return dict(decisions.annotate(place=place).order_by().values_list("place").annotate(Count("pk")))


def _list(decisions: QuerySet[Decision], place: int, named: Mapping[int, int]) -> QuerySet[Decision]:
    """Return the decisions of one list in order: what ends first, what moved last, else the newest."""
    here = Q(pk__in=_ids(named).get(place, ()))
    if place in STORED:
        here |= Q(state__in=STORED[place]) & ~Q(pk__in=list(named))
    last = Activation.objects.filter(revision__decision=OuterRef("pk")).order_by("-pk").values("valid_until")[:1]
    ends, moved, newest = Subquery(last).asc(), F("state_since").desc(), F("number").desc()
    order = {EXPIRING: (ends, newest), STALE: (moved, newest), DECIDED: (moved, newest)}
    return decisions.filter(here).select_related("opened_by").order_by(*order.get(place, (newest,)))


def _ids(named: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
    """Return index of a list -> ids of the decisions that are named for it."""
    found: dict[int, list[int]] = defaultdict(list)
    for pk, place in named.items():
        found[place].append(pk)
    return found


def _rows(
    shown: Sequence[Decision], states: Mapping[int, StateNow], workspace: Workspace, standing: Standing
) -> dict[int, DecisionRow]:
    """Return decision id -> row; nothing is judged of what waits for no sign-off."""
    judged, members = judged_for(standing, workspace)
    others = [row for row in shown if row.pk not in judged]
    if asked := [row.pk for row in others if row.state in JUDGED]:
        judged = {**judged, **judge_decisions(workspace, asked)[0]}
    settled = [row.pk for row in others if row.state not in JUDGED]
    newest = {row.decision_id: row for row in revisions_of(tuple(settled))} if settled else {}
    return {
        row.pk: decision_row(row, states[row.pk], judged[row.pk], standing.person_id, members)
        if row.pk in judged
        else settled_row(row, states[row.pk], revision_row(newest[row.pk]))
        for row in shown
    }


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
