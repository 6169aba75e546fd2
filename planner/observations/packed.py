"""Roll-ups as bytes that are kept: of one metric and one block of ranks, groups or links, small enough to be put anew.

Rules kept: what is unpacked is what was packed, in the order of keys; a block is ``BLOCK`` ranks or groups in a row, so
a collector of one node rewrites the block of its ranks and nothing else. Not handled: bytes of anybody else.
"""

import zlib
from collections.abc import Iterable, Mapping

import msgspec

from planner.observations.rollup import Key, Rolled

__all__ = ["BLOCK", "block_of", "by_block", "packed", "unpacked"]

BLOCK = 256
LEVEL = 1
"""Of compression: the rest is mostly the time of whoever waits for an answer."""

Row = tuple[
    int,
    int,
    str,
    str,
    str,
    int,
    float,
    float | None,
    float | None,
    tuple[tuple[int, int], ...],
    tuple[tuple[int, int], ...],
    float,
]
_DECODER = msgspec.json.Decoder(list[Row])
_ENCODER = msgspec.json.Encoder()


def block_of(key: Key) -> int:
    """Return the block of a key: of a rank or a group by its number; all links of a topology are in one."""
    return max(key.rank, key.group, 0) // BLOCK


def by_block(seen: Mapping[Key, Rolled]) -> dict[tuple[str, int], dict[Key, Rolled]]:
    """Return metric and block -> roll-ups."""
    found: dict[tuple[str, int], dict[Key, Rolled]] = {}
    for key, rolled in seen.items():
        place = (key.metric, max(key.rank, key.group, 0) // BLOCK)
        held = found.get(place)
        if held is None:
            found[place] = {key: rolled}
        else:
            held[key] = rolled
    return found


def packed(seen: Mapping[Key, Rolled]) -> bytes:
    """Return roll-ups of one subject and metric as bytes."""
    return zlib.compress(_ENCODER.encode(list(_rows(seen))), LEVEL)


def _rows(seen: Mapping[Key, Rolled]) -> Iterable[Row]:
    for key, one in sorted(seen.items(), key=lambda pair: _order(pair[0])):
        yield (
            key.rank,
            key.group,
            key.link,
            key.shape,
            key.phase,
            one.count,
            one.sum,
            one.min,
            one.max,
            one.lows,
            one.highs,
            one.reached,
        )


def _order(key: Key) -> tuple[int, int, str, str, str]:
    return key.rank, key.group, key.link, key.shape, key.phase


def unpacked(data: bytes, subject: str, metric: str) -> dict[Key, Rolled]:
    """Return the roll-ups that were packed."""
    return {
        Key(subject, metric, rank, group, link, shape, phase): Rolled(count, total, least, most, lows, highs, reached)
        for rank, group, link, shape, phase, count, total, least, most, lows, highs, reached in _DECODER.decode(
            zlib.decompress(data)
        )
    }
