"""Roll-ups as bytes: what is unpacked is what was packed, by blocks of ranks and groups."""

from dataclasses import replace

from planner.observations import Key, Rolled, merged, rolled_up
from planner.observations.packed import (
    BLOCK,
    block_of,
    by_block,
    packed,
    pieces_merged,
    unpacked,
    unpacked_place,
)
from tests.planner.observations.batches import SUBJECT, a_batch, level, times

BATCH = a_batch(
    *({"rank": rank, "metrics": {"device_used_bytes": level(rank + 0.1)}} for rank in (3, BLOCK, 2 * BLOCK - 1)),
    {"group": 0, "shape": "short", "metrics": {"ttft_ms": times([1, 2.5, 4], [1, 0, 5, 2])}},
    {"link": "a-up", "metrics": {"link_used_share": level(0.5)}},
)


def test_what_is_unpacked_is_what_was_packed() -> None:
    seen = rolled_up([BATCH])
    blocks = by_block(seen)
    found: dict[Key, Rolled] = {}
    for (metric, _), held in blocks.items():
        found |= unpacked(packed(held), SUBJECT, metric)
    assert found == seen


def test_a_block_is_of_one_metric_and_ranks_in_a_row() -> None:
    blocks = by_block(rolled_up([BATCH]))
    assert {place: sorted(key.rank for key in held) for place, held in blocks.items()} == {
        ("device_used_bytes", 0): [3],
        ("device_used_bytes", 1): [BLOCK, 2 * BLOCK - 1],
        ("ttft_ms", 0): [-1],
        ("link_used_share", 0): [-1],
    }
    assert all(block_of(key) == block for (_, block), held in blocks.items() for key in held)


def test_bytes_do_not_hang_on_the_order_of_values() -> None:
    seen = rolled_up([BATCH])
    memory = {key: one for key, one in seen.items() if key.metric == "device_used_bytes"}
    assert packed(memory) == packed(dict(reversed(memory.items())))


def hours() -> list[dict[Key, Rolled]]:
    """Three hours of two groups; the second group is silent in one, and has no histogram in another."""
    whole = times([1, 2.5, 4], [1, 0, 5, 2])
    said = [
        [(0, whole), (1, whole)],
        [(0, times([1, 4], [3, 2, 0], most=0.1))],
        [(0, whole), (1, {"count": 10, "sum": 0.7})],
    ]
    return [
        rolled_up([a_batch(*({"group": group, "metrics": {"ttft_ms": one}} for group, one in hour))]) for hour in said
    ]


def plainly(every: list[dict[Key, Rolled]]) -> dict[Key, Rolled]:
    found: dict[Key, Rolled] = {}
    for hour in every:
        for key, one in hour.items():
            found[key] = merged(found[key], one) if key in found else one
    return found


def test_pieces_are_put_together_as_their_roll_ups_are() -> None:
    pieces = [packed(hour) for hour in hours()]
    assert pieces_merged(pieces, SUBJECT, "ttft_ms", digests=True) == plainly(hours())


def test_pieces_without_digests_are_the_same_but_for_those() -> None:
    found = pieces_merged([packed(hour) for hour in hours()], SUBJECT, "ttft_ms", digests=False)
    assert found == {key: replace(one, lows=(), highs=()) for key, one in plainly(hours()).items()}


def test_what_was_put_together_in_parts_is_what_is_put_together_at_once() -> None:
    pieces = [packed(hour) for hour in hours()]
    for digests in (True, False):
        earlier = packed(pieces_merged(pieces[:2], SUBJECT, "ttft_ms", digests=digests))
        at_once = pieces_merged(pieces, SUBJECT, "ttft_ms", digests=digests)
        assert pieces_merged([earlier, pieces[2]], SUBJECT, "ttft_ms", digests=digests) == at_once


def test_one_place_of_a_block_is_unpacked_alone() -> None:
    seen = rolled_up([BATCH])
    blocks = {metric: packed(held) for (metric, block), held in by_block(seen).items() if block == 0}
    for metric, place in (("device_used_bytes", 3), ("ttft_ms", 0), ("link_used_share", "a-up")):
        expected = {key: one for key, one in unpacked(blocks[metric], SUBJECT, metric).items() if key.metric == metric}
        assert unpacked_place(blocks[metric], SUBJECT, metric, place) == expected
        assert unpacked_place(blocks[metric], SUBJECT, metric, 7) == {}
