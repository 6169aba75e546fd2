"""The evidence: what was measured (``topogate.evidence/v1``).

Every measurement lives inside the window it was read from. ``null`` says "looked for and missing"; an absent
field says "never recorded". Nothing is filled in, interpolated or assumed.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Bytes, Count, Digest, Id, Number, PositiveCount, Prose, Record, Share, Text, Time
from planner.records.figures import Bound, PerRank, Phase, Scope, Statistics
from planner.records.sections import Collective, ExpertLayer, ExpertLoad, Handoff, IncidentKind, Incidents, StageTimes
from planner.records.trials import Baseline, Diagnostic, Injection, Quality, Transport

__all__ = [
    "Baseline",
    "Bound",
    "Collective",
    "Diagnostic",
    "Evidence",
    "ExpertLayer",
    "ExpertLoad",
    "GoodIf",
    "Handoff",
    "Incidents",
    "Injection",
    "Instance",
    "LinkCounters",
    "Load",
    "ObservedIdentity",
    "PerRank",
    "Phase",
    "Placement",
    "Provenance",
    "Quality",
    "Rate",
    "Replica",
    "Requests",
    "Scope",
    "ShapeLoad",
    "SourceFile",
    "StageTimes",
    "Statistics",
    "TokenLengths",
    "Tool",
    "Topology",
    "Transport",
    "Trial",
    "ValueSource",
    "Window",
]

Json = Any

JsonPointer = Annotated[str, Meta(pattern=r"^/[^\x00-\x1f]+(?![\s\S])", max_length=512, title="JSON pointer")]
"""An RFC 6901 pointer to something inside a document."""


class Tool(Record, frozen=True, kw_only=True):
    """The program that wrote the figures."""

    name: Text
    version: Text


class SourceFile(Record, frozen=True, kw_only=True):
    """A file that values were read from; kept as an attachment where it was uploaded."""

    name: Text
    sha256: Digest
    bytes: Bytes


class ValueSource(Record, frozen=True, kw_only=True):
    """Where one value of the evidence comes from: a place in a file, a person, or other values.

    ``file`` is one of ``Provenance.files``; ``pointer``, ``line`` and ``column`` (from 1, or a column's name) say
    where in it. ``raw`` is what the file writes, in ``raw_unit``, where that is another number or unit. ``answered_by``
    and ``settled_by`` are labels of people, never names: who gave the value, and who chose among sources that differ.
    ``derived_from`` are pointers into the evidence.
    """

    file: Id | UnsetType = UNSET
    pointer: JsonPointer | UnsetType = UNSET
    line: PositiveCount | UnsetType = UNSET
    column: Text | UnsetType = UNSET
    raw: Text | UnsetType = UNSET
    raw_unit: Text | UnsetType = UNSET
    answered_by: Id | UnsetType = UNSET
    settled_by: Id | UnsetType = UNSET
    derived_from: Annotated[tuple[JsonPointer, ...], Meta(min_length=1, max_length=16)] | UnsetType = UNSET


class Provenance(Record, frozen=True, kw_only=True):
    """Who or what collected the evidence. ``sources`` is pointer of a value -> where it comes from."""

    collected_by: Text
    collected_at: Time
    tool: Tool
    hosts: tuple[Text, ...] | UnsetType = UNSET
    files: dict[Id, SourceFile] | UnsetType = UNSET
    sources: dict[JsonPointer, ValueSource] | UnsetType = UNSET
    note: Prose | UnsetType = UNSET


class ObservedIdentity(Record, frozen=True, kw_only=True):
    """What really ran, in the shape of the contract's identity.

    Sections are free-form because an observation may say ``"unknown"`` for any leaf and may know more leaves
    than the contract binds; they are compared leaf by leaf (``planner.identity``).
    """

    model: dict[str, Json] | UnsetType = UNSET
    precision: dict[str, Json] | UnsetType = UNSET
    workload: dict[str, Json] | UnsetType = UNSET
    stack: dict[str, Json] | UnsetType = UNSET
    hardware: dict[str, Json] | UnsetType = UNSET
    telemetry: dict[str, Json] | UnsetType = UNSET


class Instance(Record, frozen=True, kw_only=True):
    """One engine instance: its degrees and the world size that the engine itself reported.

    ``engine_degrees`` holds degrees and switches of one engine only (for example ``attn_dp``, ``moe_tp``,
    ``enable_expert_parallel``); the layout refuses those it does not know.
    """

    role: Literal["serve", "prefill", "decode"] | UnsetType = UNSET
    tp: PositiveCount
    pp: PositiveCount
    ep: PositiveCount
    dp: PositiveCount
    cp: PositiveCount | UnsetType = UNSET
    dcp: PositiveCount | UnsetType = UNSET
    engine_degrees: dict[Id, PositiveCount | bool | Text] | UnsetType = UNSET
    world_size: PositiveCount


LayoutName = Literal["closed", "vllm", "sglang", "megatron", "trtllm"]


class Topology(Record, frozen=True, kw_only=True):
    """Degrees of every engine instance, in global rank order.

    ``process_groups`` are the groups as the engine reported them: kind -> groups of global ranks.
    """

    layout: LayoutName
    instances: Annotated[tuple[Instance, ...], Meta(min_length=1)]
    process_groups: dict[Id, tuple[tuple[Count, ...], ...]] | UnsetType = UNSET


class Placement(Record, frozen=True, kw_only=True):
    """Where one rank sits."""

    rank: Count
    node: Id
    device: Id
    nic: Id | UnsetType = UNSET


class Requests(Record, frozen=True, kw_only=True):
    """Request counts of a window.

    ``refused`` and ``timed_out`` are among ``failed``; ``good`` are the completed ones that met ``Load.good_if``.
    """

    sent: Count | UnsetType | None = UNSET
    completed: Count | UnsetType | None = UNSET
    failed: Count | UnsetType | None = UNSET
    cut_off: Count | UnsetType | None = UNSET
    refused: Count | UnsetType | None = UNSET
    timed_out: Count | UnsetType | None = UNSET
    retried: Count | UnsetType | None = UNSET
    cancelled: Count | UnsetType | None = UNSET
    good: Count | UnsetType | None = UNSET


class TokenLengths(Record, frozen=True, kw_only=True):
    """Measured token lengths per request."""

    mean: Number | UnsetType | None = UNSET
    p50: Number | UnsetType | None = UNSET
    p95: Number | UnsetType | None = UNSET
    max: Count | UnsetType | None = UNSET


class GoodIf(Record, frozen=True, kw_only=True):
    """Ceilings that a request had to meet to count as good, in milliseconds."""

    ttft_ms: Number | UnsetType = UNSET
    tpot_ms: Number | UnsetType = UNSET
    itl_ms: Number | UnsetType = UNSET
    e2e_ms: Number | UnsetType = UNSET


class ShapeLoad(Record, frozen=True, kw_only=True):
    """Tails of the requests of one shape that the contract declares."""

    requests: Count | UnsetType | None = UNSET
    ttft_ms: Statistics | UnsetType = UNSET
    tpot_ms: Statistics | UnsetType = UNSET
    itl_ms: Statistics | UnsetType = UNSET
    e2e_ms: Statistics | UnsetType = UNSET


class Rate(Record, frozen=True, kw_only=True):
    """A rate as a tool stated it, with its basis; only consistency reads it."""

    value: Number
    scope: Literal["deployment", "device"]


class Load(Record, frozen=True, kw_only=True):
    """What the load client saw in one window, over the whole deployment.

    The backlog is what was sent and not answered yet: its mean over the first and over the last third of the window.
    """

    duration_s: Number | UnsetType | None = UNSET
    requests: Requests | UnsetType = UNSET
    input_tokens_total: Count | UnsetType | None = UNSET
    output_tokens_total: Count | UnsetType | None = UNSET
    output_tokens_mean: Number | UnsetType | None = UNSET
    in_flight_mean: Number | UnsetType | None = UNSET
    longest_sequence_tokens: Count | UnsetType | None = UNSET
    prompt_tokens: TokenLengths | UnsetType = UNSET
    output_tokens: TokenLengths | UnsetType = UNSET
    tokens_counted_by: Literal["server", "client"] | UnsetType = UNSET
    cache_hit_share: Share | UnsetType | None = UNSET
    acceptance_length_mean: Number | UnsetType | None = UNSET
    synthetic_acceptance: bool | UnsetType = UNSET
    batch_size_mean: Number | UnsetType | None = UNSET
    queued_requests_mean: Number | UnsetType | None = UNSET
    queued_requests_max: Count | UnsetType | None = UNSET
    backlog_first_third_mean: Number | UnsetType | None = UNSET
    backlog_last_third_mean: Number | UnsetType | None = UNSET
    preemptions: Count | UnsetType | None = UNSET
    kv_measured_at_context_tokens: PositiveCount | UnsetType | None = UNSET
    kv_used_peak_share: Share | UnsetType | None = UNSET
    good_if: GoodIf | UnsetType = UNSET
    requests_per_s: Rate | UnsetType = UNSET
    output_tokens_per_s: Rate | UnsetType = UNSET
    total_tokens_per_s: Rate | UnsetType = UNSET
    quantile_method: Literal["nearest_rank", "linear", "histogram_upper"] | UnsetType = UNSET
    ttft_from: Literal["send", "scheduled"] | UnsetType = UNSET
    ttft_ms: Statistics | UnsetType = UNSET
    tpot_ms: Statistics | UnsetType = UNSET
    itl_ms: Statistics | UnsetType = UNSET
    e2e_ms: Statistics | UnsetType = UNSET
    queue_ms: Statistics | UnsetType = UNSET
    schedule_lag_ms: Statistics | UnsetType = UNSET
    shapes: dict[Id, ShapeLoad] | UnsetType = UNSET


class LinkCounters(Record, frozen=True, kw_only=True):
    """Byte counters of one link in one phase."""

    scope: Scope | UnsetType = UNSET
    bound: Bound | UnsetType = UNSET
    sample_interval_s: Number | UnsetType = UNSET
    samples: Count | UnsetType = UNSET
    peak_tx_bytes: Bytes | UnsetType | None = UNSET
    peak_rx_bytes: Bytes | UnsetType | None = UNSET
    tx_bytes_total: Bytes | UnsetType | None = UNSET
    rx_bytes_total: Bytes | UnsetType | None = UNSET
    utilization: Number | UnsetType | None = UNSET


class Replica(Record, frozen=True, kw_only=True):
    """One serving group as its scheduler saw it.

    ``kv_capacity_tokens`` is what the group holds as a whole; ``kv_max_concurrent_requests`` is the engine's own
    figure for requests of ``kv_measured_at_context_tokens`` each.
    """

    ranks: Annotated[tuple[Count, ...], Meta(min_length=1)]
    completed: Count | UnsetType | None = UNSET
    output_tokens_total: Count | UnsetType | None = UNSET
    longest_sequence_tokens: Count | UnsetType | None = UNSET
    kv_capacity_tokens: Count | UnsetType | None = UNSET
    kv_max_concurrent_requests: Number | UnsetType | None = UNSET
    kv_measured_at_context_tokens: PositiveCount | UnsetType | None = UNSET
    kv_used_mean_share: Share | UnsetType | None = UNSET
    queued_requests_mean: Number | UnsetType | None = UNSET
    affinity_hit_share: Share | UnsetType | None = UNSET
    cold_start_s: Number | UnsetType | None = UNSET


PerRankMetric = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}(?![\s\S])")]


class Window(Record, frozen=True, kw_only=True):
    """A span of time with one purpose and one load point, and everything read from it.

    ``breakdown_complete`` says that the memory components of ``per_rank`` leave nothing out.
    """

    purpose: Literal["warmup", "counted", "instrumented", "soak", "injection"]
    load_point: Id
    start: Time
    end: Time
    compile_events: Count | UnsetType | None = UNSET
    concurrent_runs: Count | UnsetType | None = UNSET
    breakdown_complete: bool | UnsetType = UNSET
    load: Load | UnsetType = UNSET
    per_rank: dict[PerRankMetric, PerRank] | UnsetType = UNSET
    links: dict[Id, dict[Phase, LinkCounters]] | UnsetType = UNSET
    replicas: dict[Id, Replica] | UnsetType = UNSET
    collectives: dict[Id, Collective] | UnsetType = UNSET
    stages: dict[Id, StageTimes] | UnsetType = UNSET
    experts: dict[Id, ExpertLoad] | UnsetType = UNSET
    handoff: Handoff | UnsetType = UNSET
    incidents: dict[IncidentKind, Incidents] | UnsetType = UNSET


class Trial(Record, frozen=True, kw_only=True):
    """A measured topology."""

    topology: Topology
    rank_map: Annotated[tuple[Placement, ...], Meta(min_length=1)]
    identity_id: Id
    windows: Annotated[dict[Id, Window], Meta(min_length=1)]
    transport: dict[Id, Transport] | UnsetType = UNSET
    quality: dict[Id, Quality] | UnsetType = UNSET
    failures: dict[Id, Injection] | UnsetType = UNSET
    baseline: Baseline | UnsetType = UNSET
    diagnostics: dict[Id, Diagnostic] | UnsetType = UNSET
    source: Prose | UnsetType = UNSET


class Evidence(Record, frozen=True, kw_only=True):
    """The whole evidence."""

    schema: Literal["topogate.evidence/v1"]
    contract_content_id: Digest
    scope: Annotated[str, Meta(min_length=1, max_length=128)]
    provenance: Provenance
    identities: Annotated[dict[Id, ObservedIdentity], Meta(min_length=1)]
    trials: Annotated[dict[Id, Trial], Meta(min_length=1)]
