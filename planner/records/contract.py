"""The contract: what is frozen before topologies are compared (``topogate.contract/v1``).

Limits under ``gates`` are stored as plain objects here and typed by the record that each gate registers
(``planner.gates``), so that a new gate needs no change in this file.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from planner.records.base import Bytes, Count, Digest, Id, Number, PositiveCount, Prose, Record, Share, Text
from planner.records.stress import Stress

Json = Any
"""Any JSON value; only found in engine settings, whose leaves are compared and never interpreted."""

Settings = dict[Text, Json]


class AttentionWidths(Record, frozen=True, kw_only=True):
    """Widths that only some attention kinds have."""

    q_lora_rank: Count | UnsetType = UNSET
    kv_lora_rank: Count | UnsetType = UNSET
    rope_head_dim: Count | UnsetType = UNSET
    nope_head_dim: Count | UnsetType = UNSET
    value_head_dim: Count | UnsetType = UNSET
    sliding_window_tokens: Count | UnsetType = UNSET
    sliding_layers: Count | UnsetType = UNSET


class Model(Record, frozen=True, kw_only=True):
    """Shape and revision of the model. ``layers`` and the like are counts."""

    name: Text
    revision: Text
    tokenizer_revision: Text | UnsetType = UNSET
    adapters: tuple[Text, ...] | UnsetType = UNSET
    architecture: Literal["dense", "moe"]
    parameters: PositiveCount | UnsetType = UNSET
    layers: PositiveCount
    hidden_size: PositiveCount | UnsetType = UNSET
    intermediate_size: PositiveCount | UnsetType = UNSET
    attention: Literal["mha", "gqa", "mla"] | UnsetType = UNSET
    attention_widths: AttentionWidths | UnsetType = UNSET
    attention_heads: PositiveCount
    kv_heads: PositiveCount
    head_dim: PositiveCount | UnsetType = UNSET
    vocab_size: PositiveCount | UnsetType = UNSET
    tied_embeddings: bool | UnsetType = UNSET
    dense_layers: Count | UnsetType = UNSET
    experts: PositiveCount | UnsetType = UNSET
    experts_per_token: PositiveCount | UnsetType = UNSET
    shared_experts: Count | UnsetType = UNSET
    expert_intermediate_size: PositiveCount | UnsetType = UNSET


class Precision(Record, frozen=True, kw_only=True):
    """Number formats of the three states; ``quantisation_block`` is in elements."""

    weights: Text
    activations: Text
    kv_cache: Text
    quantisation_block: PositiveCount | UnsetType = UNSET


class Lengths(Record, frozen=True, kw_only=True):
    """Token lengths of a request: ``fixed``, or a distribution."""

    fixed: Count | UnsetType = UNSET
    mean: Number | UnsetType = UNSET
    p50: Number | UnsetType = UNSET
    p95: Number | UnsetType = UNSET
    max: Count | UnsetType = UNSET


class LoadPoint(Record, frozen=True, kw_only=True):
    """One point of load: closed loop (so many requests in flight) or open loop (so many arrive a second)."""

    arrival: Literal["closed", "open"]
    concurrent_requests: PositiveCount | UnsetType = UNSET
    requests_per_s: Number | UnsetType = UNSET
    burstiness: Number | UnsetType = UNSET


class RequestShape(Record, frozen=True, kw_only=True):
    """A bucket of requests by prompt length, both ends included; no maximum means without end."""

    min_prompt_tokens: Count
    max_prompt_tokens: Count | UnsetType = UNSET


class Workload(Record, frozen=True, kw_only=True):
    """The requests that every trial must have served."""

    name: Text
    dataset_digest: Digest | UnsetType = UNSET
    prompt_tokens: Lengths | UnsetType = UNSET
    output_tokens: Lengths | UnsetType = UNSET
    context_tokens: PositiveCount | UnsetType = UNSET
    prefix_cache: Settings | UnsetType = UNSET
    speculation: Text | Settings | UnsetType = UNSET
    sampling: Settings | UnsetType = UNSET
    batch: Settings | UnsetType = UNSET
    request_shapes: dict[Id, RequestShape] | UnsetType = UNSET
    load_points: Annotated[dict[Id, LoadPoint], Meta(min_length=1)]


class Part(Record, frozen=True, kw_only=True):
    """A part of the stack that has a version and, where it can be had, a digest."""

    version: Text | UnsetType = UNSET
    digest: Digest | UnsetType = UNSET


class Engine(Record, frozen=True, kw_only=True):
    """The serving engine; version text alone is not identity, so a build digest is welcome."""

    name: Text
    version: Text
    build_digest: Digest | UnsetType = UNSET


class Stack(Record, frozen=True, kw_only=True):
    """Software that ran. Flags that set degrees or placement belong to the topology, never here."""

    engine: Engine
    scheduler: Settings | UnsetType = UNSET
    kv: Settings | UnsetType = UNSET
    router: Settings | UnsetType = UNSET
    flags: Settings | UnsetType = UNSET
    kernels_digest: Digest | UnsetType = UNSET
    runtime: Part | UnsetType = UNSET
    driver: Part | UnsetType = UNSET
    firmware_digest: Digest | UnsetType = UNSET
    collective_library: Part | UnsetType = UNSET


class Node(Record, frozen=True, kw_only=True):
    """A host."""

    sockets: PositiveCount | UnsetType = UNSET


class Device(Record, frozen=True, kw_only=True):
    """An accelerator, or one slice of it; ``memory_bytes`` is what the driver reports for it.

    ``slice_of`` names the accelerator that a slice is part of, ``socket`` and ``pcie_switch`` what it hangs on, each
    unique on its node. ``shared_with`` names what may run on the device together: pools (``prefill``, ``decode``), or
    other models.
    """

    node: Id
    type: Text
    memory_bytes: Bytes
    socket: Id | UnsetType = UNSET
    pcie_switch: Id | UnsetType = UNSET
    slice_of: Id | UnsetType = UNSET
    shared_with: tuple[Text, ...] | UnsetType = UNSET


class Nic(Record, frozen=True, kw_only=True):
    """A network interface."""

    node: Id
    use: Literal["fabric", "storage", "front_end"]


class Island(Record, frozen=True, kw_only=True):
    """Devices joined by the fastest peer links; neighbours by link, not by index."""

    devices: Annotated[tuple[Id, ...], Meta(min_length=1)]
    kind: Text | UnsetType = UNSET
    bytes_per_s_one_way: PositiveCount | UnsetType = UNSET


class Link(Record, frozen=True, kw_only=True):
    """A link of the fabric; the rate is for one direction."""

    # `class` is the field's standard word but a keyword in Python.
    link_class: Text = field(name="class")
    kind: Text | UnsetType = UNSET
    nic: Id | UnsetType = UNSET
    bytes_per_s_one_way: PositiveCount
    contention_domain: Text | UnsetType = UNSET


class Hardware(Record, frozen=True, kw_only=True):
    """Nodes, devices, and what joins them."""

    nodes: Annotated[dict[Id, Node], Meta(min_length=1)]
    devices: Annotated[dict[Id, Device], Meta(min_length=1)]
    nics: dict[Id, Nic] | UnsetType = UNSET
    islands: dict[Id, Island] | UnsetType = UNSET
    links: dict[Id, Link] | UnsetType = UNSET


class Collector(Record, frozen=True, kw_only=True):
    """A collector of telemetry."""

    name: Text
    digest: Digest | UnsetType = UNSET


class Identity(Record, frozen=True, kw_only=True):
    """What must be the same when the decision is used; each leaf is compared with what really ran."""

    model: Model
    precision: Precision
    workload: Workload
    stack: Stack
    hardware: Hardware
    telemetry: dict[Id, Collector] | UnsetType = UNSET


class Fleet(Record, frozen=True, kw_only=True):
    """Facts about the fleet that are not identity: prices, spares, failure domains."""

    failure_domains: dict[Id, dict[Id, tuple[Id, ...]]] | UnsetType = UNSET
    spare_devices: tuple[Id, ...] | UnsetType = UNSET
    charge: Literal["device", "node", "rack"] | UnsetType = UNSET
    usd_per_device_hour: dict[Text, Number] | UnsetType = UNSET
    power_cap_watts: dict[Text, Number] | UnsetType = UNSET


class Reasoned(Record, frozen=True, kw_only=True):
    """A need stated in words."""

    because: Prose


class CapacityNeed(Record, frozen=True, kw_only=True):
    """The load to carry; ``output_tokens_per_s`` over the whole deployment."""

    output_tokens_per_s: Number
    peak_factor: Number | UnsetType = UNSET
    because: Prose


class IsolationNeed(Record, frozen=True, kw_only=True):
    """How many nodes may be lost."""

    nodes_lost_to_survive: Count
    because: Prose


class Needs(Record, frozen=True, kw_only=True):
    """What may force distribution. A need creates no gate."""

    residency: Reasoned | UnsetType = UNSET
    latency: Reasoned | UnsetType = UNSET
    capacity: CapacityNeed | UnsetType = UNSET
    isolation: IsolationNeed | UnsetType = UNSET
    tenancy: Reasoned | UnsetType = UNSET


class RequiredEvidence(Record, frozen=True, kw_only=True):
    """A metric that must be there: ``metric`` is ``<section>.<field>`` of a window."""

    metric: Annotated[str, Meta(pattern=r"^[a-z_]+\.[a-z0-9_]+(?![\s\S])")]
    scope_at_least: Literal["rank", "device", "nic", "replica", "deployment"]
    load_points: Annotated[tuple[Id, ...], Meta(min_length=1)]
    level: Literal["required", "advisory"]
    phase: Literal["prefill", "decode", "mixed"] | UnsetType = UNSET
    min_samples: PositiveCount | UnsetType = UNSET
    max_sample_interval_s: Number | UnsetType = UNSET
    because: Prose


class Recovery(Record, frozen=True, kw_only=True):
    """What happens when a rank is lost, in the team's own rules."""

    timeout_s: Number
    on_rank_loss: Literal["restart_group", "retry_elsewhere", "reject"]
    in_flight_requests: Literal["retry_elsewhere", "reject", "restart"]
    drain: Literal["drain", "abort"]
    admission_control: Text
    load_shedding: Text


class MemoryReserve(Record, frozen=True, kw_only=True):
    """Memory kept free on every rank: a share of the device, or bytes; exactly one of the two."""

    reserved_share: Share | UnsetType = UNSET
    reserved_bytes: Bytes | UnsetType = UNSET
    because: Prose | UnsetType = UNSET


class Reserve(Record, frozen=True, kw_only=True):
    """A share kept free."""

    reserved_share: Share
    because: Prose | UnsetType = UNSET


class Headroom(Record, frozen=True, kw_only=True):
    """Reserves, and what each is for."""

    memory: MemoryReserve | UnsetType = UNSET
    bandwidth: Reserve | UnsetType = UNSET
    replica_capacity: Reserve | UnsetType = UNSET


Pointer = Annotated[str, Meta(pattern=r"^(/[^\x00-\x1f]*)?(?![\s\S])", max_length=512)]


class Comparison(Record, frozen=True, kw_only=True):
    """What must be equal between trials beyond model, precision and workload."""

    accelerator_count: PositiveCount | UnsetType = UNSET
    choice_keys: tuple[Pointer, ...] | UnsetType = UNSET
    consistency_tolerance: Share | UnsetType = UNSET
    min_samples_beyond_percentile: Number | UnsetType = UNSET


class SteadyState(Record, frozen=True, kw_only=True):
    """How many counted windows a reading needs."""

    min_repeats: PositiveCount


KeyName = Literal[
    "output_tokens_per_s_per_charged_device",
    "output_tokens_per_s",
    "usd_per_million_output_tokens",
    "serving_group_ranks",
    "charged_devices",
    "ttft",
    "topology",
    "trial_content_id",
]


class SelectionKey(Record, frozen=True, kw_only=True):
    """One key of the order; ``load_point`` for measured ones."""

    key: KeyName
    direction: Literal["asc", "desc"] | UnsetType = UNSET
    load_point: Id | UnsetType = UNSET


class Selection(Record, frozen=True, kw_only=True):
    """The order among eligible trials: a preset or explicit keys; exactly one of the two."""

    preset: Literal["highest_throughput", "smallest_first"] | UnsetType = UNSET
    keys: Annotated[tuple[SelectionKey, ...], Meta(min_length=1)] | UnsetType = UNSET
    scale: Literal["independent_replicas"] | UnsetType = UNSET


class Validity(Record, frozen=True, kw_only=True):
    """How long evidence and the decision hold, in seconds."""

    max_evidence_age_s: PositiveCount | UnsetType = UNSET
    decision_expires_after_s: PositiveCount | UnsetType = UNSET
    requalify_on: tuple[Pointer, ...] | UnsetType = UNSET


class Contract(Record, frozen=True, kw_only=True):
    """The whole contract."""

    schema: Literal["topogate.contract/v1"]
    slot: Annotated[str, Meta(min_length=1, max_length=128)]
    owner: Text
    illustrative: Literal[True] | UnsetType = UNSET
    identity: Identity
    fleet: Fleet | UnsetType = UNSET
    needs: Needs | UnsetType = UNSET
    gates: Annotated[dict[str, Annotated[dict[Id, dict[str, Json]], Meta(min_length=1)]], Meta(min_length=1)]
    evidence_required: dict[Id, RequiredEvidence] | UnsetType = UNSET
    recovery: Recovery | UnsetType = UNSET
    headroom: Headroom | UnsetType = UNSET
    comparison: Comparison | UnsetType = UNSET
    steady_state: SteadyState | UnsetType = UNSET
    selection: Selection
    stress: Stress | UnsetType = UNSET
    validity: Validity | UnsetType = UNSET
