"""Figures that several sections of evidence hold: distributions, arrays, and how a value stands to the true one."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Count, Number, Record, Text

Bound = Literal["exact", "lower", "upper"]
Scope = Literal["rank", "device", "nic", "replica", "deployment"]
Phase = Literal["prefill", "decode", "mixed"]

Values = tuple[Annotated[int, Meta(ge=0, le=2**53 - 1)] | Annotated[float, Meta(ge=0)] | None, ...]
"""One value for each place of an array; ``null`` is missing."""


class Statistics(Record, frozen=True, kw_only=True):
    """A distribution over ``n`` samples; units stand in the field that holds it."""

    definition: Text | UnsetType = UNSET
    n: Count | UnsetType | None = UNSET
    mean: Number | UnsetType | None = UNSET
    p50: Number | UnsetType | None = UNSET
    p90: Number | UnsetType | None = UNSET
    p95: Number | UnsetType | None = UNSET
    p99: Number | UnsetType | None = UNSET
    p99_9: Number | UnsetType | None = UNSET
    max: Number | UnsetType | None = UNSET


class PerRank(Record, frozen=True, kw_only=True):
    """One metric for every rank; ``values[r]`` belongs to global rank r, ``null`` is missing."""

    scope: Scope | UnsetType = UNSET
    bound: Bound | UnsetType = UNSET
    phase: Phase | UnsetType = UNSET
    sample_interval_s: Number | UnsetType = UNSET
    samples: Count | UnsetType = UNSET
    values: Values

    @property
    def places(self) -> int:
        """How many ranks the array has a place for."""
        return len(self.values)
