"""Rows as queues: each waits, is held by a lease while somebody works on it, and ends.

Each step is one conditional UPDATE that names the lease token, with times from the database's clock, so a worker
that was taken for dead and wakes up again changes nothing. What a row becomes in the end is its service's business.
"""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Manager, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from reviews import queue
from reviews.models import JobState, PlanJob

HEARTBEATS_PER_LEASE = 3
PROGRESS_SECONDS = 1.0
"""How often a heartbeat that tells progress beats at least."""
WAKE_AT_ONCE = 20
"""How many waiting rows one sweep wakes, so that a long queue does not flood the broker with repeats."""


@dataclass(frozen=True, slots=True)
class Line:
    """A table that is a queue: its states of waiting and being held, and the task that a message names."""

    rows: Manager[Any]
    waiting: str
    held: str
    task: str

    def free(self) -> Q:
        """Return what nobody works on: it waits, or its holder let the lease run out."""
        return Q(state=self.waiting) | Q(state=self.held, lease_until__lt=Now())

    def hopeless(self, most: int) -> QuerySet[Any]:
        """Return what was tried so often, and nobody works on."""
        return self.rows.filter(self.free(), attempts__gte=most)


@dataclass(slots=True)
class Hold:
    """The right to finish a row; ``done`` counts how far the work is."""

    line: Line
    row_id: int
    token: uuid.UUID
    done: int = field(default=0)

    def rows(self) -> QuerySet[Any]:
        """Return the row while it is held by this one, afterwards nothing."""
        return self.line.rows.filter(pk=self.row_id, state=self.line.held, lease_token=self.token)

    def tell(self, done: int) -> None:
        """Take note of how far the work is; the heartbeat writes it down."""
        self.done = done

    def renew(self, **changes: Any) -> bool:
        """Move the end of the lease on. False when somebody else holds the row by now."""
        return self.rows().update(lease_until=in_seconds(settings.PLAN_LEASE_SECONDS), **changes) == 1

    def end(self, state: str, **changes: Any) -> bool:
        """Give the row back in a state. False when it was somebody else's already: then nothing may be written."""
        return self.rows().update(state=state, lease_token=None, lease_until=None, **changes) == 1


@dataclass(frozen=True, slots=True)
class Woken:
    """How many workers were woken; ``unheard`` are the rows of which the broker took no message."""

    woken: int
    unheard: tuple[int, ...]


def in_seconds(seconds: float) -> Combinable:
    """Return the database's time that many seconds from now; negative is the past."""
    span = Value(timedelta(seconds=seconds), output_field=DurationField())
    return ExpressionWrapper(Now() + span, output_field=DateTimeField())


def claim(line: Line, row_id: int, *, most: int, **changes: Any) -> Hold | None:
    """Take a row that is free and was tried less often than ``most``. None when there is nothing to do."""
    hold = Hold(line, row_id, uuid.uuid4())
    claimed = line.rows.filter(line.free(), pk=row_id, attempts__lt=most).update(
        state=line.held,
        lease_token=hold.token,
        lease_until=in_seconds(settings.PLAN_LEASE_SECONDS),
        attempts=F("attempts") + 1,
        **changes,
    )
    return hold if claimed else None


@contextmanager
def beating(hold: Hold, progress: Callable[[], dict[str, Any]] | None = None) -> Iterator[None]:
    """Renew the lease from a thread of its own while the block works, and write what ``progress`` returns."""
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(hold, progress, stop), name="lease-heartbeat", daemon=True)
    beat.start()
    try:
        yield
    finally:
        stop.set()
        beat.join()


def _beat(hold: Hold, progress: Callable[[], dict[str, Any]] | None, stop: threading.Event) -> None:
    pause = settings.PLAN_LEASE_SECONDS / HEARTBEATS_PER_LEASE
    if progress is not None:
        pause = min(PROGRESS_SECONDS, pause)
    try:
        while not stop.wait(pause):
            try:
                if not hold.renew(**(progress() if progress else {})):
                    return
            except DatabaseError:
                # The next beat tries again; if the database stays away the lease runs out, as it should.
                connection.close()
    finally:
        connection.close()


def waiting_wake(line: Line) -> Woken:
    """Let wait again what was left behind, and wake workers for what waits and nobody was told of lately.

    Safe to run from any number of processes at any time. A row that the broker took no message of stays as it is, so
    that the next sweep tries again.
    """
    forgotten = in_seconds(-settings.PLAN_REWAKE_SECONDS)
    line.rows.filter(state=line.held, lease_until__lt=Now()).update(
        state=line.waiting, lease_token=None, lease_until=None, woken_at=forgotten
    )
    waiting = line.rows.filter(state=line.waiting, woken_at__lte=forgotten).order_by("woken_at", "pk")
    ids = list(waiting.values_list("pk", flat=True)[:WAKE_AT_ONCE])
    for number, row_id in enumerate(ids):
        if not queue.wake(row_id, line.task):
            # The broker is away; waiting for its time-out once more for every row helps nobody.
            return Woken(number, tuple(ids[number:]))
        line.rows.filter(pk=row_id).update(woken_at=Now())
    return Woken(len(ids), ())


JOBS = Line(PlanJob.objects, JobState.QUEUED, JobState.RUNNING, queue.PLAN_TASK)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to finish a plan job."""

    job_id: int
    token: uuid.UUID

    def hold(self) -> Hold:
        """The same of any queue."""
        return Hold(JOBS, self.job_id, self.token)


def job_claim(job_id: int) -> Lease | None:
    """Take a job that is queued, or whose holder let the lease run out. None when there is nothing to do."""
    hold = claim(
        JOBS,
        job_id,
        most=settings.PLAN_MAX_ATTEMPTS,
        started_at=Now(),
        finished_at=None,
        candidates_done=0,
        error_code="",
        error_detail="",
    )
    return Lease(job_id, hold.token) if hold else None


def lease_progress(lease: Lease, done: int, total: int) -> None:
    """Write how far the run is, for whoever watches the page."""
    lease.hold().rows().update(candidates_done=done, candidates_total=total)


def lease_end(lease: Lease, state: JobState, *, code: str = "", detail: str = "") -> bool:
    """Give the job back in a state. False when it was somebody else's already: then nothing may be written."""
    finished_at = None if state == JobState.QUEUED else Now()
    return lease.hold().end(state, finished_at=finished_at, error_code=code, error_detail=detail[:2000])
