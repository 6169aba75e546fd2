"""Roll-ups: the same in any order, bounded whatever they hold, and percentiles hold the true ones."""

import json
from math import ceil
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.observations import Key, merged, quantile, rolled, rolled_up
from planner.observations.rollup import HIGHEST, LOWEST, MOST_BUCKETS, Rolled, bucket_of, end_of
from planner.records.observations import Histogram, Observed
from tests.planner.observations.batches import SUBJECT, a_batch, level, times

EDGES = (1, 2.5, 5, 10, 25, 50, 100, 250, 1000)


def observed(values: list[int]) -> Rolled:
    """Return whole values as an exporter with these edges tells them."""
    counts = [0] * (len(EDGES) + 1)
    for value in values:
        counts[next((at for at, edge in enumerate(EDGES) if value <= edge), len(EDGES))] += 1
    return rolled(
        Observed(
            count=len(values),
            sum=sum(values),
            min=min(values),
            max=max(values),
            histogram=Histogram(edges=EDGES, counts=tuple(counts)),
        )
    )


VALUES = st.lists(st.integers(0, 5000), min_size=1, max_size=60)


@given(VALUES, VALUES, VALUES)
@settings(max_examples=60, deadline=None)
def test_merging_is_the_same_in_any_order(one: list[int], two: list[int], three: list[int]) -> None:
    a, b, c = observed(one), observed(two), observed(three)
    found, whole = merged(merged(a, b), c), observed([*one, *two, *three])
    assert found == merged(a, merged(c, b)) == merged(b, merged(a, c))
    # Only the open bucket may differ: each part knows its own most.
    assert (found.count, found.sum, found.min, found.max, found.lows) == (
        *(whole.count, whole.sum, whole.min, whole.max, whole.lows),
    )


@given(VALUES, st.sampled_from([(1, 2), (9, 10), (19, 20), (99, 100)]))
@settings(max_examples=100, deadline=None)
def test_a_percentile_lies_in_its_range(values: list[int], part: tuple[int, int]) -> None:
    true = sorted(values)[ceil(len(values) * part[0] / part[1]) - 1]
    ends = quantile(observed(values), part)
    assert ends is not None
    assert ends[0] <= true <= ends[1]


@given(st.floats(1e-12, 1e30))
def test_a_value_lies_in_its_bucket(value: float) -> None:
    bucket = bucket_of(value)
    assert LOWEST <= bucket <= HIGHEST
    assert bucket == LOWEST or value > end_of(bucket - 1)
    assert bucket == HIGHEST or value <= end_of(bucket)


@pytest.mark.parametrize(("value", "bucket"), [(1, 0), (2, 8), (1024, 80), (0.5, -8), (0, LOWEST), (1.05, 1), (2.1, 9)])
def test_powers_of_two_end_a_bucket(value: float, bucket: int) -> None:
    assert bucket_of(value) == bucket


def test_values_of_a_part_without_a_histogram_can_lie_anywhere_in_the_whole() -> None:
    whole = merged(observed([3, 4]), Rolled(2, 9.0, 1.0, 8.0))
    assert (whole.count, whole.sum, whole.min, whole.max) == (4, 16.0, 1.0, 8.0)
    # The two others may lie above or below: the median is 1 to 4, in a bucket that ends a little above.
    ends = quantile(whole, (1, 2))
    assert ends is not None
    assert (ends[0], 4 <= ends[1] < 5.2) == (1.0, True)
    top = quantile(whole, (99, 100))
    assert top is not None
    assert (top[0] <= 4, top[1]) == (True, 8.0)


def test_of_the_most_that_a_part_did_not_record_the_whole_knows_what_was_reached() -> None:
    whole = merged(observed([3, 900]), rolled(Observed(count=2, sum=9)))
    assert (whole.max, whole.most_at_least) == (None, 900)
    assert rolled(Observed(count=2, sum=9)).most_at_least == 4.5
    parted = Observed(count=2, sum=9, histogram=Histogram(edges=(4, 6, 8), counts=(1, 0, 1, 0)))
    assert rolled(parted).most_at_least == 6


SOME = st.one_of(
    VALUES.map(lambda values: observed(values)),
    VALUES.map(lambda values: rolled(Observed(count=len(values), sum=sum(values), max=max(values)))),
    VALUES.map(lambda values: rolled(Observed(count=len(values), sum=sum(values)))),
)


@given(SOME, SOME, SOME)
@settings(max_examples=60, deadline=None)
def test_parts_that_know_more_or_less_merge_in_any_order(a: Rolled, b: Rolled, c: Rolled) -> None:
    assert merged(merged(a, b), c) == merged(a, merged(c, b)) == merged(b, merged(a, c))


def test_single_values_need_no_histogram() -> None:
    one = rolled(Observed(count=1, sum=7))
    assert (one.min, one.max, quantile(merged(one, one), (1, 2))) == (7, 7, (7, 7))


def test_a_roll_up_is_kept_as_json_and_read_back() -> None:
    one = merged(observed([3, 700, 5000]), observed([9]))
    raw = msgspec.json.encode(one)
    assert msgspec.json.decode(raw, type=Rolled) == one


def test_a_roll_up_stays_bounded() -> None:
    edges = tuple(2.0 ** (at - 256) for at in range(512))
    wide = rolled(Observed(count=513, sum=1, histogram=Histogram(edges=edges, counts=(1,) * 513)))
    for _ in range(3):
        wide = merged(wide, wide)
    assert len(wide.highs) <= MOST_BUCKETS
    assert sum(count for _, count in wide.highs) == wide.count == 513 * 8


def test_batches_are_rolled_up_by_segment() -> None:
    first = a_batch(
        {"rank": 0, "metrics": {"device_used_bytes": level(5)}},
        {"rank": 1, "metrics": {"device_used_bytes": level(9)}},
        {"group": 0, "shape": "short", "phase": "decode", "metrics": {"itl_ms": times([10, 20], [1, 2, 0])}},
    )
    second = a_batch({"rank": 1, "metrics": {"device_used_bytes": level(11)}}, started_at="2026-11-30T12:05:00Z")
    found = rolled_up([first, second])
    assert found[Key(SUBJECT, "device_used_bytes", rank=1, source="dcgm")] == Rolled(20, 200.0, 9.0, 11.0)
    times_of_short = found[Key(SUBJECT, "itl_ms", group=0, shape="short", phase="decode", source="dcgm")]
    assert (times_of_short.count, times_of_short.sum) == (3, 50.0)
    assert len(found) == 3


def test_a_thousand_batches_take_the_room_of_one() -> None:
    batch = a_batch({"group": 0, "metrics": {"itl_ms": times([10, 20], [1, 2, 0])}})
    (one,) = rolled_up([batch] * 1000).values()
    size: Any = len(json.dumps([one.lows, one.highs]))
    assert (one.count, size < 80) == (3000, True)
