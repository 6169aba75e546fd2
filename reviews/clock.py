"""The time, from the database where it has a clock that all processes share."""

from datetime import UTC, datetime

from django.db import connection
from django.utils import timezone


def database_now() -> datetime:
    """Return the time now in UTC. On PostgreSQL it is the server's and moves on within a transaction."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now.astimezone(UTC)


def when(at: datetime) -> str:
    """Write a time for people, ``28 Nov 2026 17:12`` in UTC; pages say once that all times are UTC."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y %H:%M}"


def when_exactly(at: datetime) -> str:
    """Write a time for people with its second: ``28 Nov 2026 17:12:04``."""
    return f"{when(at)}:{at:%S}"


def utc_text(moment: datetime) -> str:
    """Return RFC 3339 text in UTC with six digits after the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
