"""Runs plan jobs: claim, plan outside any transaction, finish under the fence, and put right what was left behind.

Exactly one plan per question, however often a message is delivered, lost or repeated: the claim and the fence are
conditional updates of the job row, and the plan belongs to the job one to one. A run that ends differently from a
plan that is already there changes nothing and is reported.
"""

import time
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from reviews import queue
from reviews.audit import Act, append, workspace_write
from reviews.blobs import blob_keep
from reviews.errors import LeaseLostError
from reviews.models import Blob, JobState, Plan, PlanJob, Revision
from reviews.planning import MadePlan, StoredBytes, StoredBytesError, make_plan
from reviews.services.leases import (
    JOBS,
    Lease,
    beating,
    in_seconds,
    job_claim,
    lease_end,
    lease_progress,
    waiting_wake,
)
from reviews.services.planned import revision_fail, revision_take_plan

PROGRESS_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep did; ``unheard`` are waiting jobs of which the broker took no message."""

    woken: int
    given_up: int
    unheard: tuple[int, ...] = ()


def job_run(job_id: int) -> JobState | None:
    """Work on a job until it is done or has failed. None when it was not free.

    Raises:
        LeaseLostError: another worker took the job over meanwhile; nothing was written.
    """
    lease = job_claim(job_id)
    if lease is None:
        return None
    finished = False
    try:
        job = PlanJob.objects.select_related("workspace", "contract", "evidence").get(pk=job_id)
        try:
            with beating(lease.hold()):
                made = _plan(job, lease)
        except StoredBytesError as error:
            state = job_fail(job, lease, code=error.code, reason=error.message)
        else:
            state = job_finish(job, lease, made)
        finished = True
        return state
    finally:
        if not finished:
            job_release(job_id, lease)


def _plan(job: PlanJob, lease: Lease) -> MadePlan:
    receipt = job.evidence.receipts.select_related("blob").last()
    return make_plan(
        contract=_stored(job.contract.blob),
        evidence=_stored(job.evidence.blob),
        receipt=None if receipt is None else _stored(receipt.blob),
        as_of=job.as_of,
        progress=_Progress(lease),
    )


def _stored(blob: Blob) -> StoredBytes:
    return StoredBytes(bytes(blob.data), blob.sha256)


class _Progress:
    """Writes progress at most every so often: a row update for each of 500 candidates would cost more than them."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.written_at = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.written_at >= PROGRESS_SECONDS or done == total:
            self.written_at = now
            lease_progress(self.lease, done, total)


def job_finish(job: PlanJob, lease: Lease, made: MadePlan) -> JobState:
    """Store the plan and give it to every revision that waits for it.

    Raises:
        LeaseLostError: the lease is somebody else's by now.
    """
    with workspace_write(job.workspace_id):
        if not lease_end(lease, JobState.DONE):
            raise LeaseLostError(f"Plan job {job.pk} was taken over by another worker.")
        earlier = Plan.objects.filter(job=job).first()
        blob = blob_keep(made.raw)
        if earlier is not None:
            if earlier.blob_id != blob.sha256:
                _alarm(job, earlier, blob.sha256)
            return JobState.DONE
        plan = Plan.objects.create(
            job=job,
            plan_id=made.plan_id,
            blob_id=blob.sha256,
            decision_word=made.record.decision,
            selected_trial=made.record.selected.trial if made.record.selected else "",
            selected_topology=made.record.selected.topology if made.record.selected else "",
            eligible_count=made.count("ELIGIBLE"),
            rejected_count=made.count("REJECTED"),
            inconclusive_count=made.count("INCONCLUSIVE"),
        )
        for revision in _waiting(job):
            revision_take_plan(job.workspace, revision, plan)
    return JobState.DONE


def _alarm(job: PlanJob, earlier: Plan, found: str) -> None:
    """Two runs of one question gave different bytes: the first plan stands, both are kept, everybody can see it."""
    payload = {"job": job.pk, "stands": earlier.blob_id, "differs": found, "planner_version": job.planner_version}
    append(
        job.workspace,
        Act(
            action="plan.not_deterministic",
            reason="Two runs of one question gave different plans. The first one stands.",
            payload_type="topogate.not_deterministic/v1",
            payload=payload,
        ),
    )


def job_fail(job: PlanJob, lease: Lease, *, code: str, reason: str) -> JobState:
    """Record that the job can never succeed, with the reason, on every revision that waits for it.

    Raises:
        LeaseLostError: the lease is somebody else's by now.
    """
    with workspace_write(job.workspace_id):
        if not lease_end(lease, JobState.FAILED, code=code, detail=reason):
            raise LeaseLostError(f"Plan job {job.pk} was taken over by another worker.")
        for revision in _waiting(job):
            revision_fail(job.workspace, revision, code=code, reason=reason)
    return JobState.FAILED


def job_release(job_id: int, lease: Lease) -> None:
    """Give a job back after an error that the job itself may not be to blame for."""
    if lease_end(lease, JobState.QUEUED, code="interrupted", detail="The run ended with an error."):
        job_wake(job_id)


def job_wake_after_commit(job_id: int) -> None:
    """Wake a worker for the job once the present transaction is committed."""
    transaction.on_commit(partial(job_wake, job_id))


def job_wake(job_id: int) -> None:
    """Wake a worker for the job now; where the broker takes no message, the very next sweep finds it waiting."""
    if not queue.wake(job_id):
        forgotten = in_seconds(-settings.PLAN_REWAKE_SECONDS)
        PlanJob.objects.filter(pk=job_id, state=JobState.QUEUED).update(woken_at=forgotten)


def job_restart(job: PlanJob) -> None:
    """Queue a job anew that had failed or been given up. Call it inside ``workspace_write``."""
    PlanJob.objects.filter(pk=job.pk, state__in=(JobState.FAILED, JobState.POISONED)).update(
        state=JobState.QUEUED, attempts=0, queued_at=Now(), woken_at=Now(), error_code="", error_detail=""
    )


def _waiting(job: PlanJob) -> list[Revision]:
    waiting = Revision.objects.filter(job=job, planned__isnull=True)
    return list(waiting.select_related("decision", "contract", "evidence", "policy").order_by("pk"))


def jobs_sweep() -> Sweep:
    """Give up on jobs that failed too often, and wake workers for jobs that nobody works on.

    Safe to run from any number of processes at once, at any time. A job that the broker took no message of stays as
    it is, so that the next sweep tries again.
    """
    hopeless = JOBS.hopeless(settings.PLAN_MAX_ATTEMPTS).order_by("pk").values_list("pk", flat=True)
    given_up = sum(job_give_up(job_id) for job_id in list(hopeless))
    woken = waiting_wake(JOBS)
    return Sweep(woken=woken.woken, given_up=given_up, unheard=woken.unheard)


def job_give_up(job_id: int) -> bool:
    """Mark a job that was tried too often as poisoned, and say so on its revisions."""
    job = PlanJob.objects.select_related("workspace").get(pk=job_id)
    with workspace_write(job.workspace_id):
        reason = f"The planner run ended {job.attempts} times without a result."
        given_up = (
            JOBS.hopeless(settings.PLAN_MAX_ATTEMPTS)
            .filter(pk=job_id)
            .update(
                state=JobState.POISONED,
                lease_token=None,
                lease_until=None,
                finished_at=Now(),
                error_code="given_up",
                error_detail=reason,
            )
        )
        if not given_up:
            return False
        for revision in _waiting(job):
            revision_fail(job.workspace, revision, code="given_up", reason=reason)
    return True
