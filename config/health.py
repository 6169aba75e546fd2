"""Two answers for whoever runs the service: the process is alive; what it needs can be reached.

A broker that is away does not make the service unready: submissions are kept in the database and planned later, so
taking the web servers out would turn a delay into an outage. The answer says it all the same.
"""

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from redis.backoff import NoBackoff
from redis.retry import Retry

BROKER_SECONDS = 1.0
HEALTH = "/health/"


class AskedByNobody:
    """Takes the cookies off questions about health: who asks does not matter, and finding out takes the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(HEALTH):
            request.META.pop("HTTP_COOKIE", None)
        return self.get_response(request)


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Answer 200 while the process serves requests."""
    return text("alive\n")


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers, else 503. Says nothing about versions or places."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return text("database not reached\n", status=503)
    return text("ready\n" if broker_answers() else "ready, broker not reached: plans wait\n")


def broker_answers() -> bool:
    """Ask the broker once and wait at most BROKER_SECONDS."""
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=BROKER_SECONDS,
        socket_timeout=BROKER_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def text(words: str, status: int = 200) -> HttpResponse:
    """Return plain text that nobody keeps."""
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(words, status=status, content_type="text/plain; charset=utf-8", headers=headers)
