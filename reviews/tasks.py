"""Celery: load an id, call one service. Nothing is decided here."""

import logging
import threading
import time
from collections.abc import Callable

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings
from django.db import DatabaseError, connection

from reviews.errors import ConflictError, LeaseLostError
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
from reviews.services.sweeps import decisions_sweep
from reviews.services.verification_runs import verification_run, verifications_sweep

logger = logging.getLogger(__name__)
_stop_sweeping = threading.Event()


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


# Below the broker's visibility time-out: a longer run would be delivered again, and find its lease held.
@shared_task(name=EXPORT_TASK, soft_time_limit=780, time_limit=840)  # type: ignore[untyped-decorator] # no types
def export_write(export_id: int) -> None:
    """Write one export, if it is free."""
    export_run(export_id)


# The same limits: it writes a bundle of the whole log.
@shared_task(name=VERIFY_TASK, soft_time_limit=780, time_limit=840)  # type: ignore[untyped-decorator] # no types
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
            _work_on_unheard()
            drafts_expire()
            decisions_sweep()
            notices_sweep()
            for delivery_id in deliveries_sweep():
                _apart(delivery_run, delivery_id)
            if time.monotonic() >= sign_at:
                sign_at = time.monotonic() + settings.CHECKPOINT_SECONDS
                checkpoints_sign()
                notices_prune()
                findings_lapse()
                observations_prune()
                places_prune()
        except (DatabaseError, ConflictError) as error:
            logger.warning("the sweep failed: %s", error)
        finally:
            # The worker forks children at any time; an open connection must not be carried into one.
            connection.close()
        _stop_sweeping.wait(settings.PLAN_SWEEP_SECONDS)


def _work_on_unheard() -> None:
    """Wake workers for what waits, and work here on what the broker took no message of."""
    for job_id in jobs_sweep().unheard:
        _apart(plan_run, job_id)
    for sweep, task in (
        (draft_files_sweep, file_read),
        (exports_sweep, export_write),
        (verifications_sweep, log_verify),
    ):
        for row_id in sweep():
            _apart(task, row_id)


def _apart(task: Callable[[int], None], row_id: int) -> None:
    """Work on a row in a thread of its own: an error ends that run, which is given back, and not the sweep."""
    thread = threading.Thread(target=_run_and_close, args=(task, row_id), name="sweep-unheard", daemon=True)
    thread.start()
    thread.join()


def _run_and_close(task: Callable[[int], None], row_id: int) -> None:
    try:
        task(row_id)
    finally:
        connection.close()


worker_ready.connect(start_sweeping)
worker_shutdown.connect(stop_sweeping)
