"""Wakes workers. The job row is the queue; a message only says "look at it now", and losing one loses nothing.

Services never import tasks: a message names its task. Publishing happens after commit, is tried once with short
time-outs, and a broker that is down or hangs fails no request: the sweep takes care of the job.
"""

import logging
from functools import cache

from celery import current_app
from django.conf import settings
from kombu.connection import Connection
from kombu.exceptions import KombuError, OperationalError
from kombu.pools import producers
from redis.exceptions import RedisError

PLAN_TASK = "reviews.plan_run"
READ_TASK = "reviews.draft_file_read"
SIGN_TASK = "reviews.log_sign"
NOTIFY_TASK = "reviews.delivery_send"
EXPORT_TASK = "reviews.export_run"
VERIFY_TASK = "reviews.verification_run"
logger = logging.getLogger(__name__)


def wake(job_id: int, task: str = PLAN_TASK) -> bool:
    """Publish the wake-up of a task for a row now. Returns whether the broker took it."""
    try:
        with producers[_broker()].acquire(block=True) as producer:
            current_app.send_task(task, args=[job_id], retry=False, ignore_result=True, producer=producer)
    except (OperationalError, KombuError, RedisError, OSError) as error:
        logger.warning("%s %d was not announced: %s", task, job_id, type(error).__name__)
        return False
    return True


@cache
def _broker() -> Connection:
    """Return the broker as publishers reach it, with shorter time-outs than the workers' own connections."""
    connection: Connection = current_app.connection_for_write(transport_options=settings.WAKE_TRANSPORT_OPTIONS)
    return connection
