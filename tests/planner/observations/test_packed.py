"""Roll-ups as bytes: what is unpacked is what was packed, by blocks of ranks and groups."""

from planner.observations import Key, Rolled, rolled_up
from planner.observations.packed import BLOCK, block_of, by_block, packed, unpacked
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
