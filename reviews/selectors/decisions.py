"""Lists of decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import OuterRef, Q, QuerySet

from planner.decision_numbers import decision_number
from reviews.asked_once import moment
from reviews.errors import is_storable
from reviews.facts import Member
from reviews.models import Decision, DecisionState, Person, Revision, Workspace
from reviews.policies.validity import StateNow
from reviews.selectors.in_force import states_now
from reviews.selectors.judgement import Judgement, judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.rows import DecisionList, DecisionRow, RevisionRow
from reviews.selectors.turns import REVIEWED, releasing_of

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """What to list: exact state, slot, engine and model, and text: a decision's number, or part of its title, slot,
    model, engine or selected topology.

    An empty value asks for nothing.
    """

    state: str = ""
    slot: str = ""
    engine: str = ""
    model: str = ""
    text: str = ""


def decision_rows(
    *,
    actor: Person,
    workspace: Workspace,
    wanted: DecisionFilter | None = None,
    older_than: int | None = None,
    page_size: int = PAGE_SIZE,
) -> DecisionList:
    """Return decisions with numbers below ``older_than``, newest first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    decisions = wanted_decisions(Decision.objects.filter(workspace=workspace), wanted or DecisionFilter())
    if older_than is not None:
        decisions = decisions.filter(number__lt=older_than)
    found = list(decisions.select_related("opened_by").order_by("-number")[: page_size + 1])
    shown = found[:page_size]
    judged, members = judge_decisions(workspace, [row.pk for row in shown])
    states = states_now(shown, moment())
    return DecisionList(
        rows=tuple(
            decision_row(decision, states[decision.pk], judged[decision.pk], standing.person_id, members)
            for decision in shown
        ),
        older_than=shown[-1].number if len(found) > page_size else None,
    )


def wanted_decisions(
    decisions: QuerySet[Decision], wanted: DecisionFilter, moved: Mapping[int, str] | None = None
) -> QuerySet[Decision]:
    """Return the decisions that a filter asks for.

    ``moved`` is decision id -> state as of now, where that is another than the stored one.
    """
    exact = {
        "slot": wanted.slot,
        "engine_name": wanted.engine,
        "model_name": wanted.model,
    }
    if not all(map(is_storable, (*exact.values(), wanted.state, wanted.text))):
        return decisions.none()  # no stored text holds it, and PostgreSQL would not even take the question
    decisions = decisions.filter(**{field: value for field, value in exact.items() if value})
    if wanted.state:
        moved = moved or {}
        arrived = [pk for pk, state in moved.items() if state == wanted.state]
        decisions = decisions.filter((Q(state=wanted.state) & ~Q(pk__in=list(moved))) | Q(pk__in=arrived))
    if wanted.text:
        text = wanted.text
        number = decision_number(text)
        topology = Revision.objects.filter(
            decision=OuterRef("pk"), planned__plan__selected_topology__icontains=text
        ).values("decision")
        found = Q(pk__in=topology) | (Q(number=number) if number else Q())
        for field in ("title", "slot", "model_name", "engine_name"):
            found |= Q((f"{field}__icontains", text))
        decisions = decisions.filter(found)
    return decisions


def decision_row(
    decision: Decision, state: StateNow, judgement: Judgement, person_id: int, members: Sequence[Member]
) -> DecisionRow:
    """Return a decision, with its state as of now, as a row of a list that a person reads."""
    in_review = state.state in REVIEWED
    row = settled_row(decision, state, judgement.newest)
    return replace(
        row,
        requirements=judgement.requirements,
        approval=judgement.approval,
        releasing=releasing_of(judgement) if in_review else (),
        my_teams=judgement.owed_by_person(person_id, members) if in_review else (),
        objections=judgement.objections if in_review or state.state == DecisionState.CONTESTED else (),
        is_my_answer=in_review and judgement.is_answered_by(person_id),
    )


def settled_row(decision: Decision, state: StateNow, newest: RevisionRow) -> DecisionRow:
    """Return a decision that waits for nobody's sign-off as a row of a list; nothing is judged for it."""
    return DecisionRow(
        number=decision.number,
        label=decision.label,
        title=decision.title,
        slot=decision.slot,
        state=state.state,
        state_label=DecisionState(state.state).label,
        state_since=state.since,
        state_because=state.because,
        until=state.until,
        opened_by=decision.opened_by.display_name,
        opened_at=decision.opened_at,
        newest=newest,
    )
