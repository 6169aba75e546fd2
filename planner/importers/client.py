"""What the files of load clients have in common: the load asked for, the model's name, times, definitions."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from math import isinf

from planner.importers.model import Place
from planner.importers.quantities import STATISTICS
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Path, Sheet

__all__ = [
    "PER_REQUEST_DECODE",
    "UNIX_RANGE",
    "answers_from_completed",
    "flat_latency",
    "take_definitions",
    "take_flat_latencies",
    "take_instants",
    "take_load",
    "take_model",
    "unix_time",
]

PER_REQUEST_DECODE = "(e2e-ttft)/(n-1)"
"""TPOT without the first token: the definition that limits ask for by default."""

_FLAT = re.compile(r"(mean|median|std|min|max|p[0-9]{1,2}(?:\.[0-9]{1,3})?)_(ttft|tpot|itl|e2el|e2e_latency)(_ms)?")
_FLAT_FAMILIES = {"ttft": "ttft_ms", "tpot": "tpot_ms", "itl": "itl_ms", "e2el": "e2e_ms", "e2e_latency": "e2e_ms"}
_STATISTICS = {"median": "p50", "p99.9": "p99_9"}
_TAKEN = frozenset({*STATISTICS, "std", "min", "p1", "p5", "p10", "p25", "p75"})

UNIX_RANGE = (946_684_800, 4_102_444_800)
"""2000 to 2100: seconds, not milliseconds."""


def take_load(sheet: Sheet, rate: Path, concurrency: Path) -> None:
    """Take the load asked for: a rate that is a number, "inf" or infinite, and the ceiling of requests in flight.

    Without a rate the loop is closed where a ceiling stands; with neither, everything was sent at once.
    """
    asked, ceiling = sheet.get(*rate), sheet.get(*concurrency)
    at_once = asked is None or asked == "inf" or (isinstance(asked, float) and isinf(asked) and asked > 0)
    if ceiling is not None:
        sheet.number("concurrent_requests", *concurrency, standing="stated")
    if not at_once:
        if sheet.number("offered_requests_per_s", *rate, standing="stated") is not None:
            sheet.put_text("arrival", "open", sheet.place(*rate))
            sheet.number("burstiness", *rate[:-1], "burstiness", standing="stated")
    elif ceiling is not None:
        sheet.put_text("arrival", "closed", sheet.place(*concurrency))
    else:
        sheet.remark(
            "import/all_at_once", "all requests were sent at once: no load point is like it", sheet.place(*rate)
        )


@lru_cache(maxsize=1024)
def flat_latency(key: str) -> tuple[str, str] | None:
    """Return name and unit of a key such as ``p99_ttft_ms``; without ``_ms`` the tools write seconds.

    None for other keys, and for percentiles that we have no name for.
    """
    found = _FLAT.fullmatch(key)
    if found is None:
        return None
    statistic = _STATISTICS.get(found[1], found[1])
    return (f"{_FLAT_FAMILIES[found[2]]}.{statistic}", "ms" if found[3] else "s") if statistic in _TAKEN else None


def take_flat_latencies(sheet: Sheet, keys: Iterable[str], *, base: Path = ()) -> None:
    """Take the latencies among the keys of a flat object, which ``base`` leads to."""
    for key in keys:
        known = flat_latency(key)
        if known is not None:
            sheet.number(known[0], *base, key, unit=known[1])


def take_model(sheet: Sheet, name: str, *path: str | int) -> None:
    """Take the name of a model; of a path on a machine only the last part, which is then a name to confirm."""
    raw = sheet.get(*path)
    if isinstance(raw, str) and last_part(raw) != raw:
        place = sheet.place(*path)
        kept = sheet.put_text(name, last_part(raw), place)
        sheet.remark("import/local_path", f"{name} is a path on a machine; its last part, {kept}, is taken", place)
    else:
        sheet.text(name, *path)


def take_instants(sheet: Sheet, start: Path, end: Path) -> None:
    """Take start and end given in seconds since 1970, which have no zone to mistake."""
    for name, path in (("started_at", start), ("ended_at", end)):
        raw = sheet.get(*path)
        if isinstance(raw, int | float) and UNIX_RANGE[0] < raw < UNIX_RANGE[1]:
            sheet.put_text(name, unix_time(raw), sheet.place(*path), standing="measured")


def unix_time(seconds: float) -> str:
    """Return whole seconds of UTC as our documents write them."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def answers_from_completed(sheet: Sheet, *families: str) -> None:
    """Count one sample a completed request for figures that every completed request has."""
    completed = sheet.value("completed")
    for family in families:
        if completed and sheet.has(family):
            sheet.put(f"{family}.n", completed, sheet.place_of("completed"))


def take_definitions(sheet: Sheet, *, tpot: str = "", itl: str = "", place: Place | None = None) -> None:
    """Say how a tool defines TPOT and ITL, where the run has them."""
    for name, family, definition in (("tpot_definition", "tpot_ms", tpot), ("itl_definition", "itl_ms", itl)):
        if definition and sheet.has(family):
            sheet.put_text(name, definition, place or sheet.place())
