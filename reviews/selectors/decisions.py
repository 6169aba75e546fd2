"""Lists of decisions."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Q, QuerySet
from django.utils import timezone

from reviews.errors import is_storable
from reviews.facts import Member
from reviews.models import Decision, DecisionState, Person, Revision, Workspace
from reviews.policies.validity import StateNow
from reviews.selectors.in_force import states_now
from reviews.selectors.judgement import Judgement, judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.rows import DecisionList, DecisionRow
from reviews.selectors.turns import newest_revisions

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFilter:
    """What to list: exact state, slot, engine and model, and text found in title, slot or topology.

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
    judged, members = judge_decisions(workspace, newest_revisions(shown))
    states = states_now(shown, timezone.now())
    return DecisionList(
        rows=tuple(
            decision_row(decision, states[decision.pk], judged[decision.pk], standing.person_id, members)
            for decision in shown
        ),
        older_than=shown[-1].number if len(found) > page_size else None,
    )


def wanted_decisions(decisions: QuerySet[Decision], wanted: DecisionFilter) -> QuerySet[Decision]:
    """Return the decisions that a filter asks for."""
    exact = {
        "state": wanted.state,
        "slot": wanted.slot,
        "engine_name": wanted.engine,
        "model_name": wanted.model,
    }
    if not all(map(is_storable, (*exact.values(), wanted.text))):
        return decisions.none()  # no stored text holds it, and PostgreSQL would not even take the question
    decisions = decisions.filter(**{field: value for field, value in exact.items() if value})
    if wanted.text:
        text = wanted.text
        topology = Revision.objects.filter(
            decision=OuterRef("pk"), planned__plan__selected_topology__icontains=text
        ).values("decision")
        decisions = decisions.filter(Q(title__icontains=text) | Q(slot__icontains=text) | Q(pk__in=topology))
    return decisions


def decision_row(
    decision: Decision, state: StateNow, judgement: Judgement, person_id: int, members: Sequence[Member]
) -> DecisionRow:
    """Return a decision, with its state as of now, as a row of a list that a person reads."""
    in_review = decision.state == DecisionState.IN_REVIEW
    return DecisionRow(
        number=decision.number,
        label=decision.label,
        title=decision.title,
        slot=decision.slot,
        state=state.state,
        state_label=DecisionState(state.state).label,
        state_since=state.since,
        opened_by=decision.opened_by.display_name,
        opened_at=decision.opened_at,
        newest=judgement.newest,
        requirements=judgement.requirements,
        approval=judgement.approval,
        my_teams=judgement.owed_by_person(person_id, members) if in_review else (),
        objections=judgement.objections if in_review else (),
        is_my_answer=in_review and judgement.is_answered_by(person_id),
    )
