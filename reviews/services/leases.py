"""Holds a plan job while it is worked on: claim, renew, report progress, let go.

Each step is one conditional UPDATE that names the lease token, with times from the database's clock, so a worker
that was taken for dead and wakes up again changes nothing.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from reviews.models import JobState, PlanJob

HEARTBEATS_PER_LEASE = 3


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to finish a job."""

    job_id: int
    token: uuid.UUID


def in_seconds(seconds: float) -> Combinable:
    """Return the database's time that many seconds from now; negative is the past."""
    span = Value(timedelta(seconds=seconds), output_field=DurationField())
    return ExpressionWrapper(Now() + span, output_field=DateTimeField())


def job_claim(job_id: int) -> Lease | None:
    """Take a job that is queued, or whose holder let the lease run out. None when there is nothing to do."""
    token = uuid.uuid4()
    free = Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=Now())
    claimed = PlanJob.objects.filter(free, pk=job_id, attempts__lt=settings.PLAN_MAX_ATTEMPTS).update(
        state=JobState.RUNNING,
        lease_token=token,
        lease_until=in_seconds(settings.PLAN_LEASE_SECONDS),
        attempts=F("attempts") + 1,
        started_at=Now(),
        finished_at=None,
        candidates_done=0,
        error_code="",
        error_detail="",
    )
    return Lease(job_id, token) if claimed else None


def _held(lease: Lease) -> Q:
    return Q(pk=lease.job_id, state=JobState.RUNNING, lease_token=lease.token)


def lease_renew(lease: Lease) -> bool:
    """Move the end of the lease on. False when somebody else holds the job by now."""
    until = in_seconds(settings.PLAN_LEASE_SECONDS)
    return PlanJob.objects.filter(_held(lease)).update(lease_until=until) == 1


def lease_progress(lease: Lease, done: int, total: int) -> None:
    """Write how far the run is, for whoever watches the page."""
    PlanJob.objects.filter(_held(lease)).update(candidates_done=done, candidates_total=total)


def lease_end(lease: Lease, state: JobState, *, code: str = "", detail: str = "") -> bool:
    """Give the job back in a state. False when it was somebody else's already: then nothing may be written."""
    ended = PlanJob.objects.filter(_held(lease)).update(
        state=state,
        lease_token=None,
        lease_until=None,
        finished_at=None if state == JobState.QUEUED else Now(),
        error_code=code,
        error_detail=detail[:2000],
    )
    return ended == 1


@contextmanager
def heartbeat(lease: Lease) -> Iterator[None]:
    """Renew the lease from a thread of its own while the block computes."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(lease, stop), name="lease-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(lease: Lease, stop: threading.Event) -> None:
    pause = settings.PLAN_LEASE_SECONDS / HEARTBEATS_PER_LEASE
    try:
        while not stop.wait(pause):
            try:
                if not lease_renew(lease):
                    return
            except DatabaseError:
                # The next beat tries again; if the database stays away the lease runs out, as it should.
                connection.close()
    finally:
        connection.close()
