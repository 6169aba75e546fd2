"""States and transitions: the table, and the database that refuses what no act makes."""

from itertools import product

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from reviews.errors import ConflictError
from reviews.models import Decision, DecisionState
from reviews.policies.transitions import TABLE, next_state, state_changes
from reviews.services.states import decision_move
from tests.reviews.factories import Cast, planned

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

PAIRS = [pair for pair in product(DecisionState.values, repeat=2) if pair[0] != pair[1]]


def put(decision: Decision, state: str) -> None:
    """Set a state as the owner of the table could, past the trigger."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ALTER TABLE reviews_decision DISABLE TRIGGER decision_transition")
            Decision.objects.filter(pk=decision.pk).update(state=state)
            cursor.execute("ALTER TABLE reviews_decision ENABLE TRIGGER decision_transition")
        else:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'decision_transition'")
            definition = cursor.fetchone()[0]
            cursor.execute("DROP TRIGGER decision_transition")
            Decision.objects.filter(pk=decision.pk).update(state=state)
            cursor.execute(definition)


def test_the_database_lets_pass_exactly_what_the_table_lists(people: Cast) -> None:
    decision = planned(people).decision
    refusals, passed = [], set()
    for source, target in PAIRS:
        put(decision, source)
        try:
            with transaction.atomic():
                Decision.objects.filter(pk=decision.pk).update(state=target)
        except IntegrityError as error:
            refusals.append(str(error))
        else:
            passed.add((source, target))
    assert passed == state_changes()
    assert all("no act leads a decision to this state" in refusal for refusal in refusals)


def test_every_act_that_the_table_does_not_list_is_refused_by_name(people: Cast) -> None:
    decision = planned(people).decision
    acts = {row.act for row in TABLE}
    for state, act in product(DecisionState.values, sorted(acts)):
        decision.state = state
        if next_state(state, act) is None:
            with pytest.raises(ConflictError, match=f"It cannot {act.replace('_', ' ')} now."):
                decision_move(decision, act, timezone.now())
    assert Decision.objects.get().state == "IN_REVIEW"


@pytest.mark.parametrize("state", ["EFFECTIVE", "EMERGENCY"])
def test_a_slot_has_one_decision_in_force(people: Cast, state: str) -> None:
    first, second = planned(people).decision, planned(people).decision
    put(first, state)
    with pytest.raises(IntegrityError, match=r"per_slot|workspace_id"), transaction.atomic():
        put(second, state)
