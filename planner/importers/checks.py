"""What every file of a load client is held against: figures that contradict each other, names that contradict figures.

Sources: the definitions of the tools (output tokens per second = output tokens / duration; TPOT without the first
token) and their known faults. A contradiction holds the run for a person; nothing is corrected.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from planner.importers.quantities import FAMILIES
from planner.importers.sheet import Sheet

__all__ = ["check_client", "check_name", "client_quantities"]

TOLERANCE = 0.01
LENGTH_TOLERANCE = 0.1
E2E_FACTOR = 2
"""How far the means of E2E and of its parts may be apart: lengths differ from request to request, units by 1,000."""
RATE_MARGIN = 1.5
"""Means of requests weigh short answers like long ones, so the rate may be above what they give."""
HALF_A_HUNDREDTH = 0.0051
ORDER = ("min", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99_9", "max")
RATES = ("output_tokens_per_s", "input_tokens_per_s", "total_tokens_per_s", "completed_per_s")


def client_quantities(*others: str) -> tuple[str, ...]:
    """Return what a complete file of a load client would hold, ``others`` beside it."""
    counts = ("sent", "completed", "failed", "duration_s", "input_tokens_total", "output_tokens_total")
    statistics = tuple(f"{family}.{statistic}" for family in FAMILIES for statistic in ("mean", "p50", "p95", "p99"))
    return (*counts, "concurrent_requests", "model_name", *statistics, *others)


def check_client(sheet: Sheet) -> None:
    """Hold or refuse a run whose figures cannot all be true."""
    if sheet.value("completed") == 0:
        sheet.drop(
            *FAMILIES,
            *RATES,
            "output_tokens_mean",
            "input_tokens_mean",
            "in_flight_mean",
            "tpot_definition",
            "itl_definition",
        )
        sheet.remark(
            "import/none_completed",
            "no request completed: every latency and rate of this run is missing, not zero; it is no evidence",
            sheet.place_of("completed"),
            "refused",
        )
        return
    for sentence in (*_rates(sheet), *_order(sheet), *_parts(sheet), *_counts(sheet)):
        sheet.remark("import/contradiction", sentence, effect="held")
    for sentence in _units(sheet):
        sheet.remark("import/unit", sentence, effect="held")
    for sentence in _lengths(sheet):
        sheet.remark("import/other_workload", sentence)
    failed = sheet.value("failed")
    if failed:
        sheet.remark("import/failed_requests", f"{failed} requests failed", sheet.place_of("failed"))


def _off(found: float, expected: float, tolerance: float = TOLERANCE) -> bool:
    return abs(found - expected) > tolerance * max(abs(expected), abs(found))


def _rates(sheet: Sheet) -> Iterator[str]:
    duration = sheet.value("duration_s")
    if not duration:
        return
    total_in, total_out = sheet.value("input_tokens_total"), sheet.value("output_tokens_total")
    both = total_in + total_out if total_in is not None and total_out is not None else None
    for rate, count in (
        ("output_tokens_per_s", total_out),
        ("input_tokens_per_s", total_in),
        ("total_tokens_per_s", both),
        ("completed_per_s", sheet.value("completed")),
    ):
        found = sheet.value(rate)
        if found is not None and count is not None and not _agrees(found, count / duration):
            yield f"{rate} is {found}, but the counts over {duration} s give {count / duration:.6g}"


def _agrees(found: float, expected: float) -> bool:
    """Say whether a rate is the one of its counts, but for rounding to hundredths by a console."""
    rounded = abs(found - expected) <= HALF_A_HUNDREDTH and round(found, 2) == found
    return rounded or not _off(found, expected)


def _order(sheet: Sheet) -> Iterator[str]:
    for family in FAMILIES:
        known = [(name, sheet.value(f"{family}.{name}")) for name in ORDER]
        values = [(name, value) for name, value in known if value is not None]
        for (low, lower), (high, higher) in pairwise(values):
            if lower > higher:
                yield f"{family}: {low} is {lower}, above {high} with {higher}"


def _parts(sheet: Sheet) -> Iterator[str]:
    ttft, e2e, tpot = (sheet.value(f"{family}.mean") for family in ("ttft_ms", "e2e_ms", "tpot_ms"))
    for statistic in ("mean", "p50", "p99"):
        first, whole = sheet.value(f"ttft_ms.{statistic}"), sheet.value(f"e2e_ms.{statistic}")
        if first is not None and whole is not None and first > whole * (1 + TOLERANCE):
            yield f"{statistic} of ttft_ms is {first}, above e2e_ms with {whole}"
    tokens = _output_mean(sheet)
    if ttft is not None and tpot is not None and e2e and tokens and tokens > 1:
        expected = ttft + (tokens - 1) * tpot
        if expected > E2E_FACTOR * e2e or e2e > E2E_FACTOR * expected:
            yield f"e2e_ms is {e2e} on average, but ttft_ms and tpot_ms over {tokens:.6g} tokens give {expected:.6g}"
    rate, limit = sheet.value("output_tokens_per_s"), sheet.value("concurrent_requests")
    if rate and limit and tpot and rate > RATE_MARGIN * limit * 1000 / tpot:
        yield f"output_tokens_per_s is {rate}, more than {limit} requests at {tpot} ms a token can give"


def _counts(sheet: Sheet) -> Iterator[str]:
    sent, completed, failed = (sheet.value(name) for name in ("sent", "completed", "failed"))
    if sent is None or completed is None:
        return
    ended = completed + (failed or 0) + (sheet.value("cut_off") or 0)
    if ended > sent:
        yield f"{sent} requests were sent, but {ended} ended"


def _units(sheet: Sheet) -> Iterator[str]:
    for family, least in (("ttft_ms", 1.0), ("tpot_ms", 0.1)):
        for statistic in ("p50", "mean"):
            value = sheet.value(f"{family}.{statistic}")
            if value is not None and value < least:
                yield f"{statistic} of {family} is {value}, below {least:g} ms: the unit is in doubt"
                break


def _output_mean(sheet: Sheet) -> float | None:
    total, completed = sheet.value("output_tokens_total"), sheet.value("completed")
    if total is not None and completed:
        return float(total / completed)
    mean: float | None = sheet.value("output_tokens_mean")
    return mean


def _lengths(sheet: Sheet) -> Iterator[str]:
    completed = sheet.value("completed")
    for kind, asked_names, total_name, mean_name in (
        ("prompt", ("prompt_tokens", "prompt_tokens_mean"), "input_tokens_total", "input_tokens_mean"),
        ("output", ("output_tokens", "output_tokens_asked_mean"), "output_tokens_total", "output_tokens_mean"),
    ):
        asked = next((sheet.value(name) for name in asked_names if sheet.value(name)), None)
        total = sheet.value(total_name)
        real = total / completed if total is not None and completed else sheet.value(mean_name)
        if asked and real is not None and _off(real, asked, LENGTH_TOLERANCE):
            yield f"{asked} {kind} tokens were asked for, {real:.6g} were real on average"


_NAMED = {
    "tp": re.compile(r"(?<![a-z])tp[-_=]?([0-9]{1,4})(?![a-z0-9])"),
    "concurrent_requests": re.compile(r"(?<![a-z])conc(?:urrency)?[-_=]?([0-9]{1,6})(?![a-z0-9])"),
}
_JOINTS = str.maketrans("", "", "-_ .")
_FAMILIES = (
    *("deepseek", "gemma", "glm", "gptoss", "kimi", "llama", "minimax", "mistral", "mixtral", "nemotron"),
    *("phi", "qwen"),
)


def check_name(sheet: Sheet, name: str) -> None:
    """Hold a run whose file or folders are named for another degree, load or model; a name alone proves nothing."""
    hints, outside = _hints("/".join(name.lower().split("/")[-3:]))
    for quantity, hint in hints:
        value = sheet.value(quantity)
        if value is None:
            sentence = f"the name says {quantity} {hint}; the file does not, so it has to be confirmed"
            sheet.remark("import/name_hint", sentence)
        elif hint != value:
            sentence = f"the name says {quantity} {hint}, the file {value}: the content counts, a person confirms"
            sheet.remark("import/name_contradicts", sentence, effect="held")
    model = sheet.value("model_name")
    if model:
        inside = _models(model)
        if inside and outside - inside:
            sentence = f"the name says {'/'.join(sorted(outside - inside))}, the file {model}: a person confirms"
            sheet.remark("import/name_contradicts", sentence, effect="held")


@lru_cache(maxsize=256)
def _hints(named: str) -> tuple[tuple[tuple[str, int], ...], frozenset[str]]:
    """Return the degrees and loads that a name has in it, and the families of models."""
    found = ((quantity, pattern.search(named)) for quantity, pattern in _NAMED.items())
    return tuple((quantity, int(hint[1])) for quantity, hint in found if hint), _models(named)


def _models(text: str) -> frozenset[str]:
    plain = text.lower().translate(_JOINTS)
    return frozenset(family for family in _FAMILIES if family in plain)
