"""Faults put into a copy of the evidence on purpose: their sizes, and what the contract makes of them.

A stress matrix (``topogate.stress/v1``) is no plan: it says ``injected`` of itself, holds no selection and has no plan
id, so nothing that is signed can be bound to it. Figures in it are of changed copies; none was measured.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Id, PositiveCount, Record, Share
from planner.records.plan import Bound, Outcome, State, Value

Multiple = Annotated[int, Meta(ge=1, le=100)] | Annotated[float, Meta(ge=1, le=100)]
"""A factor that makes worse; 1 changes nothing."""
Added = Annotated[int, Meta(ge=0, le=100)] | Annotated[float, Meta(ge=0, le=100)]
"""What is added, as a share of something; it may be more than the whole."""
Left = Annotated[int, Meta(ge=1, le=1)] | Annotated[float, Meta(ge=0.01, le=1)]
"""The share that is left; something always is."""


class Stress(Record, frozen=True, kw_only=True):
    """The contract's fault sizes; each one left out has the default of ``FaultSizes``."""

    memory_added_share: Added | UnsetType = UNSET
    tail_added_share: Added | UnsetType = UNSET
    rate_left_share: Left | UnsetType = UNSET
    link_peak_utilization: Share | UnsetType = UNSET
    slow_link_time_factor: Multiple | UnsetType = UNSET
    slow_link_bandwidth_share: Left | UnsetType = UNSET
    hot_rank_over_mean: Multiple | UnsetType = UNSET
    slow_stage_factor: Multiple | UnsetType = UNSET
    slow_rank_added_share: Added | UnsetType = UNSET
    stale_after_max_age_s: PositiveCount | UnsetType = UNSET


class FaultSizes(Record, frozen=True, kw_only=True):
    """How large every fault is. Never derived from a limit, or each would be caught by construction.

    ``memory_added_share`` is of the device's memory, ``tail_added_share`` of the TTFT p99, ``slow_rank_added_share``
    of the rank's step; ``rate_left_share`` divides durations. Evidence is made older than the contract's maximum age
    by ``stale_after_max_age_s``: the one size that needs a limit to mean anything.
    """

    memory_added_share: Added = 0.1
    tail_added_share: Added = 0.5
    rate_left_share: Left = 0.7
    link_peak_utilization: Share = 0.98
    slow_link_time_factor: Multiple = 2
    slow_link_bandwidth_share: Left = 0.5
    hot_rank_over_mean: Multiple = 2
    slow_stage_factor: Multiple = 1.3
    slow_rank_added_share: Added = 0.2
    stale_after_max_age_s: PositiveCount = 1


StressResult = Literal["CAUGHT", "WITHIN_LIMIT", "NOT_DECLARED", "MASKED", "NOT_INJECTABLE"]


class StressCell(Record, frozen=True, kw_only=True):
    """What one fault in one trial's evidence leads to.

    CAUGHT: a limit that passed fails or is UNKNOWN; ``intended`` says whether its gate is of a family that the fault
    is aimed at. WITHIN_LIMIT: a limit that the fault is aimed at moved and still passes. NOT_DECLARED: no declared
    limit reads what moved. MASKED: the limit had failed, or was UNKNOWN, before. NOT_INJECTABLE: the trial does not
    have what the fault changes.

    ``before``, ``after``, ``limit`` and ``margin`` are those of the limit named; ``state`` is the trial's with the
    fault; ``changed`` points at what the fault changed in the copy.
    """

    result: StressResult
    gate: str | None = None
    limit_id: Id | None = None
    intended: bool | None = None
    outcome: Outcome | None = None
    unit: str | None = None
    before: Value = None
    after: Value = None
    comparator: Literal["<=", ">=", "==", None] = None
    limit: Value = None
    margin: Value = None
    margin_share: Value = None
    state: State | None = None
    changed: tuple[str, ...] = ()
    sentence: str


class StressRow(Record, frozen=True, kw_only=True):
    """One fault in every trial. ``target`` tells faults of one injection apart; ``gates`` are those it is aimed at."""

    injection: str
    target: str
    title: str
    fault: str
    families: tuple[str, ...]
    gates: tuple[str, ...]
    cells: dict[Id, StressCell]


class Hole(Record, frozen=True, kw_only=True):
    """A fault that nothing looks at: no limit reads it, or no trial's evidence has what it would change."""

    kind: Literal["not_declared", "not_injectable"]
    injection: str
    target: str
    trials: tuple[Id, ...]
    sentence: str


class StressedTrial(Record, frozen=True, kw_only=True):
    """A trial as it is without any fault."""

    topology: str
    state: State


StressClaim = Literal["INJECTED_FAULTS_NOT_A_PLAN_NOT_SIGNABLE"]
STRESS_CLAIM: StressClaim = "INJECTED_FAULTS_NOT_A_PLAN_NOT_SIGNABLE"


class StressMatrix(Record, frozen=True, kw_only=True):
    """Every fault in every trial. ``defaults`` names the fault sizes that the contract leaves out."""

    schema: Literal["topogate.stress/v1"]
    injected: Literal[True]
    claim: StressClaim
    planner_version: str
    as_of: str
    slot: str
    contract: Bound
    evidence: Bound
    sizes: FaultSizes
    defaults: tuple[str, ...]
    trials: dict[Id, StressedTrial]
    rows: tuple[StressRow, ...]
    holes: tuple[Hole, ...]
