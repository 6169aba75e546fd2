"""Overrides as they are written: ``POINTER=VALUE``, ``POINTER`` and ``TRIAL:GATE.LIMIT=VALUE``, read and written.

Rules kept: a value is JSON, read as strictly as a document; what cannot be read is a problem that carries what was
written. Whether there is such a place, trial or limit is for ``planner.overrides`` to say.
"""

from typing import Any

from planner.canonical import canonical_bytes
from planner.errors import DocumentRefusedError, Problem
from planner.overrides.readings import Reading
from planner.overrides.settings import CODE, Setting
from planner.shown import shown
from planner.strict_json import parse

__all__ = ["read_reading", "read_setting", "reading_text", "setting_text"]


def read_setting(text: str) -> Setting | Problem:
    """Read ``POINTER=VALUE``."""
    at, equals, value = text.partition("=")
    if not equals:
        return Problem(CODE, text, "POINTER=VALUE", "no =")
    found, is_json = _json(value)
    return Setting(at=at, value=found) if is_json else Problem(CODE, at, "a value in JSON", shown(value))


def read_reading(text: str) -> Reading | Problem:
    """Read ``TRIAL:GATE.LIMIT=VALUE``."""
    place, equals, value = text.rpartition("=")
    trial, colon, limit = place.partition(":")
    gate, dot, limit_id = limit.partition(".")
    if not (equals and colon and dot):
        return Problem(CODE, text, "TRIAL:GATE.LIMIT=VALUE", shown(text))
    found, _ = _json(value)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return Problem(CODE, place, "a number", shown(value))
    return Reading(trial=trial, gate=gate, limit_id=limit_id, value=found)


def setting_text(at: str, value: Any) -> str:
    """Write a value of the contract to be put at a pointer."""
    return f"{at}={canonical_bytes(value).decode()}"


def reading_text(reading: Reading) -> str:
    """Write a reading that is taken to be otherwise."""
    return f"{reading.name}={canonical_bytes(reading.value).decode()}"


def _json(text: str) -> tuple[Any, bool]:
    try:
        return parse(text.encode()), True
    except (DocumentRefusedError, UnicodeEncodeError):
        return None, False
