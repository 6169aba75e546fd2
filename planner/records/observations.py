"""Observations of production: what was seen of one decided topology in a span (``topogate.observations/v1``).

The unit of a metric stands in its name (``planner.observations.metrics``); a segment names the rank, serving group or
link that its metrics are of.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Count, Digest, Id, Number, PositiveCount, Record, Text, Time
from planner.records.figures import Phase

__all__ = ["Batch", "Histogram", "Observed", "Segment"]

MAX_SEGMENTS = 200_000
MAX_EDGES = 512


class Histogram(Record, frozen=True, kw_only=True):
    """Values by buckets: ``counts[i]`` lie above ``edges[i - 1]`` and at most at ``edges[i]``, the last above all."""

    edges: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=MAX_EDGES)]
    counts: Annotated[tuple[Count, ...], Meta(min_length=2, max_length=MAX_EDGES + 1)]


class Observed(Record, frozen=True, kw_only=True):
    """Values of one metric: how many, their sum, the least and the most. Of counts ``sum`` is what was counted."""

    count: PositiveCount
    sum: Number
    min: Number | UnsetType = UNSET
    max: Number | UnsetType = UNSET
    histogram: Histogram | UnsetType = UNSET


class Segment(Record, frozen=True, kw_only=True):
    """What was seen of one rank, serving group (by its index) or link; of all shapes and phases where none is named."""

    rank: Count | UnsetType = UNSET
    group: Count | UnsetType = UNSET
    link: Id | UnsetType = UNSET
    shape: Id | UnsetType = UNSET
    phase: Phase | UnsetType = UNSET
    metrics: Annotated[dict[str, Observed], Meta(min_length=1)]


class Batch(Record, frozen=True, kw_only=True):
    """The batch. ``source`` names the collector; the same source never sends the same span twice."""

    schema: Literal["topogate.observations/v1"]
    slot: Annotated[str, Meta(min_length=1, max_length=128)]
    subject: Digest
    source: Text
    started_at: Time
    ended_at: Time
    segments: Annotated[tuple[Segment, ...], Meta(min_length=1, max_length=MAX_SEGMENTS)]
