"""Plan jobs: claimed once, finished under the fence, given up after three tries, never two plans."""

import uuid
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.db.models.functions import Now

from planner.intake import Receipt, read_evidence, receipt_of
from reviews.blobs import blob_keep
from reviews.errors import LeaseLostError
from reviews.models import AuditEntry, Blob, Decision, IntakeReceipt, JobState, Plan, PlanJob, PlannedRevision
from reviews.planning import MadePlan, StoredBytes, make_plan
from reviews.selectors.jobs import job_faults
from reviews.services.jobs import job_finish, job_run, jobs_sweep
from reviews.services.leases import Lease, in_seconds, job_claim, lease_end, lease_progress
from reviews.verification import verify
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, planned, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def job(people: Cast) -> PlanJob:
    return submitted(people).job


def expire(job_id: int) -> None:
    PlanJob.objects.filter(pk=job_id).update(lease_until=in_seconds(-1))


def actions(people: Cast) -> list[str]:
    return list(AuditEntry.objects.filter(workspace=people.workspace).order_by("seq").values_list("action", flat=True))


def test_a_job_becomes_a_plan_and_the_decision_goes_to_review(people: Cast) -> None:
    revision = submitted(people)
    assert job_run(revision.job_id) == JobState.DONE
    plan = PlannedRevision.objects.get(revision=revision).plan
    assert (plan.decision_word, plan.selected_trial, plan.selected_topology) == (
        "SELECT_TOPOLOGY",
        "t-1",
        "tp1-pp1-ep1-dp1",
    )
    assert (plan.eligible_count, plan.rejected_count, plan.inconclusive_count) == (1, 0, 0)
    done = PlanJob.objects.get(pk=revision.job_id)
    assert (done.state, done.attempts, done.candidates_done, done.lease_token) == ("done", 1, 1, None)
    assert Decision.objects.get().state == "IN_REVIEW"
    assert actions(people)[-2:] == ["revision.created", "revision.planned"]
    assert job_faults() == []


def test_the_stored_plan_is_what_the_planner_gives_for_the_same_bytes(people: Cast) -> None:
    pair = documents()
    plan = planned(people, pair=pair).planned.plan
    made = made_plan(pair.contract, pair.evidence)
    assert (bytes(plan.blob.data), plan.plan_id) == (made.raw, made.plan_id)


def made_plan(contract: bytes, evidence: bytes) -> MadePlan:
    return make_plan(
        contract=StoredBytes(contract, Blob.objects.get(data=contract).sha256),
        evidence=StoredBytes(evidence, Blob.objects.get(data=evidence).sha256),
        receipt=None,
        as_of="2026-09-21T12:00:00Z",
        progress=lambda done, total: None,
    )


def test_a_message_that_comes_twice_changes_nothing(people: Cast) -> None:
    first = job(people)
    assert (job_run(first.pk), job_run(first.pk), Plan.objects.count()) == (JobState.DONE, None, 1)


def test_every_revision_that_waits_for_the_job_gets_the_plan(people: Cast) -> None:
    first, second = submitted(people), submitted(people)
    job_run(first.job_id)
    assert {row.revision_id for row in PlannedRevision.objects.all()} == {first.pk, second.pk}
    assert set(Decision.objects.values_list("state", flat=True)) == {"IN_REVIEW"}


def test_a_plan_for_an_older_revision_does_not_move_the_decision(people: Cast) -> None:
    first = submitted(people)
    submitted(people, pair=documents(tokens=170000), decision=first.decision)
    job_run(first.job_id)
    assert Decision.objects.get().state == "EVALUATING"


def test_a_running_job_is_not_claimed_again(people: Cast) -> None:
    waiting = job(people)
    assert job_claim(waiting.pk) is not None
    assert job_claim(waiting.pk) is None


def test_a_job_is_claimed_again_when_its_lease_ran_out(people: Cast) -> None:
    waiting = job(people)
    first = job_claim(waiting.pk)
    expire(waiting.pk)
    second = job_claim(waiting.pk)
    assert first is not None
    assert second is not None
    assert (first.token != second.token, PlanJob.objects.get().attempts) == (True, 2)


def test_a_fourth_try_is_refused(people: Cast) -> None:
    waiting = job(people)
    for _ in range(3):
        assert job_claim(waiting.pk) is not None
        expire(waiting.pk)
    assert job_claim(waiting.pk) is None


def test_renewing_moves_the_end_of_ones_own_lease_only(people: Cast) -> None:
    lease = job_claim(job(people).pk)
    assert lease is not None
    expire(lease.job_id)
    assert lease.hold().renew() is True
    assert PlanJob.objects.filter(lease_until__gt=Now()).exists()
    assert Lease(lease.job_id, uuid.uuid4()).hold().renew() is False


def test_progress_is_written_by_the_holder_only(people: Cast) -> None:
    lease = job_claim(job(people).pk)
    assert lease is not None
    lease_progress(lease, 3, 4)
    lease_progress(Lease(lease.job_id, uuid.uuid4()), 4, 4)
    row = PlanJob.objects.get()
    assert (row.candidates_done, row.candidates_total) == (3, 4)


def test_a_worker_that_lost_its_lease_writes_nothing(people: Cast) -> None:
    revision = submitted(people)
    late = job_claim(revision.job_id)
    assert late is not None
    made = made_plan(bytes(revision.contract.blob.data), bytes(revision.evidence.blob.data))
    expire(revision.job_id)
    assert job_run(revision.job_id) == JobState.DONE
    before = actions(people)
    with pytest.raises(LeaseLostError):
        job_finish(PlanJob.objects.get(), late, made)
    assert (Plan.objects.count(), actions(people)) == (1, before)


def test_a_different_second_plan_raises_the_alarm_and_the_first_stands(people: Cast) -> None:
    revision = planned(people)
    first = revision.planned.plan
    other = documents(tokens=170000)
    submitted(people, pair=other)
    made = made_plan(other.contract, other.evidence)
    PlanJob.objects.filter(pk=revision.job_id).update(state="queued")
    lease = job_claim(revision.job_id)
    assert lease is not None
    assert job_finish(PlanJob.objects.get(pk=revision.job_id), lease, made) == JobState.DONE
    assert Plan.objects.get(job_id=revision.job_id) == first
    assert actions(people)[-1] == "plan.not_deterministic"
    assert Blob.objects.filter(data=made.raw).exists()


def test_the_same_plan_again_is_nothing_to_report(people: Cast) -> None:
    revision = planned(people)
    before = actions(people)
    PlanJob.objects.filter(pk=revision.job_id).update(state="queued")
    assert (job_run(revision.job_id), actions(people)) == (JobState.DONE, before)


def test_stored_bytes_that_were_tampered_with_are_not_planned(people: Cast) -> None:
    revision = submitted(people)
    with lifted():
        Blob.objects.filter(pk=revision.evidence.blob_id).update(data=documents(tokens=999999).evidence)
    assert job_run(revision.job_id) == JobState.FAILED
    row = PlanJob.objects.get()
    assert (row.state, row.error_code) == ("failed", "tampered")
    assert row.error_detail.startswith("The stored evidence is not what was uploaded: expected sha256:")
    assert Decision.objects.get().state == "EVALUATION_FAILED"
    assert (Plan.objects.count(), actions(people)[-1]) == (0, "revision.not_planned")


def test_evidence_is_stored_with_the_receipt_of_intake_once(people: Cast) -> None:
    first, second = submitted(people), submitted(people)
    assert first.evidence == second.evidence
    found = read_evidence(documents().evidence)
    (receipt,) = IntakeReceipt.objects.filter(document=first.evidence)
    assert msgspec.json.decode(bytes(receipt.blob.data), type=Receipt) == receipt_of(found)


def test_a_receipt_that_was_tampered_with_is_not_planned_from(people: Cast) -> None:
    revision = submitted(people)
    with lifted():
        Blob.objects.filter(pk=revision.evidence.receipts.get().blob_id).update(data=b"{}")
    assert job_run(revision.job_id) == JobState.FAILED
    row = PlanJob.objects.get()
    assert (row.error_code, Plan.objects.count()) == ("tampered", 0)
    assert row.error_detail.startswith("The stored intake receipt is not what was uploaded: expected sha256:")
    assert "The stored intake receipt is not what was stored" in verify(people.workspace).reason


def test_a_receipt_for_other_evidence_is_not_planned_from(people: Cast) -> None:
    revision, other = submitted(people), submitted(people, pair=documents(tokens=170000))
    IntakeReceipt.objects.create(document=revision.evidence, blob=other.evidence.receipts.get().blob)
    assert job_run(revision.job_id) == JobState.FAILED
    assert (PlanJob.objects.get(pk=revision.job_id).error_code, Plan.objects.count()) == ("refused", 0)


def test_a_receipt_of_other_code_gives_the_plan_that_reading_anew_gives(people: Cast) -> None:
    pair = documents()
    revision = submitted(people, pair=pair)
    old = msgspec.structs.replace(receipt_of(read_evidence(pair.evidence)), rules="sha256:" + "0" * 64)
    IntakeReceipt.objects.create(document=revision.evidence, blob=blob_keep(msgspec.json.encode(old)))
    assert job_run(revision.job_id) == JobState.DONE
    assert bytes(Plan.objects.get().blob.data) == made_plan(pair.contract, pair.evidence).raw


def test_an_interrupted_run_gives_the_job_back_and_is_tried_again(people: Cast, monkeypatch: Any) -> None:
    waiting = job(people)
    fail_once(monkeypatch)
    with pytest.raises(MemoryError):
        job_run(waiting.pk)
    row = PlanJob.objects.get()
    assert (row.state, row.attempts, row.error_code) == ("queued", 1, "interrupted")
    monkeypatch.undo()
    assert job_run(waiting.pk) == JobState.DONE


def fail_once(monkeypatch: Any) -> None:
    """Let planning end as it does when the machine has no memory left."""

    def plan(**_: object) -> MadePlan:
        raise MemoryError

    monkeypatch.setattr("reviews.services.jobs.make_plan", plan)


def test_a_job_that_failed_three_times_is_given_up_and_said_so(people: Cast) -> None:
    waiting = job(people)
    for _ in range(3):
        job_claim(waiting.pk)
        expire(waiting.pk)
    assert (jobs_sweep().given_up, jobs_sweep().given_up) == (1, 0)
    row = PlanJob.objects.get()
    assert (row.state, row.error_detail) == ("poisoned", "The planner run ended 3 times without a result.")
    assert (Decision.objects.get().state, actions(people)[-1]) == ("EVALUATION_FAILED", "revision.not_planned")


def test_a_job_that_was_given_up_starts_anew_when_it_is_asked_for_again(people: Cast) -> None:
    waiting = job(people)
    PlanJob.objects.filter(pk=waiting.pk).update(state="poisoned", attempts=3)
    second = submitted(people)
    assert job_run(second.job_id) == JobState.DONE
    assert PlannedRevision.objects.count() == 2


@pytest.mark.parametrize(
    ("queued_seconds_ago", "woken"),
    [pytest.param(1, 0, id="just queued"), pytest.param(60, 1, id="its message may be lost")],
)
def test_a_sweep_wakes_what_has_waited_long(people: Cast, queued_seconds_ago: int, woken: int) -> None:
    waiting = job(people)
    PlanJob.objects.filter(pk=waiting.pk).update(woken_at=in_seconds(-queued_seconds_ago))
    assert jobs_sweep().woken == woken
    assert jobs_sweep().woken == 0


def test_a_sweep_wakes_what_a_dead_worker_held(people: Cast) -> None:
    waiting = job(people)
    job_claim(waiting.pk)
    expire(waiting.pk)
    assert jobs_sweep().woken == 1
    assert PlanJob.objects.get().state == "queued"


def test_a_sweep_leaves_a_living_worker_alone(people: Cast) -> None:
    waiting = job(people)
    lease = job_claim(waiting.pk)
    jobs_sweep()
    assert lease is not None
    assert lease_end(lease, JobState.QUEUED) is True


def test_what_is_not_right_is_listed(people: Cast) -> None:
    revision = submitted(people)
    PlanJob.objects.filter(pk=revision.job_id).update(state="done")
    assert job_faults() == [
        f"plan job {revision.job_id} is done and has no plan",
        f"revision {revision.pk} waits for a job that is done",
    ]


def test_a_lease_lasts_as_long_as_the_settings_say(people: Cast, settings: Any) -> None:
    settings.PLAN_LEASE_SECONDS = 120.0
    job_claim(job(people).pk)
    row = PlanJob.objects.get()
    assert row.lease_until is not None
    assert row.started_at is not None
    assert abs(row.lease_until - row.started_at - timedelta(seconds=120)) < timedelta(milliseconds=50)
