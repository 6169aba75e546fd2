"""Roll-ups as bytes that are kept: of one metric and one block of ranks, groups or links, small enough to be put anew.

Rules kept: what is unpacked is what was packed, source by source; a block is ``BLOCK`` ranks or groups in a row, so a
collector of one node rewrites the block of its ranks and nothing else; what is put together in parts is what is put
together at once. Not handled: bytes of anybody else.
"""

import zlib
from collections.abc import Iterable, Mapping
from itertools import groupby

import msgspec

from planner.observations.metrics import METRICS, Of
from planner.observations.rollup import Buckets, Key, Rolled, merged

__all__ = ["BLOCK", "block_of", "by_block", "packed", "pieces_merged", "unpacked", "unpacked_place"]

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
Light = tuple[int, int, str, str, str, int, float, float | None, float | None, msgspec.Raw, msgspec.Raw, float]
"""A row whose digest is left as it stands: most of the bytes, and most limits ask for nothing in it."""
_Figures = tuple[int, float, float | None, float | None, float]
"""Count, sum, least, most, and what the most was at least, as ``Rolled`` has them."""
_PLACES: Mapping[Of, int] = {"rank": 0, "group": 1, "link": 2}
_DECODER = msgspec.json.Decoder(list[tuple[str, list[Row]]])
"""Rows by the source whose words they are, whose name stands once."""
_LIGHT = msgspec.json.Decoder(list[tuple[str, list[Light]]])
_BUCKETS = msgspec.json.Decoder(Buckets)
_ENCODER = msgspec.json.Encoder()


def block_of(key: Key) -> int:
    """Return the block of a key: of a rank or a group by its number; all links of a topology are in one."""
    return max(key.rank, key.group, 0) // BLOCK


def by_block(seen: Mapping[Key, Rolled]) -> dict[tuple[str, int], dict[Key, Rolled]]:
    """Return metric and block -> roll-ups."""
    found: dict[tuple[str, int], dict[Key, Rolled]] = {}
    for key, rolled in seen.items():
        place = (key.metric, block_of(key))
        held = found.get(place)
        if held is None:
            found[place] = {key: rolled}
        else:
            held[key] = rolled
    return found


def packed(seen: Mapping[Key, Rolled]) -> bytes:
    """Return roll-ups of one subject and metric as bytes."""
    ordered = groupby(sorted(seen.items(), key=lambda pair: _order(pair[0])), key=lambda pair: pair[0].source)
    return zlib.compress(_ENCODER.encode([(source, list(_rows(held))) for source, held in ordered]), LEVEL)


def _rows(held: Iterable[tuple[Key, Rolled]]) -> Iterable[Row]:
    for key, one in held:
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


def _order(key: Key) -> tuple[str, int, int, str, str, str]:
    return key.source, key.rank, key.group, key.link, key.shape, key.phase


def unpacked(data: bytes, subject: str, metric: str) -> dict[Key, Rolled]:
    """Return the roll-ups that were packed."""
    return {
        Key(subject, metric, rank, group, link, shape, phase, source): Rolled(
            count, total, least, most, lows, highs, reached
        )
        for source, rows in _DECODER.decode(zlib.decompress(data))
        for rank, group, link, shape, phase, count, total, least, most, lows, highs, reached in rows
    }


def unpacked_place(data: bytes, subject: str, metric: str, place: int | str) -> dict[Key, Rolled]:
    """Return the roll-ups of one rank or group (its number) or link (its name) alone, whichever the metric is of."""
    at = _PLACES[METRICS[metric].of]
    return {
        Key(subject, metric, rank, group, link, shape, phase, source): Rolled(
            count, total, least, most, _BUCKETS.decode(lows), _BUCKETS.decode(highs), reached
        )
        for source, rows in _LIGHT.decode(zlib.decompress(data))
        for row in rows
        if row[at] == place
        for rank, group, link, shape, phase, count, total, least, most, lows, highs, reached in (row,)
    }


def pieces_merged(pieces: Iterable[bytes], subject: str, metric: str, *, digests: bool) -> dict[Key, Rolled]:
    """Put pieces of one metric and block together, in their order; without ``digests`` those are not even read."""
    if not digests:
        return _merged_light(pieces, subject, metric)
    found: dict[Key, Rolled] = {}
    for data in pieces:
        for key, one in unpacked(data, subject, metric).items():
            known = found.get(key)
            found[key] = one if known is None else merged(known, one)
    return found


def _merged_light(pieces: Iterable[bytes], subject: str, metric: str) -> dict[Key, Rolled]:
    """Return what ``merged`` says but the digests, without a record for every rank of every hour."""
    found: dict[tuple[int, int, str, str, str, str], _Figures] = {}
    for data in pieces:
        for source, rows in _LIGHT.decode(zlib.decompress(data)):
            for rank, group, link, shape, phase, count, total, least, most, _, _, reached in rows:
                place = (rank, group, link, shape, phase, source)
                one = (count, total, least, most, reached)
                known = found.get(place)
                found[place] = one if known is None else _added(known, one)
    return {
        Key(subject, metric, *place): Rolled(count, total, least, most, reached=reached)
        for place, (count, total, least, most, reached) in found.items()
    }


def _added(known: _Figures, one: _Figures) -> _Figures:
    most = None if known[3] is None or one[3] is None else max(known[3], one[3])
    reached = 0.0 if most is not None else max(end[4] if end[3] is None else end[3] for end in (known, one))
    least = None if known[2] is None or one[2] is None else min(known[2], one[2])
    return known[0] + one[0], known[1] + one[1], least, most, reached
