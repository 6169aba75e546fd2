"""Every statement of every write fails once: the fact and its entry are there together, or neither is."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection, models

from reviews import models as tables
from reviews.models import AuditEntry, PlanJob
from reviews.selectors.jobs import job_faults
from reviews.services.jobs import job_run
from reviews.services.people import member_add, policy_set, seat_give, seat_take
from reviews.services.withdrawals import signoff_withdraw
from reviews.verification import verify
from tests.reviews.factories import POLICY, Cast, cast, documents, planned, sign, submitted
from tests.reviews.failing import Fail, entries_after_every_failure

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

FACTS = (
    tables.Decision,
    tables.Revision,
    tables.PlannedRevision,
    tables.Plan,
    tables.SignOff,
    tables.SignOffWithdrawal,
    tables.Policy,
    tables.Membership,
    tables.TeamSeat,
    tables.Submission,
)
"""Tables whose rows each come with an entry; blobs, documents and queued jobs state nothing by themselves."""


def state() -> dict[str, Any]:
    """Everything that states something, with the log's length."""
    counts = {table.__name__: _count(table) for table in FACTS}
    return {
        **counts,
        "states": list(tables.Decision.objects.order_by("pk").values_list("state", flat=True)),
        "roles": list(tables.Membership.objects.order_by("pk").values_list("role", flat=True)),
        "entries": AuditEntry.objects.count(),
    }


def _count(table: type[models.Model]) -> int:
    return table._default_manager.count()


def prepare_submission(people: Cast) -> Callable[[], Any]:
    return lambda: submitted(people, key="k1")


def prepare_revision(people: Cast) -> Callable[[], Any]:
    decision = planned(people).decision
    return lambda: submitted(people, pair=documents(tokens=170000), decision=decision)


def prepare_signoff(people: Cast) -> Callable[[], Any]:
    revision = planned(people)
    return lambda: sign(people, revision)


def prepare_withdrawal(people: Cast) -> Callable[[], Any]:
    signoff = sign(people, planned(people))
    return lambda: signoff_withdraw(
        actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Misread."
    )


def prepare_policy(people: Cast) -> Callable[[], Any]:
    return lambda: policy_set(workspace=people.workspace, policy={**POLICY, "gate_owners": {}}, actor=people.alice)


def prepare_role(people: Cast) -> Callable[[], Any]:
    return lambda: member_add(workspace=people.workspace, person=people.bob, role=tables.Role.AUTHOR)


def prepare_seat(people: Cast) -> Callable[[], Any]:
    membership = people.bob.memberships.get()
    return lambda: seat_give(membership=membership, team="networking")


def prepare_leaving(people: Cast) -> Callable[[], Any]:
    seat = people.bob.memberships.get().seats.get()
    return lambda: seat_take(seat=tables.TeamSeat.objects.get(pk=seat.pk))


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(prepare_submission, id="first revision"),
        pytest.param(prepare_revision, id="next revision"),
        pytest.param(prepare_signoff, id="sign-off"),
        pytest.param(prepare_withdrawal, id="withdrawal"),
        pytest.param(prepare_policy, id="policy"),
        pytest.param(prepare_role, id="role"),
        pytest.param(prepare_seat, id="seat"),
        pytest.param(prepare_leaving, id="leaving a team"),
    ],
)
def test_a_write_that_fails_anywhere_leaves_nothing_and_one_that_does_not_leaves_one_entry(
    people: Cast, prepare: Callable[[Cast], Callable[[], Any]]
) -> None:
    assert entries_after_every_failure(prepare(people), state) == 1
    assert verify(people.workspace).holds


@pytest.mark.django_db(transaction=True)
def test_a_planner_run_that_fails_anywhere_leaves_nothing_and_is_tried_again(transactional_db: None) -> None:
    people = cast()
    job = submitted(people).job
    before = state()
    failed = 0
    for k in range(1, 200):
        PlanJob.objects.update(state="queued", attempts=0, lease_token=None, lease_until=None)
        try:
            with connection.execute_wrapper(Fail(k)):
                job_run(job.pk)
        except OperationalError:
            failed += 1
            assert state() == before, f"statement {k}"
        else:
            break
    assert failed >= 10
    assert state() == {
        **before,
        "Plan": 1,
        "PlannedRevision": 1,
        "states": ["IN_REVIEW"],
        "entries": before["entries"] + 1,
    }
    assert (job_faults(), verify(people.workspace).holds) == ([], True)
