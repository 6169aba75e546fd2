"""One metric of a span beside the envelope, block by block, so that what did not change is not compared again.

Rules kept: what a process keeps stands under the digests of the very bytes that it was made of, so it is right whoever
wrote meanwhile; ranks are judged each by itself, so a block of them is; groups are judged with what the others did.
What is read grows with the ranks and hours of the one metric; what is put together and compared, with what is new.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import blake2b
from itertools import groupby

from planner.observations import METRICS, Compared, compared, worst_first
from planner.observations.comparison import PERCENTILES
from planner.observations.packed import BLOCK, packed, pieces_merged
from planner.observations.qualified import Qualified
from planner.observations.rollup import Key, Rolled
from reviews.last_few import LastFew
from reviews.models import ObservationRollUp, ObservationSpan
from reviews.selectors.roll_ups import Place

__all__ = ["compared_blocks"]

Pieces = tuple[tuple[bytes, bytes], ...]
"""What the hours and days of a block have, in their order, each with its digest."""
MOST_BLOCKS = 256
"""Of 256 ranks each; compared, they take up to 40 MB, and put together a tenth of it."""
_EARLIER: LastFew[bytes] = LastFew(MOST_BLOCKS)
_COMPARED: LastFew[tuple[Compared, ...]] = LastFew(MOST_BLOCKS)


def compared_blocks(
    spans: Sequence[ObservationSpan],
    found: Qualified,
    subject: str,
    metric: str,
    *,
    beside: Collection[str],
    seconds: Fraction,
) -> list[Compared]:
    """Compare all of a metric over spans, of which ``seconds`` were reported; the worst first.

    ``beside`` are metrics that it is judged with, whole.
    """
    blocks = _blocks(spans, {metric, *beside})
    if METRICS[metric].of == "rank":
        parts: Iterator[Mapping[Place, Pieces]] = ({place: pieces} for place, pieces in blocks)
    else:
        parts = iter((dict(blocks),))
    rows = [row for part in parts for row in _compared(part, found, subject, metric, seconds)]
    return worst_first(rows)


def _blocks(spans: Sequence[ObservationSpan], metrics: Collection[str]) -> Iterator[tuple[Place, Pieces]]:
    order = {span.pk: at for at, span in enumerate(spans)}
    rows = ObservationRollUp.objects.filter(metric__in=metrics, span__in=list(order)).order_by("metric", "block", "pk")
    values = rows.values_list("metric", "block", "span_id", "data").iterator(chunk_size=256)
    for place, held in groupby(values, key=lambda row: (row[0], row[1])):
        in_order = sorted(held, key=lambda row: order[row[2]])
        yield place, tuple((blake2b(data).digest(), bytes(data)) for *_, data in in_order)


def _compared(
    part: Mapping[Place, Pieces], found: Qualified, subject: str, metric: str, seconds: Fraction
) -> tuple[Compared, ...]:
    entries = found.of_all
    for block in (block for name, block in part if METRICS[name].of == "rank"):
        entries = found.entries_for(range(block * BLOCK, (block + 1) * BLOCK))
    own = [entry for entry in entries if entry.metric == metric]
    has_rates = any(entry.statistic == "rate" for entry in own)
    names = tuple((place, tuple(digest for digest, _ in pieces)) for place, pieces in part.items())

    def made() -> tuple[Compared, ...]:
        seen: dict[Key, Rolled] = {}
        for place, pieces in part.items():
            digests = any(entry.metric == place[0] and entry.statistic in PERCENTILES for entry in own)
            seen |= _together(pieces, subject, place[0], digests=digests)
        rows = compared(entries, seen, seconds)
        return tuple(worst_first([row for row in rows if row.key.metric == metric]))

    return _COMPARED.get((subject, metric, names, seconds if has_rates else None), made)


def _together(pieces: Pieces, subject: str, metric: str, *, digests: bool) -> dict[Key, Rolled]:
    """Put a block together: what was before its last hour seldom changes, and is kept as bytes."""
    data = [one for _, one in pieces]
    if len(data) > 2:
        earlier, last = data[:-1], data[-1]
        key = (metric, digests, tuple(digest for digest, _ in pieces[:-1]))
        kept = _EARLIER.get(key, lambda: packed(pieces_merged(earlier, subject, metric, digests=digests)))
        data = [kept, last]
    return pieces_merged(data, subject, metric, digests=digests)
