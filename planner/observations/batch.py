"""A batch of observations (``topogate.observations/v1``): what was seen of one decided topology in a span of time.

Rules kept: a segment names the rank, group or link that a metric is of, and the shape and phase where they are known; a
batch is of one topology revision (``subject``); values are counts, sums and histograms, never averages of averages. A
batch is refused with every problem; whether it may be taken now is ``admission_problems``.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

from msgspec import UnsetType

from planner.errors import Problem
from planner.intake.opening import opened
from planner.observations.metrics import METRICS, Of
from planner.records.observations import Batch, Segment
from planner.shown import shown
from planner.strict_json import read
from planner.times import parsed_time

__all__ = ["Expected", "admission_problems", "read_batch"]

SCHEMA = "topogate.observations/v1"
MAX_SPAN_S = 86_400
MOST_VALUE = 10**18
"""More is no observation, and sums of many batches must stay numbers."""
MOST_COUNT = 10**12
"""As many values as nothing has in a day; counts of many batches must stay whole numbers of 64 bits."""
MOST: Mapping[str, int] = {"count": MOST_COUNT, "sum": MOST_VALUE, "min": MOST_VALUE, "max": MOST_VALUE}
SHARES = frozenset({"kv_used_share", "stage_idle_share"})
"""Of a whole, so at most 1; a link may carry a little more than its rate is said to be."""
OF: tuple[Of, ...] = get_args(Of)
ROUNDING = 1e-6
"""How far sums of floating-point values may be from what they add up to, as a share."""
CLOCK_AHEAD_S = 60
"""A collector's clock may be so far ahead, as a runner's may."""


def read_batch(raw: bytes) -> Batch:
    """Read a batch.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return opened(read(raw), Batch, SCHEMA, _problems)


def _problems(tree: Any) -> Iterator[Problem]:
    yield from _span_problems(tree)
    seen: set[tuple[Any, ...]] = set()
    segments = tree.get("segments")
    for index, segment in enumerate(segments if isinstance(segments, list) else ()):
        metrics = segment.get("metrics") if isinstance(segment, dict) else None
        if not isinstance(metrics, dict):
            continue
        at = f"/segments/{index}"
        named = [name for name in OF if name in segment]
        if len(named) > 1:
            yield Problem("observations/scope", at, "a segment of one rank, group or link", " and ".join(named))
        where = tuple(str(segment.get(name)) for name in ("rank", "group", "link", "shape", "phase"))
        for name, value in metrics.items():
            yield from _metric_problems(f"{at}/metrics/{name}", name, segment, value)
            if (*where, name) in seen:
                yield Problem(
                    "observations/repeated", f"{at}/metrics/{name}", "each metric once for a segment", "twice"
                )
            seen.add((*where, name))


def _span_problems(tree: Mapping[str, Any]) -> Iterator[Problem]:
    start, end = (
        parsed_time(value) if isinstance(value, str) else None
        for value in (tree.get("started_at"), tree.get("ended_at"))
    )
    for name, moment in (("started_at", start), ("ended_at", end)):
        if moment is None:
            yield Problem("observations/time", f"/{name}", "a UTC time with Z", shown(tree.get(name)))
    if start is not None and end is not None and not 0 < (end - start).total_seconds() <= MAX_SPAN_S:
        expected = f"an end after the start, by at most {MAX_SPAN_S:,} s"
        yield Problem("observations/time", "/ended_at", expected, shown(tree.get("ended_at")))


def _metric_problems(at: str, name: str, segment: Mapping[str, Any], value: Any) -> Iterator[Problem]:
    metric = METRICS.get(name)
    if metric is None:
        yield Problem("observations/metric", at, f"one of {', '.join(METRICS)}", shown(name))
        return
    if metric.of not in segment:
        yield Problem("observations/scope", at, f"a segment that names a {metric.of}", "none")
    if not isinstance(value, dict):
        return
    yield from _value_problems(at, value)
    yield from _share_problems(at, value) if name in SHARES else ()
    histogram = value.get("histogram")
    if isinstance(histogram, dict):
        yield from _histogram_problems(f"{at}/histogram", histogram, value.get("count"))


def _value_problems(at: str, value: Mapping[str, Any]) -> Iterator[Problem]:
    known = {name: value[name] for name in ("count", "sum", "min", "max") if _is_number(value.get(name))}
    over = [(name, bound) for name, bound in MOST.items() if known.get(name, 0) > bound]
    for name, bound in over:
        yield Problem("observations/values", f"{at}/{name}", f"at most {bound:g}", shown(known[name]))
    least, most = known.get("min"), known.get("max")
    if least is not None and most is not None and least > most:
        yield Problem("observations/values", f"{at}/min", f"at most the max, {shown(most)}", shown(least))
    elif not over and "count" in known and "sum" in known:
        yield from _sum_problems(f"{at}/sum", known)


def _share_problems(at: str, value: Mapping[str, Any]) -> Iterator[Problem]:
    """Tell per cent from a share: the most, or the mean, is no more than all of it."""
    known = {name: value[name] for name in ("max", "sum", "count") if _is_number(value.get(name))}
    if known.get("max", 0) > 1 + ROUNDING:
        yield Problem("observations/values", f"{at}/max", "a share, at most 1", shown(known["max"]))
    elif "count" in known and known.get("sum", 0) > known["count"] * (1 + ROUNDING):
        expected = f"shares, at most 1 each of {known['count']}"
        yield Problem("observations/values", f"{at}/sum", expected, shown(known["sum"]))


def _sum_problems(at: str, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Hold a sum against the least and the most: a mean outside of them is none."""
    count, total = known["count"], known["sum"]
    if "max" in known and total > known["max"] * count * (1 + ROUNDING):
        yield Problem("observations/values", at, f"at most {count} times {shown(known['max'])}", shown(total))
    if "min" in known and total < known["min"] * count * (1 - ROUNDING):
        yield Problem("observations/values", at, f"at least {count} times {shown(known['min'])}", shown(total))


def _histogram_problems(at: str, histogram: Mapping[str, Any], count: Any) -> Iterator[Problem]:
    edges, counts = histogram.get("edges"), histogram.get("counts")
    if not isinstance(edges, list) or not isinstance(counts, list):
        return
    if not all(map(_is_number, edges)) or not all(map(_is_number, counts)):
        return
    if edges and max(edges) > MOST_VALUE:
        yield Problem("observations/histogram", f"{at}/edges", f"edges of at most {MOST_VALUE:g}", shown(max(edges)))
    if any(low >= high for low, high in pairwise(edges)):
        yield Problem("observations/histogram", f"{at}/edges", "edges that grow", "others")
    if len(counts) != len(edges) + 1:
        yield Problem("observations/histogram", f"{at}/counts", f"{len(edges) + 1} counts", f"{len(counts)}")
    elif sum(counts) != count:
        yield Problem("observations/histogram", f"{at}/counts", f"counts that add up to {count}", f"{sum(counts)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a batch has to be of. ``now`` is UTC; ``taken`` has the last end of each source, for the same subject.

    ``since`` is before when no span is taken any more; ``ranks`` and ``groups`` are counts.
    """

    slot: str
    subject: str
    ranks: int
    groups: int
    links: Container[str]
    shapes: Container[str]
    now: str
    since: str
    taken: Mapping[str, str]


def admission_problems(batch: Batch, expected: Expected) -> Iterator[Problem]:
    """Yield why a batch may not be taken now: another slot or topology, of another time, replayed, unknown things."""
    if batch.slot != expected.slot:
        yield Problem("observations/slot", "/slot", shown(expected.slot), shown(batch.slot))
    if batch.subject != expected.subject:
        yield Problem("observations/subject", "/subject", shown(expected.subject), shown(batch.subject))
    end, now = parsed_time(batch.ended_at), parsed_time(expected.now)
    if end is None or now is None or (end - now).total_seconds() > CLOCK_AHEAD_S:
        yield Problem("observations/future", "/ended_at", f"a time until {expected.now}", shown(batch.ended_at))
    if batch.ended_at < expected.since:
        yield Problem("observations/past", "/ended_at", f"a time from {expected.since} on", shown(batch.ended_at))
    last = expected.taken.get(batch.source)
    if last is not None and batch.started_at < last:
        yield Problem("observations/replayed", "/started_at", f"a time from {last} on", shown(batch.started_at))
    for index, segment in enumerate(batch.segments):
        yield from _strangers(f"/segments/{index}", segment, expected)


def _strangers(at: str, segment: Segment, expected: Expected) -> Iterator[Problem]:
    for name, value, most in (("rank", segment.rank, expected.ranks), ("group", segment.group, expected.groups)):
        if not isinstance(value, UnsetType) and value >= most:
            yield Problem("observations/unknown", f"{at}/{name}", f"a {name} below {most:,}", f"{value}")
    for name, found, known in (("link", segment.link, expected.links), ("shape", segment.shape, expected.shapes)):
        if not isinstance(found, UnsetType) and found not in known:
            yield Problem("observations/unknown", f"{at}/{name}", f"a {name} of the contract", shown(found))
