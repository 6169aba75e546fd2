"""The plan: what the planner decided and why (``topogate.plan/v1``).

A number that is a decimal of the evidence or contract is written as that number; any other rational (a mean, a
share, a price) is a ``Ratio``. Both are exact; rounding happens only where text is made. Fields stand in the order in
which canonical JSON has them, by name, so that none has to be sorted to be written.
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

    den: Integer
    num: Integer


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

    because: str | None = None
    comparator: Literal["<=", ">=", "==", None] = None
    limit: Value = None
    limit_at: str | None = None
    margin: Value = None
    margin_share: Value = None
    measured: Value = None
    measured_at: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcome: Outcome
    sentence: str
    unit: str | None = None
    worst: dict[str, str] = {}
    would: Literal["PASS", "FAIL", None] = None


class GateOutcome(Record, frozen=True, kw_only=True):
    """The outcome of one gate: the worst of its limits (FAIL, UNKNOWN, PASS, NOT_APPLICABLE).

    A gate without limits (always on) has the one entry ``always``; NOT_DECLARED has none.
    """

    family: str
    limits: dict[str, LimitOutcome]
    outcome: Outcome


class Candidate(Record, frozen=True, kw_only=True):
    """One trial, judged."""

    charged_devices: Count
    failing: tuple[str, ...]
    gates: dict[str, GateOutcome]
    groups_from: Literal["rule", "engine", "undefined"]
    hints: tuple[str, ...]
    keys: dict[str, Value]
    layout: str
    missing_keys: tuple[str, ...]
    nodes: Count
    rank_map_digest: Digest
    ranks: Count
    ranks_per_node: tuple[Count, ...]
    serving_groups: tuple[tuple[Count, ...], ...] | None
    state: State
    stranded_devices: Count
    topology: str
    trial_content_id: Digest
    unknown: tuple[str, ...]


class OrderKey(Record, frozen=True, kw_only=True):
    """One expanded key of the selection order.

    ``name`` is given where the same key stands in the order at several load points, to tell them apart.
    """

    direction: Literal["asc", "desc"]
    key: str
    load_point: Id | None = None
    name: str | None = None
    statistic: str | None = None

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
    units: Count = 1
    values: tuple[Value, ...]


class Contender(Record, frozen=True, kw_only=True):
    """An inconclusive trial that would outrank the winner if its unknown gates passed."""

    sentence: str
    topology: str
    trial: Id


class FrontierPoint(Record, frozen=True, kw_only=True):
    """One trial on the picture of throughput against latency; shown, never used for the order.

    ``output_tokens_per_s_per_request`` is the deployment's rate over the load point's concurrent requests (closed
    loop only). ``non_dominated`` is true for an eligible trial that no other eligible one beats in every figure.
    A figure that was not measured is None and never counts as the better one.
    """

    non_dominated: bool
    output_tokens_per_s_per_charged_device: Value
    output_tokens_per_s_per_request: Value
    state: State
    trial: Id
    ttft_ms: Value
    usd_per_million_output_tokens: Value


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

    against: Id | None = None
    axis: str
    communication_share: Value = None
    constraints: tuple[Constraint, ...] = ()
    degree: Count
    extra_devices: int | None = None
    extra_group_ranks: int | None = None
    gain: Value = None
    gaps: tuple[Count, ...] = ()
    gates: tuple[str, ...] = ()
    sentence: str
    verdict: Justified


class Flip(Record, frozen=True, kw_only=True):
    """One changed reading or limit, and what planning with it gives: arithmetic, no measurement.

    ``kind``: ``reading`` (of ``trial``, as the gate reads it), ``limit`` (of the contract, for every trial) or
    ``unmeasured`` (a reading that is UNKNOWN: "if measured ..."). ``new`` is the nearest value that does it and
    ``comparator`` how the values that do it stand to ``bound``. ``change`` is (new - old) / |old|, or new - old where
    old is 0; None for what was not measured. ``raw_values`` are the windows whose value would have to move, where
    the reading is the worst of them. ``effect``: OTHER_WINS, NONE_LEFT, or SAME_WINNER (``trial`` only gets eligible).
    ``limit_id`` is None for a reading that no limit of the contract holds.
    """

    bound: Value
    change: Value
    comparator: Literal["<=", ">=", "<", ">"]
    effect: Literal["OTHER_WINS", "NONE_LEFT", "SAME_WINNER"]
    gate: str
    kind: Literal["reading", "limit", "unmeasured"]
    limit_id: Id | None
    new: Value
    old: Value
    raw_values: Count | None
    sentence: str
    trial: Id | None
    unit: str | None
    winner: Id | None


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

    devices: Count
    devices_with_spare: Count
    measured_output_tokens_per_s: Value
    required_output_tokens_per_s: Value
    sentence: str
    units: Count
    units_with_spare: Count
    usable_output_tokens_per_s: Value


class RankPlace(Record, frozen=True, kw_only=True):
    """One rank of the selected map."""

    device: Id
    nic: Id | None
    node: Id
    rank: Count


class Selected(Record, frozen=True, kw_only=True):
    """The winner."""

    rank_map: tuple[RankPlace, ...]
    rank_map_digest: Digest
    topology: str
    trial: Id
    trial_content_id: Digest


class Bound(Record, frozen=True, kw_only=True):
    """A document the plan is bound to."""

    content_id: Digest


class Plan(Record, frozen=True, kw_only=True):
    """The whole plan. ``plan_id`` is the content id of the plan without that field."""

    as_of: str
    baseline: str
    candidates: dict[Id, Candidate]
    claim: Claim
    contenders: tuple[Contender, ...]
    contract: Bound
    decision: DecisionWord
    decisive: bool | None
    demand: Demand | None
    eligible: tuple[Eligible, ...]
    evidence: Bound
    flips: tuple[Flip, ...]
    frontier: tuple[FrontierPoint, ...]
    gates: tuple[str, ...]
    illustrative: bool
    justification: tuple[Reason, ...]
    order: tuple[OrderKey, ...]
    order_notes: tuple[str, ...]
    plan_id: Digest | UnsetType = UNSET
    planner_version: str
    schema: Literal["topogate.plan/v1"]
    selected: Selected | None
    slot: str
    undeclared: tuple[Undeclared, ...]
