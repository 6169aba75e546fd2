"""What stands on a trial beside its windows: paths in use, quality, injections, the baseline, diagnostics."""

from typing import Literal

from msgspec import UNSET, UnsetType

from planner.records.base import Count, Id, Number, PositiveCount, Prose, Record, Text, Time
from planner.records.figures import Statistics

Path = Literal["p2p", "nvls", "shm", "rdma_direct", "rdma_host_staged", "socket"]
"""How two ranks reach each other: peer memory, switch multicast, host memory, network with or without a copy
through the host, or plain sockets."""


class Transport(Record, frozen=True, kw_only=True):
    """The path that groups of one kind really used, as the library printed it.

    ``boundary`` tells paths inside a node from those between nodes; ``reported`` is the library's own text.
    """

    group_kind: Id
    boundary: Literal["inside_node", "inter_node"]
    path: Path
    ranks: tuple[Count, ...] | UnsetType = UNSET
    peer_access_verified: bool | UnsetType | None = UNSET
    all_reduce: Text | UnsetType = UNSET
    reported: Text | UnsetType = UNSET


class Interval(Record, frozen=True, kw_only=True):
    """An interval of a score with its confidence, for instance 0.95."""

    low: Number
    high: Number
    confidence: Number


class Quality(Record, frozen=True, kw_only=True):
    """A score of output quality and the topology it was measured on.

    ``topology`` is a derived name such as ``tp2-pp1-ep1-dp1``; ``identity_id`` names what ran then.
    """

    benchmark: Text
    topology: Text
    identity_id: Id
    score: Number | None
    reference: Text | UnsetType = UNSET
    reference_score: Number | UnsetType | None = UNSET
    n: Count | UnsetType | None = UNSET
    interval: Interval | UnsetType = UNSET


InjectionKind = Literal[
    "slow_rank",
    "slow_link",
    "rank_loss",
    "node_loss",
    "drain",
    "cancellation",
    "communicator_teardown",
    "model_reload",
    "kv_invalidation",
    "traffic_shift",
    "overload",
]


class Survivors(Record, frozen=True, kw_only=True):
    """Tails of the requests that went on elsewhere while the fault lasted."""

    ttft_ms: Statistics | UnsetType = UNSET
    e2e_ms: Statistics | UnsetType = UNSET


class Injection(Record, frozen=True, kw_only=True):
    """A fault that was put in on purpose, and what happened.

    ``domain_kind`` and ``domain`` say what was hit; seconds count from the fault. ``floor_rate_s`` is the time until
    the throughput floor was reached again. ``output_tokens_per_s`` is the rate while the fault lasted,
    ``recovered_output_tokens_per_s`` the one that held from ``recovered_s`` on.
    """

    kind: InjectionKind
    domain_kind: Id | UnsetType = UNSET
    domain: Id | UnsetType = UNSET
    load_point: Id | UnsetType = UNSET
    detect_s: Number | UnsetType | None = UNSET
    first_token_s: Number | UnsetType | None = UNSET
    floor_rate_s: Number | UnsetType | None = UNSET
    requests_failed: Count | UnsetType | None = UNSET
    requests_retried: Count | UnsetType | None = UNSET
    requests_partial: Count | UnsetType | None = UNSET
    output_tokens_per_s: Number | UnsetType | None = UNSET
    recovered_s: Number | UnsetType | None = UNSET
    recovered_output_tokens_per_s: Number | UnsetType | None = UNSET
    survivors: Survivors | UnsetType = UNSET
    note: Prose | UnsetType = UNSET


class BaselineLoad(Record, frozen=True, kw_only=True):
    """What the baseline carried at one load point."""

    duration_s: Number | UnsetType | None = UNSET
    output_tokens_total: Count | UnsetType | None = UNSET


class Baseline(Record, frozen=True, kw_only=True):
    """The smallest topology measured with the same identity, or the fact that none fits.

    ``fits`` is false where a smaller one was tried and its weights and KV cache did not fit.
    """

    topology: Text
    ranks: PositiveCount
    identity_id: Id
    fits: bool
    load: dict[Id, BaselineLoad] | UnsetType = UNSET


class Diagnostic(Record, frozen=True, kw_only=True):
    """A snapshot of a diagnostic tool; shown, never read by a gate."""

    collected_at: Time
    tool: Text
    version: Text
    text: Prose
