"""Sections of a window beside the load: collectives, stages, experts, hand-off and what went wrong.

Each entry says of which phase it is; none means that prefill and decode were mixed. Nothing here is an estimate.
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from planner.records.base import Bytes, Count, Id, Number, PositiveCount, Record, Share
from planner.records.figures import Bound, Phase, Scope, Statistics, Values


class Collective(Record, frozen=True, kw_only=True):
    """One collective operation at one message size: how long it took and what bandwidth it reached.

    ``bus_bytes_per_s`` is one figure for the whole run, ``bus_bytes_per_s_by_rank`` one for each global rank;
    ``wrong`` counts results that were not right. ``token_mix`` names the declared mix of tokens that was running.
    """

    operation: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv"]
    group_kind: Id | UnsetType = UNSET
    phase: Phase | UnsetType = UNSET
    token_mix: Id | UnsetType = UNSET
    message_bytes: Bytes | UnsetType = UNSET
    count: Count | UnsetType | None = UNSET
    bytes_total: Bytes | UnsetType | None = UNSET
    time_ms: Statistics | UnsetType = UNSET
    bus_bytes_per_s: Number | UnsetType | None = UNSET
    bus_bytes_per_s_by_rank: Values | UnsetType = UNSET
    wrong: Count | UnsetType | None = UNSET
    nodes: tuple[Id, ...] | UnsetType = UNSET


class StageTimes(Record, frozen=True, kw_only=True):
    """Busy time of every pipeline stage of one engine instance; entry s is stage s.

    ``instance`` is its place in ``topology.instances``, the first where left out. ``cycle_ms`` is the time in which
    every stage does its share once; without it the slowest stage sets the cycle.
    """

    instance: Count | UnsetType = UNSET
    phase: Phase | UnsetType = UNSET
    busy_ms: Values
    cycle_ms: Number | UnsetType | None = UNSET
    micro_batches_in_flight: Count | UnsetType | None = UNSET


class ExpertLayer(Record, frozen=True, kw_only=True):
    """Tokens that one layer sent to the experts of every rank, and what it dropped or delayed.

    ``tokens_by_expert`` counts physical slots: a redundant copy is a slot of its own.
    """

    tokens_by_rank: Values | UnsetType = UNSET
    tokens_by_expert: Values | UnsetType = UNSET
    dropped_tokens: Count | UnsetType | None = UNSET
    delayed_tokens: Count | UnsetType | None = UNSET


class ExpertLoad(Record, frozen=True, kw_only=True):
    """Expert load over ``interval_s``; sums over a long interval hide the heat of single steps.

    ``balancedness`` is mean / max averaged over layers, as engines print it: it can show a hot layer, never rule one
    out. ``bound`` is ``lower`` where not every layer with experts was recorded.
    """

    phase: Phase | UnsetType = UNSET
    bound: Bound | UnsetType = UNSET
    interval_s: Number | UnsetType = UNSET
    layers: dict[Id, ExpertLayer] | UnsetType = UNSET
    balancedness: Number | UnsetType | None = UNSET


class Handoff(Record, frozen=True, kw_only=True):
    """What went from the prefill pool to the decode pool in a window.

    ``transfers`` counts what the engine counts: with ``counted_per`` ``rank`` every request counts once for each
    rank that sent a part of it (``transfers_per_request``). ``tokens_sent_total`` leaves out what the decode side
    had cached. ``ttft_ms`` and ``tpot_ms`` are those of requests that were handed over, as the client saw them.
    Transfers that wait are given as means over the first and the last third of the window.
    """

    transfers: Count | UnsetType | None = UNSET
    counted_per: Literal["request", "rank"] | UnsetType = UNSET
    transfers_per_request: PositiveCount | UnsetType = UNSET
    retries: Count | UnsetType | None = UNSET
    bytes_total: Bytes | UnsetType | None = UNSET
    tokens_sent_total: Count | UnsetType | None = UNSET
    peak_requests_per_s: Number | UnsetType | None = UNSET
    copies: PositiveCount | UnsetType = UNSET
    route_bytes_per_s: Number | UnsetType | None = UNSET
    decode_kv_tokens: Count | UnsetType | None = UNSET
    decode_running_max: Count | UnsetType | None = UNSET
    prefill_requests_per_s: Number | UnsetType | None = UNSET
    decode_requests_per_s: Number | UnsetType | None = UNSET
    queue_ms: Statistics | UnsetType = UNSET
    queued_first_third_mean: Number | UnsetType | None = UNSET
    queued_last_third_mean: Number | UnsetType | None = UNSET
    decode_idle_share: Share | UnsetType | None = UNSET
    ttft_ms: Statistics | UnsetType = UNSET
    tpot_ms: Statistics | UnsetType = UNSET


class Incidents(Record, frozen=True, kw_only=True):
    """How often one thing went wrong in a window, and when first, counted from the window's start."""

    count: Count | None
    first_after_s: Number | UnsetType = UNSET
    scope: Scope | UnsetType = UNSET


IncidentKind = Literal[
    "collective_timeouts", "hangs", "restarts", "device_errors", "throttling", "corrupted_outputs", "retransmits"
]
