"""Values of production in words: a value has one unit, whether a page, a message or the command line says it.

Rules kept: the unit stands in the metric's name but for rates and shares, whose statistic says what they are.
"""

from planner.numbers import GIB

__all__ = ["range_text", "unit_of", "value_text"]

ENDS = {"_bytes": "bytes", "_ms": "ms", "_watts": "W", "_s": "s", "_share": "percent"}


def unit_of(metric: str, statistic: str = "") -> str:
    """Return the unit of a statistic of a metric as it is written; ``percent`` of a share, empty of a plain count."""
    if statistic == "share":
        return "percent"
    if statistic == "rate":
        return "tok/s"
    return next((unit for end, unit in ENDS.items() if metric.endswith(end)), "")


def value_text(value: float, metric: str, statistic: str) -> str:
    """Write a value in a sentence: bytes in GiB, a share in per cent."""
    unit = unit_of(metric, statistic)
    if unit == "bytes":
        return f"{value / GIB:,.5g} GiB"
    if unit == "percent":
        return f"{100 * value:,.5g} %"
    return f"{value:,.5g} {unit}".rstrip()


def range_text(low: float | None, high: float | None, metric: str, statistic: str) -> str:
    """Write what a value can be; ``high`` is None where it is open."""
    if low is None:
        return "unknown"
    nearest = value_text(low, metric, statistic)
    if high is None:
        return f"{nearest} or more"
    farthest = value_text(high, metric, statistic)
    return nearest if farthest == nearest else f"{nearest} to {farthest}"
