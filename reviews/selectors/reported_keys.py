"""What is kept of an identity report beside its bytes: which keys are not as decided, and how long a report counts."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from django.conf import settings

from planner.canonical import canonical_bytes
from planner.records.validity import Difference as ReportedKey
from reviews.policies.validity import Difference

__all__ = [
    "ReportedKey",
    "counts_since",
    "fresh_for",
    "keys_from",
    "keys_text",
    "keys_value",
    "names_from",
    "names_text",
]

KEYS_NAMED = 50
"""Keys of one report that are named; the bytes of the report have all."""


def fresh_for() -> timedelta:
    """Return how long a report counts after it was collected (``IDENTITY_FRESH_SECONDS``)."""
    return timedelta(seconds=settings.IDENTITY_FRESH_SECONDS)


def counts_since(now: datetime) -> datetime:
    """Return when a report that counts now was collected at the earliest."""
    return now - fresh_for()


def keys_value(differences: Sequence[Difference]) -> list[dict[str, str]]:
    """Return the first differences as entries of the log name them."""
    return [{"key": one.key, "how": one.how, "team": one.team} for one in differences[:KEYS_NAMED]]


def keys_text(named: list[dict[str, str]]) -> str:
    """Return named keys as the row of a report keeps them; empty where everything is as decided."""
    return canonical_bytes(named).decode() if named else ""


def keys_from(text: str) -> tuple[ReportedKey, ...]:
    """Return the keys that the row of a report keeps."""
    return msgspec.json.decode(text, type=tuple[ReportedKey, ...]) if text else ()


def names_text(keys: Sequence[str]) -> str:
    """Return keys as the row of a host keeps those that flapped; empty where there is none."""
    return canonical_bytes(list(keys)).decode() if keys else ""


def names_from(text: str) -> tuple[str, ...]:
    """Return the keys that the row of a host keeps."""
    return msgspec.json.decode(text, type=tuple[str, ...]) if text else ()
