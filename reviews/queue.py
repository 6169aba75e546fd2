"""Wakes workers. The job row is the queue; a message only says "look at it now", and losing one loses nothing.

Services never import tasks: a message names its task. Publishing happens after commit, is tried once with short
time-outs, and a broker that is down or hangs fails no request: the sweep wakes the job again.
"""

import logging
from functools import partial

from celery import current_app
from django.db import transaction
from kombu.exceptions import KombuError, OperationalError
from redis.exceptions import RedisError

PLAN_TASK = "reviews.plan_run"
logger = logging.getLogger(__name__)


def wake_after_commit(job_id: int) -> None:
    """Wake a worker for the job once the present transaction is committed."""
    transaction.on_commit(partial(wake, job_id))


def wake(job_id: int) -> bool:
    """Publish the wake-up now. Returns whether the broker took it."""
    try:
        current_app.send_task(PLAN_TASK, args=[job_id], retry=False, ignore_result=True)
    except (OperationalError, KombuError, RedisError, OSError) as error:
        logger.warning("plan job %d was not announced: %s", job_id, type(error).__name__)
        return False
    return True
