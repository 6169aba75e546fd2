"""The evidence: what was measured (``topogate.evidence/v1``).

Every measurement lives inside the window it was read from. ``null`` says "looked for and missing"; an absent
field says "never recorded". Nothing is filled in, interpolated or assumed.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Bytes, Count, Digest, Id, Number, PositiveCount, Prose, Record, Text, Time

Json = Any
Bound = Literal["exact", "lower", "upper"]
Scope = Literal["rank", "device", "nic", "replica", "deployment"]
Phase = Literal["prefill", "decode", "mixed"]


class Tool(Record, frozen=True, kw_only=True):
    """The program that wrote the figures."""

    name: Text
    version: Text


class SourceFile(Record, frozen=True, kw_only=True):
    """A file that values were read from; kept as an attachment where it was uploaded."""

    name: Text
    sha256: Digest
    bytes: Bytes


class Provenance(Record, frozen=True, kw_only=True):
    """Who or what collected the evidence."""

    collected_by: Text
    collected_at: Time
    tool: Tool
    hosts: tuple[Text, ...] | UnsetType = UNSET
    files: dict[Id, SourceFile] | UnsetType = UNSET
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
    """Request counts of a window."""

    sent: Count | UnsetType | None = UNSET
    completed: Count | UnsetType | None = UNSET
    failed: Count | UnsetType | None = UNSET
    cut_off: Count | UnsetType | None = UNSET


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


class Rate(Record, frozen=True, kw_only=True):
    """A rate as a tool stated it, with its basis; only consistency reads it."""

    value: Number
    scope: Literal["deployment", "device"]


class Load(Record, frozen=True, kw_only=True):
    """What the load client saw in one window, over the whole deployment."""

    duration_s: Number | UnsetType | None = UNSET
    requests: Requests | UnsetType = UNSET
    input_tokens_total: Count | UnsetType | None = UNSET
    output_tokens_total: Count | UnsetType | None = UNSET
    output_tokens_mean: Number | UnsetType | None = UNSET
    in_flight_mean: Number | UnsetType | None = UNSET
    longest_sequence_tokens: Count | UnsetType | None = UNSET
    requests_per_s: Rate | UnsetType = UNSET
    output_tokens_per_s: Rate | UnsetType = UNSET
    total_tokens_per_s: Rate | UnsetType = UNSET
    quantile_method: Literal["nearest_rank", "linear", "histogram_upper"] | UnsetType = UNSET
    ttft_from: Literal["send", "scheduled"] | UnsetType = UNSET
    ttft_ms: Statistics | UnsetType = UNSET
    tpot_ms: Statistics | UnsetType = UNSET
    itl_ms: Statistics | UnsetType = UNSET
    e2e_ms: Statistics | UnsetType = UNSET


class PerRank(Record, frozen=True, kw_only=True):
    """One metric for every rank; ``values[r]`` belongs to global rank r, ``null`` is missing."""

    scope: Scope | UnsetType = UNSET
    bound: Bound | UnsetType = UNSET
    sample_interval_s: Number | UnsetType = UNSET
    samples: Count | UnsetType = UNSET
    values: tuple[Annotated[int, Meta(ge=0, le=2**53 - 1)] | Annotated[float, Meta(ge=0)] | None, ...]


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
    """One serving group as its scheduler saw it."""

    ranks: Annotated[tuple[Count, ...], Meta(min_length=1)]
    completed: Count | UnsetType | None = UNSET
    output_tokens_total: Count | UnsetType | None = UNSET
    longest_sequence_tokens: Count | UnsetType | None = UNSET


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


class Trial(Record, frozen=True, kw_only=True):
    """A measured topology."""

    topology: Topology
    rank_map: Annotated[tuple[Placement, ...], Meta(min_length=1)]
    identity_id: Id
    windows: Annotated[dict[Id, Window], Meta(min_length=1)]
    source: Prose | UnsetType = UNSET


class Evidence(Record, frozen=True, kw_only=True):
    """The whole evidence."""

    schema: Literal["topogate.evidence/v1"]
    contract_content_id: Digest
    scope: Annotated[str, Meta(min_length=1, max_length=128)]
    provenance: Provenance
    identities: Annotated[dict[Id, ObservedIdentity], Meta(min_length=1)]
    trials: Annotated[dict[Id, Trial], Meta(min_length=1)]
