"""A compared value as fields of JSON and of a table: the same in downloads and over the API."""

from collections.abc import Mapping
from fractions import Fraction

from planner.observations import Compared
from reviews.selectors.observations_page import state_of
from reviews.selectors.roll_ups import source_of

__all__ = ["COLUMNS", "value_fields"]

Field = str | int | float | None
COLUMNS = (
    *("metric", "statistic", "rank", "node", "device", "group", "link", "shape", "state", "low", "high"),
    *("limit", "limit_at", "qualified", "qualified_at", "used", "drift", "because", "source"),
)
"""The fields, in order."""


def value_fields(row: Compared, places: Mapping[int, tuple[str, str]]) -> dict[str, Field]:
    """Return the fields of a row; numbers as the nearest double, None where there is none."""
    key, entry = row.key, row.entry
    node, device = places.get(key.rank, (None, None))
    fields: tuple[Field, ...] = (
        *(key.metric, entry.statistic, key.rank if key.rank >= 0 else None, node, device),
        *(key.group if key.group >= 0 else None, key.link or None, key.shape or None, state_of(row)),
        *(_number(row.low), _number(row.high), _number(entry.limit), entry.limit_at or None),
        *(_number(entry.qualified), entry.qualified_at or None, _number(row.used), _number(row.drift)),
        *(row.because or None, source_of(row.source) or None),
    )
    return dict(zip(COLUMNS, fields, strict=True))


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
