"""The plan: what the planner decided and why (``topogate.plan/v1``).

A number that is a decimal of the evidence or contract is written as that number; any other rational (a mean, a
share, a price) is a ``Ratio``. Both are exact; rounding happens only where text is made.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Count, Digest, Id, Record

Outcome = Literal["PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE", "NOT_DECLARED"]
State = Literal["ELIGIBLE", "REJECTED", "INCONCLUSIVE"]
DecisionWord = Literal["SELECT_TOPOLOGY", "NO_ELIGIBLE_TOPOLOGY", "INCONCLUSIVE"]
Claim = Literal["LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK"]
CLAIM: Claim = "LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK"


Integer = int | Annotated[str, Meta(pattern=r"^-?[1-9][0-9]*(?![\s\S])")]
"""An integer; beyond +-(2^53 - 1), where JSON numbers stop being exact, its decimal digits as text."""


class Ratio(Record, frozen=True, kw_only=True):
    """An exact rational number, in lowest terms, ``den`` > 0; ``planner.numbers.exact`` reads it."""

    num: Integer
    den: Integer


Value = int | float | str | Ratio | None
"""A measured value, limit or margin; text for words such as a rule's name."""


class LimitOutcome(Record, frozen=True, kw_only=True):
    """What one limit of one gate says about one trial.

    ``margin`` is signed, in ``unit``, positive on the passing side; ``margin_share`` is margin / limit.
    ``would`` is given with UNKNOWN: what the reading would say if its evidence could be trusted.
    ``worst`` names what decided (rank, node, device, link, window, group, stage, domain, ...).
    ``measured_at`` and ``limit_at`` are JSON pointers into evidence and contract, ``measured_at`` also to what is
    recorded and gives no value; ``missing`` names the evidence fields that are absent, null or not enough.
    """

    outcome: Outcome
    sentence: str
    unit: str | None = None
    measured: Value = None
    comparator: Literal["<=", ">=", "==", None] = None
    limit: Value = None
    margin: Value = None
    margin_share: Value = None
    would: Literal["PASS", "FAIL", None] = None
    worst: dict[str, str] = {}
    measured_at: tuple[str, ...] = ()
    limit_at: str | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    because: str | None = None


class GateOutcome(Record, frozen=True, kw_only=True):
    """The outcome of one gate: the worst of its limits (FAIL, UNKNOWN, PASS, NOT_APPLICABLE).

    A gate without limits (always on) has the one entry ``always``; NOT_DECLARED has none.
    """

    family: str
    outcome: Outcome
    limits: dict[str, LimitOutcome]


class Candidate(Record, frozen=True, kw_only=True):
    """One trial, judged."""

    trial_content_id: Digest
    topology: str
    layout: str
    ranks: Count
    nodes: Count
    ranks_per_node: tuple[Count, ...]
    serving_groups: tuple[tuple[Count, ...], ...] | None
    charged_devices: Count
    stranded_devices: Count
    rank_map_digest: Digest
    groups_from: Literal["rule", "engine", "undefined"]
    state: State
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    gates: dict[str, GateOutcome]
    keys: dict[str, Value]
    missing_keys: tuple[str, ...]
    hints: tuple[str, ...]


class OrderKey(Record, frozen=True, kw_only=True):
    """One expanded key of the selection order.

    ``name`` is given where the same key stands in the order at several load points, to tell them apart.
    """

    key: str
    direction: Literal["asc", "desc"]
    load_point: Id | None = None
    statistic: str | None = None
    name: str | None = None

    @property
    def label(self) -> str:
        """What the value of this key is called in ``Candidate.keys``."""
        return self.name or self.key


class Eligible(Record, frozen=True, kw_only=True):
    """One eligible trial in order, with the value of every key of ``Plan.order``.

    ``units`` is above 1 only where the contract allows copies (``scale: independent_replicas``) and the measured
    trial alone does not carry the declared load: the copies are arithmetic, not measured.
    """

    trial: Id
    values: tuple[Value, ...]
    units: Count = 1


class Contender(Record, frozen=True, kw_only=True):
    """An inconclusive trial that would outrank the winner if its unknown gates passed."""

    trial: Id
    topology: str
    sentence: str


class FrontierPoint(Record, frozen=True, kw_only=True):
    """One trial on the picture of throughput against latency; shown, never used for the order.

    ``output_tokens_per_s_per_request`` is the deployment's rate over the load point's concurrent requests (closed
    loop only). ``non_dominated`` is true for an eligible trial that no other eligible one beats in every figure.
    A figure that was not measured is None and never counts as the better one.
    """

    trial: Id
    state: State
    output_tokens_per_s_per_charged_device: Value
    output_tokens_per_s_per_request: Value
    ttft_ms: Value
    usd_per_million_output_tokens: Value
    non_dominated: bool


Constraint = Literal["residency", "latency", "capacity", "isolation"]
"""What may force a degree above one. Tenancy is a need without a gate, so no measurement can resolve it."""

Justified = Literal["RESOLVES", "PREFERENCE", "UNPROVEN", "UNJUSTIFIED", "NOT_NEEDED"]


class Reason(Record, frozen=True, kw_only=True):
    """Why one degree of the selected topology is above one, and what it costs.

    ``verdict``: RESOLVES (the nearest smaller measured trial, ``against``, failed ``gates``, hence ``constraints``),
    PREFERENCE (it was eligible), UNPROVEN (it was inconclusive), UNJUSTIFIED (none was measured, or it failed
    elsewhere), NOT_NEEDED (degree 1). ``gaps`` are the degrees between the two that nobody measured.
    ``gain`` is the relative gain on the first key of the order, positive where the selected trial is better;
    ``extra_devices`` and ``extra_group_ranks`` are charged devices and ranks of the largest serving group more than
    the smaller trial has: what the degree costs, and how much more one failure takes down. ``communication_share`` is
    the selected trial's reading, where a gate reads one.
    """

    axis: str
    degree: Count
    verdict: Justified
    constraints: tuple[Constraint, ...] = ()
    against: Id | None = None
    gates: tuple[str, ...] = ()
    gaps: tuple[Count, ...] = ()
    gain: Value = None
    extra_devices: int | None = None
    extra_group_ranks: int | None = None
    communication_share: Value = None
    sentence: str


class Flip(Record, frozen=True, kw_only=True):
    """One changed reading or limit, and what planning with it gives: arithmetic, no measurement.

    ``kind``: ``reading`` (of ``trial``, as the gate reads it), ``limit`` (of the contract, for every trial) or
    ``unmeasured`` (a reading that is UNKNOWN: "if measured ..."). ``new`` is the nearest value that does it and
    ``comparator`` how the values that do it stand to ``bound``. ``change`` is (new - old) / |old|, or new - old where
    old is 0; None for what was not measured. ``raw_values`` are the windows whose value would have to move, where
    the reading is the worst of them. ``effect``: OTHER_WINS, NONE_LEFT, or SAME_WINNER (``trial`` only gets eligible).
    ``limit_id`` is None for a reading that no limit of the contract holds.
    """

    kind: Literal["reading", "limit", "unmeasured"]
    gate: str
    limit_id: Id | None
    trial: Id | None
    unit: str | None
    old: Value
    new: Value
    comparator: Literal["<=", ">=", "<", ">"]
    bound: Value
    change: Value
    raw_values: Count | None
    effect: Literal["OTHER_WINS", "NONE_LEFT", "SAME_WINNER"]
    winner: Id | None
    sentence: str


class Undeclared(Record, frozen=True, kw_only=True):
    """Something the contract leaves out, with what that means."""

    kind: Literal["family", "section", "headroom", "need"]
    name: str
    sentence: str


class Demand(Record, frozen=True, kw_only=True):
    """Units and devices for the declared load: arithmetic on the selected trial, never a measurement.

    A unit is the whole measured deployment. ``required`` is the need times its peak factor; ``usable`` is the
    measured rate after the replica reserve. The last two fields add one spare unit.
    """

    required_output_tokens_per_s: Value
    measured_output_tokens_per_s: Value
    usable_output_tokens_per_s: Value
    units: Count
    devices: Count
    units_with_spare: Count
    devices_with_spare: Count
    sentence: str


class RankPlace(Record, frozen=True, kw_only=True):
    """One rank of the selected map."""

    rank: Count
    node: Id
    device: Id
    nic: Id | None


class Selected(Record, frozen=True, kw_only=True):
    """The winner."""

    trial: Id
    trial_content_id: Digest
    topology: str
    rank_map_digest: Digest
    rank_map: tuple[RankPlace, ...]


class Bound(Record, frozen=True, kw_only=True):
    """A document the plan is bound to."""

    content_id: Digest


class Plan(Record, frozen=True, kw_only=True):
    """The whole plan. ``plan_id`` is the content id of the plan without that field."""

    schema: Literal["topogate.plan/v1"]
    plan_id: Digest | UnsetType = UNSET
    planner_version: str
    claim: Claim
    as_of: str
    slot: str
    illustrative: bool
    contract: Bound
    evidence: Bound
    decision: DecisionWord
    undeclared: tuple[Undeclared, ...]
    selected: Selected | None
    decisive: bool | None
    contenders: tuple[Contender, ...]
    order: tuple[OrderKey, ...]
    order_notes: tuple[str, ...]
    eligible: tuple[Eligible, ...]
    frontier: tuple[FrontierPoint, ...]
    justification: tuple[Reason, ...]
    baseline: str
    flips: tuple[Flip, ...]
    demand: Demand | None
    gates: tuple[str, ...]
    candidates: dict[Id, Candidate]
