"""Celery: load an id, call one service. Nothing is decided here."""

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings
from django.db import DatabaseError, connection

from reviews.errors import LeaseLostError, ReviewError
from reviews.models import Workspace
from reviews.queue import EXPORT_TASK, NOTIFY_TASK, PLAN_TASK, READ_TASK, SIGN_TASK, VERIFY_TASK
from reviews.services.checkpoints import checkpoint_sign, checkpoints_sign
from reviews.services.deliveries import deliveries_sweep, delivery_send
from reviews.services.draft_reading import draft_file_read, draft_files_sweep
from reviews.services.drafts import drafts_expire
from reviews.services.export_runs import export_run, exports_sweep
from reviews.services.host_places import places_prune
from reviews.services.jobs import job_run, jobs_sweep
from reviews.services.notices import notices_prune, notices_sweep
from reviews.services.observation_sweeps import findings_lapse, observations_prune
from reviews.services.proposal_ends import proposals_sweep
from reviews.services.sweeps import decisions_sweep
from reviews.services.verification_runs import verification_run, verifications_sweep

T = TypeVar("T")

logger = logging.getLogger(__name__)
_stop_sweeping = threading.Event()
# Below the broker's visibility time-out: a longer run would be delivered again, and find its lease held.
LONG = {"soft_time_limit": settings.LONG_TASK_SECONDS, "time_limit": settings.LONG_TASK_SECONDS + 60}
_connected = threading.RLock()
"""Held while the sweep has a connection open. The worker forks a child whenever one ended, and a child that is born
meanwhile would take over a copy of what SQLite knows of locks and files: its own connections then fail, or wait for
ever for a mutex whose holder it does not have. So a fork waits until there is no connection."""
os.register_at_fork(before=_connected.acquire, after_in_parent=_connected.release, after_in_child=_connected.release)


@shared_task(name=PLAN_TASK)  # type: ignore[untyped-decorator] # celery ships no types
def plan_run(job_id: int) -> None:
    """Work on one plan job, if it is free."""
    try:
        job_run(job_id)
    except LeaseLostError as lost:
        logger.warning("plan job %d: %s", job_id, lost.message)


@shared_task(name=READ_TASK)  # type: ignore[untyped-decorator] # celery ships no types
def file_read(file_id: int) -> None:
    """Read one file of a draft, if it is free."""
    draft_file_read(file_id)


@shared_task(name=SIGN_TASK)  # type: ignore[untyped-decorator] # celery ships no types
def log_sign(workspace_id: int) -> None:
    """Sign one log now, not at the next turn."""
    checkpoint_sign(Workspace.objects.get(pk=workspace_id))


@shared_task(name=EXPORT_TASK, **LONG)  # type: ignore[untyped-decorator] # celery ships no types
def export_write(export_id: int) -> None:
    """Write one export, if it is free."""
    export_run(export_id)


@shared_task(name=VERIFY_TASK, **LONG)  # type: ignore[untyped-decorator] # celery ships no types
def log_verify(verification_id: int) -> None:
    """Make one verification, if it is free."""
    verification_run(verification_id)


@shared_task(name=NOTIFY_TASK)  # type: ignore[untyped-decorator] # celery ships no types
def delivery_run(delivery_id: int) -> None:
    """Send one delivery, if it is free."""
    delivery_send(delivery_id)


def start_sweeping(**kwargs: object) -> None:
    """Sweep from the worker's main process: what was queued or running when the last one died is woken again, and
    what time alone did to decisions is written down.

    While the broker takes no messages, this process works on what waits, one job after another.
    """
    _stop_sweeping.clear()
    threading.Thread(target=_sweep_until_stopped, name="plan-sweep", daemon=True).start()


def stop_sweeping(**kwargs: object) -> None:
    """End the sweep with the worker."""
    _stop_sweeping.set()


def _sweep_until_stopped() -> None:
    sign_at = 0.0
    while not _stop_sweeping.is_set():
        try:
            for task, row_id in connected(_unheard):
                _apart(task, row_id)
            for delivery_id in connected(_settled):
                _apart(delivery_run, delivery_id)
            if time.monotonic() >= sign_at:
                sign_at = time.monotonic() + settings.CHECKPOINT_SECONDS
                connected(checkpoints_sign)
                connected(_prune)
        except (DatabaseError, ReviewError) as error:
            logger.warning("the sweep failed: %s", error)
        _stop_sweeping.wait(settings.PLAN_SWEEP_SECONDS)


def connected(work: Callable[[], T]) -> T:
    """Do something with the database in the worker's main process, and leave no connection open.

    A child that is due waits until it is done: for one job at most, where the broker takes no message.
    """
    with _connected:
        try:
            return work()
        finally:
            connection.close()


def _unheard() -> list[tuple[Callable[[int], None], int]]:
    """Wake workers for what waits; return what the broker took no message of, to be worked on here."""
    found = [(plan_run, job_id) for job_id in jobs_sweep().unheard]
    for sweep, task in (
        (draft_files_sweep, file_read),
        (exports_sweep, export_write),
        (verifications_sweep, log_verify),
    ):
        found += [(task, row_id) for row_id in sweep()]
    return found


def _settled() -> tuple[int, ...]:
    """Write down what time alone did; return the deliveries that the broker took no message of."""
    drafts_expire()
    decisions_sweep()
    proposals_sweep()
    notices_sweep()
    return tuple(deliveries_sweep())


def _prune() -> None:
    notices_prune()
    findings_lapse()
    observations_prune()
    places_prune()


def _apart(task: Callable[[int], None], row_id: int) -> None:
    """Work on a row in a thread of its own: an error ends that run, which is given back, and not the sweep."""
    thread = threading.Thread(target=connected, args=(partial(task, row_id),), name="sweep-unheard", daemon=True)
    thread.start()
    thread.join()


worker_ready.connect(start_sweeping)
worker_shutdown.connect(stop_sweeping)
