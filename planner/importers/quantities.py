"""The names of values, their unit, and the field of our documents that each fills: a registry as data.

``<id>`` and ``<index>`` in a field stand for what a person names. A quantity without a field is kept for checks and
for people; no gate reads it. Statistics are ``<family>.<statistic>``, such as ``ttft_ms.p99``.
"""

from dataclasses import dataclass
from functools import cache

__all__ = ["FAMILIES", "OTHER_FAMILIES", "QUANTITIES", "STATISTICS", "Quantity", "quantity"]

_WINDOW = "/trials/<id>/windows/<id>"
_LOAD = f"{_WINDOW}/load"
_IDENTITY = "/identities/<id>"
_INSTANCE = "/trials/<id>/topology/instances/<index>"
_POINT = "/identity/workload/load_points/<id>"
_REPLICA = f"{_WINDOW}/replicas/<id>"
_RANK = f"{_WINDOW}/per_rank"
_COLLECTIVE = f"{_WINDOW}/collectives/<id>"


@dataclass(frozen=True, slots=True)
class Quantity:
    """Unit and field; ``document`` and ``field`` are None where our documents have none."""

    unit: str
    document: str | None = None
    field: str | None = None


def _evidence(unit: str, field: str) -> Quantity:
    return Quantity(unit, "evidence", field)


def _contract(unit: str, field: str) -> Quantity:
    return Quantity(unit, "contract", field)


FAMILIES = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms")
STATISTICS = ("n", "mean", "p50", "p90", "p95", "p99", "p99_9", "max")
"""What our documents hold of a distribution."""
OTHER_FAMILIES = {"collective_ms": f"{_WINDOW}/collectives/<id>/time_ms", "queue_ms": f"{_LOAD}/queue_ms"}
"""Distributions that a load client does not see, and where they stand."""
_OTHER_STATISTICS = ("std", "min", "p1", "p5", "p10", "p25", "p75")

QUANTITIES: dict[str, Quantity] = {
    # what the client saw
    "sent": _evidence("requests", f"{_LOAD}/requests/sent"),
    "completed": _evidence("requests", f"{_LOAD}/requests/completed"),
    "failed": _evidence("requests", f"{_LOAD}/requests/failed"),
    "cut_off": _evidence("requests", f"{_LOAD}/requests/cut_off"),
    "good": _evidence("requests", f"{_LOAD}/requests/good"),
    "duration_s": _evidence("s", f"{_LOAD}/duration_s"),
    "input_tokens_total": _evidence("tokens", f"{_LOAD}/input_tokens_total"),
    "output_tokens_total": _evidence("tokens", f"{_LOAD}/output_tokens_total"),
    "output_tokens_mean": _evidence("tokens", f"{_LOAD}/output_tokens_mean"),
    "input_tokens_mean": Quantity("tokens"),
    "in_flight_mean": _evidence("requests", f"{_LOAD}/in_flight_mean"),
    "output_tokens_per_s": _evidence("tokens/s", f"{_LOAD}/output_tokens_per_s/value"),
    "output_tokens_per_s_scope": _evidence("", f"{_LOAD}/output_tokens_per_s/scope"),
    "input_tokens_per_s": Quantity("tokens/s"),
    "total_tokens_per_s": _evidence("tokens/s", f"{_LOAD}/total_tokens_per_s/value"),
    "completed_per_s": _evidence("requests/s", f"{_LOAD}/requests_per_s/value"),
    "tpot_definition": _evidence("", f"{_LOAD}/tpot_ms/definition"),
    "itl_definition": _evidence("", f"{_LOAD}/itl_ms/definition"),
    "quantile_method": _evidence("", f"{_LOAD}/quantile_method"),
    "ttft_from": _evidence("", f"{_LOAD}/ttft_from"),
    "acceptance_length_mean": _evidence("tokens", f"{_LOAD}/acceptance_length_mean"),
    "batch_size_mean": _evidence("requests", f"{_LOAD}/batch_size_mean"),
    "queued_requests_mean": _evidence("requests", f"{_LOAD}/queued_requests_mean"),
    "kv_used_peak_share": _evidence("share", f"{_LOAD}/kv_used_peak_share"),
    "output_tokens_per_s_per_device": _evidence("tokens/s", f"{_LOAD}/output_tokens_per_s/value"),
    "output_tokens_per_s_per_decode_device": Quantity("tokens/s"),
    "total_tokens_per_s_per_device": Quantity("tokens/s"),
    "input_tokens_per_s_per_device": Quantity("tokens/s"),
    "started_at": _evidence("", f"{_WINDOW}/start"),
    "ended_at": _evidence("", f"{_WINDOW}/end"),
    "local_time": Quantity(""),
    "repeat": Quantity(""),
    # what was asked of the tool
    "concurrent_requests": _contract("requests", f"{_POINT}/concurrent_requests"),
    "offered_requests_per_s": _contract("requests/s", f"{_POINT}/requests_per_s"),
    "burstiness": _contract("", f"{_POINT}/burstiness"),
    "arrival": _contract("", f"{_POINT}/arrival"),
    "prompt_tokens": _contract("tokens", "/identity/workload/prompt_tokens/fixed"),
    "output_tokens": _contract("tokens", "/identity/workload/output_tokens/fixed"),
    "prompt_tokens_mean": _contract("tokens", "/identity/workload/prompt_tokens/mean"),
    "output_tokens_asked_mean": _contract("tokens", "/identity/workload/output_tokens/mean"),
    "workload_name": _contract("", "/identity/workload/name"),
    "max_batch_size": Quantity("requests"),
    "warmup_requests": Quantity("requests"),
    # what ran
    "model_name": _evidence("", f"{_IDENTITY}/model/name"),
    "model_revision": _evidence("", f"{_IDENTITY}/model/revision"),
    "tokenizer_name": Quantity(""),
    "precision_weights": _evidence("", f"{_IDENTITY}/precision/weights"),
    "precision_activations": _evidence("", f"{_IDENTITY}/precision/activations"),
    "precision_kv_cache": _evidence("", f"{_IDENTITY}/precision/kv_cache"),
    "speculation": _evidence("", f"{_IDENTITY}/workload/speculation"),
    "prefix_cache": _evidence("", f"{_IDENTITY}/workload/prefix_cache"),
    "engine_name": _evidence("", f"{_IDENTITY}/stack/engine/name"),
    "engine_version": _evidence("", f"{_IDENTITY}/stack/engine/version"),
    "driver_version": _evidence("", f"{_IDENTITY}/stack/driver/version"),
    "collective_library_version": _evidence("", f"{_IDENTITY}/stack/collective_library/version"),
    "engine_image": Quantity(""),
    "context_tokens": Quantity("tokens"),
    # topology and hardware
    "layout": _evidence("", "/trials/<id>/topology/layout"),
    **{name: _evidence("ranks", f"{_INSTANCE}/{name}") for name in ("tp", "pp", "ep", "dp", "cp", "dcp", "world_size")},
    "role": _evidence("", f"{_INSTANCE}/role"),
    "attention_dp": Quantity(""),
    "replicas": Quantity("instances"),
    "devices": Quantity("devices"),
    "devices_per_node": Quantity("devices"),
    "nodes": Quantity("nodes"),
    "device_type": _evidence("", f"{_IDENTITY}/hardware/devices/<id>/type"),
    "device_memory_bytes": _evidence("bytes", f"{_IDENTITY}/hardware/devices/<id>/memory_bytes"),
    "device_interconnect": Quantity(""),
    "network": Quantity(""),
    # the shape of a model
    **{
        f"model_{name}": _contract(unit, f"/identity/model/{name}")
        for unit, names in (
            ("", ("architecture", "attention", "tied_embeddings")),
            ("layers", ("layers", "dense_layers")),
            ("heads", ("attention_heads", "kv_heads")),
            ("experts", ("experts", "experts_per_token", "shared_experts")),
            ("elements", ("hidden_size", "intermediate_size", "head_dim", "vocab_size", "expert_intermediate_size")),
        )
        for name in names
    },
    **{
        f"model_{name}": _contract("elements", f"/identity/model/attention_widths/{name}")
        for name in ("q_lora_rank", "kv_lora_rank", "rope_head_dim", "nope_head_dim", "value_head_dim")
    },
    "model_sliding_window_tokens": _contract("tokens", "/identity/model/attention_widths/sliding_window_tokens"),
    "model_sliding_layers": _contract("layers", "/identity/model/attention_widths/sliding_layers"),
    # what was used
    "device_used_peak_bytes": _evidence("bytes", f"{_RANK}/device_used_peak_bytes/values/<index>"),
    "weights_bytes": _evidence("bytes", f"{_RANK}/weights_bytes/values/<index>"),
    "kv_cache_bytes": _evidence("bytes", f"{_RANK}/kv_cache_bytes/values/<index>"),
    "samples": _evidence("samples", f"{_RANK}/device_used_peak_bytes/samples"),
    "sample_interval_s": _evidence("s", f"{_RANK}/device_used_peak_bytes/sample_interval_s"),
    "kv_capacity_tokens": _evidence("tokens", f"{_REPLICA}/kv_capacity_tokens"),
    "kv_max_concurrent_requests": _evidence("requests", f"{_REPLICA}/kv_max_concurrent_requests"),
    "kv_used_mean_share": _evidence("share", f"{_REPLICA}/kv_used_mean_share"),
    "kv_measured_at_context_tokens": _evidence("tokens", f"{_REPLICA}/kv_measured_at_context_tokens"),
    "kv_used_share": Quantity("share"),
    "running_requests": Quantity("requests"),
    "waiting_requests": Quantity("requests"),
    "queued_requests_max": _evidence("requests", f"{_LOAD}/queued_requests_max"),
    "preemptions": _evidence("count", f"{_LOAD}/preemptions"),
    "cache_hit_share": _evidence("share", f"{_LOAD}/cache_hit_share"),
    "cancelled": _evidence("requests", f"{_LOAD}/requests/cancelled"),
    "activations_bytes": _evidence("bytes", f"{_RANK}/activations_bytes/values/<index>"),
    "graph_bytes": _evidence("bytes", f"{_RANK}/graph_and_kernel_workspaces_bytes/values/<index>"),
    "other_memory_bytes": Quantity("bytes"),
    "memory_budget_share": Quantity("share"),
    "device_used_bytes": Quantity("bytes"),
    "device_busy_share": Quantity("share"),
    "device_power_w": Quantity("W"),
    "device_error_code": Quantity(""),
    "collective_timeouts": _evidence("count", f"{_WINDOW}/incidents/collective_timeouts/count"),
    # links and collectives
    "all_reduce_path": _evidence("", "/trials/<id>/transport/<id>/all_reduce"),
    "link_rate_bytes_per_s": _contract("bytes/s", "/identity/hardware/links/<id>/bytes_per_s_one_way"),
    "link_tx_bytes_per_s": Quantity("bytes/s"),
    "link_rx_bytes_per_s": Quantity("bytes/s"),
    "link_tx_bytes_counter": Quantity("bytes"),
    "link_rx_bytes_counter": Quantity("bytes"),
    "link_tx_bytes_total": _evidence("bytes", f"{_WINDOW}/links/<id>/<id>/tx_bytes_total"),
    "link_rx_bytes_total": _evidence("bytes", f"{_WINDOW}/links/<id>/<id>/rx_bytes_total"),
    "collective_operation": _evidence("", f"{_COLLECTIVE}/operation"),
    "message_bytes": _evidence("bytes", f"{_COLLECTIVE}/message_bytes"),
    "collective_bytes_total": _evidence("bytes", f"{_COLLECTIVE}/bytes_total"),
    "bus_bytes_per_s": _evidence("bytes/s", f"{_COLLECTIVE}/bus_bytes_per_s"),
    "algorithm_bytes_per_s": Quantity("bytes/s"),
    "wrong_results": _evidence("count", f"{_COLLECTIVE}/wrong"),
    "arrival_lag_ms": _evidence("ms", f"{_RANK}/arrival_lag_ms/values/<index>"),
    "group_ranks": Quantity("ranks"),
    "group_kind": _evidence("", f"{_COLLECTIVE}/group_kind"),
    "communicators": Quantity("communicators"),
    "communicators_state": Quantity(""),
    "processes": Quantity("processes"),
    "rank_node": _evidence("", "/trials/<id>/rank_map/<index>/node"),
    "rank_device": _evidence("", "/trials/<id>/rank_map/<index>/device"),
    # which program wrote the figures
    "tool_name": _evidence("", "/provenance/tool/name"),
    "tool_version": _evidence("", "/provenance/tool/version"),
    "label": Quantity(""),
}


@cache
def quantity(name: str) -> Quantity:
    """Return the quantity of a name.

    Raises:
        KeyError: there is none.
    """
    family, _, statistic = name.partition(".")
    if not statistic:
        return QUANTITIES[name]
    if family not in (*FAMILIES, *OTHER_FAMILIES) or statistic not in (*STATISTICS, *_OTHER_STATISTICS):
        raise KeyError(name)
    unit = ("samples" if family == "collective_ms" else "requests") if statistic == "n" else "ms"
    field = OTHER_FAMILIES.get(family, f"{_LOAD}/{family}")
    return _evidence(unit, f"{field}/{statistic}") if statistic in STATISTICS else Quantity(unit)
