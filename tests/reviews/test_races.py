"""Many at once: nothing forks, nothing is counted twice, nothing is signed that was superseded, nothing fails."""

import os
from functools import partial

import pytest

from reviews.audit import Act, append
from reviews.errors import ConflictError, NotAllowedError, ReviewError
from reviews.models import AuditEntry, Decision, JobState, Plan, PlanJob, PlannedRevision, Revision, SignOff
from reviews.selectors.jobs import job_faults
from reviews.services.jobs import job_run
from reviews.services.leases import job_claim
from reviews.services.people import seat_give
from reviews.services.withdrawals import signoff_withdraw
from reviews.verification import verify
from tests.reviews.factories import Cast, cast, documents, planned, sign, submitted
from tests.reviews.racing import race

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

TURNS = int(os.environ.get("TOPOGATE_RACE_APPENDS", "3"))
"""Appends of each of 64 writers; `make races` asks for 200."""


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast, committed, so that every connection sees it."""
    return cast()


def test_64_writers_at_once_make_one_unbroken_chain(people: Cast) -> None:
    before = AuditEntry.objects.count()

    def write(writer: int) -> None:
        for turn in range(TURNS):
            append(people.workspace, Act(action="test.act", decision=writer + 1, revision=turn))

    race([partial(write, writer) for writer in range(64)])
    rows = list(AuditEntry.objects.order_by("seq").values_list("seq", "prev", "sha256", "at"))
    assert [seq for seq, *_ in rows] == list(range(before + 64 * TURNS))
    assert [prev for _, prev, *_ in rows[1:]] == [sha256 for _, _, sha256, _ in rows[:-1]]
    times = [at for *_, at in rows]
    assert times == sorted(times)
    for writer in range(64):
        mine = AuditEntry.objects.filter(action="test.act", decision_number=writer + 1).order_by("seq")
        assert list(mine.values_list("revision_number", flat=True)) == list(range(TURNS))
    assert verify(people.workspace).holds


def test_decisions_opened_at_once_get_numbers_without_gap(people: Cast) -> None:
    pairs = [documents(tokens=163840 + number) for number in range(8)]
    made = race([partial(submitted, people, pair=pair) for pair in pairs])
    assert [result for result in made if isinstance(result, ReviewError)] == []
    assert sorted(Decision.objects.values_list("number", flat=True)) == list(range(1, 9))


def test_one_key_sent_eight_times_at_once_makes_one_revision(people: Cast) -> None:
    made = race([partial(submitted, people, key="k1")] * 8)
    assert {revision.pk for revision in made} == {Revision.objects.get().pk}
    assert AuditEntry.objects.filter(action="revision.created").count() == 1


def test_one_question_asked_eight_times_at_once_is_one_job(people: Cast) -> None:
    race([partial(submitted, people)] * 8)
    assert (PlanJob.objects.count(), Revision.objects.count()) == (1, 8)


def test_evidence_sent_at_once_makes_revisions_without_gap(people: Cast) -> None:
    decision = planned(people).decision
    pairs = [documents(tokens=170000 + number) for number in range(6)]
    race([partial(submitted, people, pair=pair, decision=decision) for pair in pairs])
    assert list(Revision.objects.order_by("number").values_list("number", flat=True)) == list(range(1, 8))


def test_a_job_is_claimed_by_one_of_eight_workers(people: Cast) -> None:
    job = submitted(people).job
    leases = [lease for lease in race([partial(job_claim, job.pk)] * 8) if lease]
    assert (len(leases), PlanJob.objects.get().attempts) == (1, 1)


def test_a_job_run_by_four_workers_at_once_makes_one_plan(people: Cast) -> None:
    job = submitted(people).job
    states = race([partial(job_run, job.pk)] * 4)
    assert sorted(states, key=str) == [None, None, None, JobState.DONE]
    assert (Plan.objects.count(), job_faults()) == (1, [])


def test_a_question_asked_while_it_is_answered_gets_the_answer(people: Cast) -> None:
    for round_ in range(5):
        pair = documents(tokens=170000 + round_)
        first = submitted(people, pair=pair)
        race([partial(job_run, first.job_id), *[partial(submitted, people, pair=pair)] * 4])
    assert PlannedRevision.objects.count() == Revision.objects.count() == 25
    assert set(Decision.objects.values_list("state", flat=True)) == {"IN_REVIEW"}


def test_nothing_is_signed_after_it_was_superseded(people: Cast) -> None:
    refused = 0
    for round_ in range(12):
        first = planned(people, pair=documents(tokens=200000 + 2 * round_))
        newer = documents(tokens=200001 + 2 * round_)
        results = race(
            [
                partial(sign, people, first),
                partial(submitted, people, pair=newer, decision=first.decision),
                partial(sign, people, first, people.dave),
            ]
        )
        refused += sum(isinstance(result, ConflictError) for result in results)
        assert isinstance(results[1], Revision)
        log = AuditEntry.objects.filter(decision_number=first.decision.number)
        superseded_at = log.get(action="revision.created", revision_number=2).seq
        assert not log.filter(action="signoff.given", seq__gt=superseded_at).exists()
    assert SignOff.objects.count() + refused == 24


def test_a_double_click_from_eight_tabs_is_one_signoff(people: Cast) -> None:
    revision = planned(people)
    signed = race([partial(sign, people, revision)] * 8)
    assert {signoff.pk for signoff in signed} == {SignOff.objects.get().pk}
    assert AuditEntry.objects.filter(action="signoff.given").count() == 1


def test_one_person_signing_for_two_teams_at_once_fills_one_seat(people: Cast) -> None:
    seat_give(membership=people.bob.memberships.get(), team="networking")
    for round_ in range(6):
        revision = planned(people, pair=documents(tokens=200000 + round_))
        results = race([partial(sign, people, revision, team=team) for team in ("serving", "networking")])
        assert [type(result) for result in results if isinstance(result, ReviewError)] == [NotAllowedError]
        assert SignOff.objects.filter(revision=revision).count() == 1


def test_withdrawing_from_four_tabs_is_one_withdrawal(people: Cast) -> None:
    signoff = sign(people, planned(people))
    withdraw = partial(
        signoff_withdraw, actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Misread."
    )
    assert len({withdrawal.pk for withdrawal in race([withdraw] * 4)}) == 1
    assert AuditEntry.objects.filter(action="signoff.withdrawn").count() == 1
