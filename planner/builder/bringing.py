"""Which kinds of files hold what a field needs: formats by the beginning of a field, as data.

The names are those of ``planner.importers``; where nothing reads a field yet, a person answers it.
"""

import re

__all__ = ["brought_by"]

CLIENTS = (
    *("vllm-bench-serve", "sglang-bench-serving", "guidellm", "aiperf", "aiperf-records", "genai-perf"),
    *("llm-d-report", "inference-perf"),
)
LOGS = ("vllm-log", "sglang-log")
SAMPLED = ("gpu-stats", "nvidia-smi", "nvidia-dmon", "amd-smi", "amd-smi-text", "aiperf-telemetry", "dcgm")
METRICS = ("vllm-metrics", "sglang-metrics")

_WINDOW = r"/trials/[^/]+/windows/[^/]+"
_BRINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"{_WINDOW}/per_rank/device_used_peak_bytes", SAMPLED),
    (rf"{_WINDOW}/per_rank/(?:weights|kv_cache|activations|graph_and_kernel_workspaces)_bytes", ("vllm-log",)),
    (rf"{_WINDOW}/per_rank/arrival_lag_ms", ("collective-trace",)),
    (rf"{_WINDOW}/replicas(?:/[^/]+/kv_.*)?", (*LOGS, *METRICS)),
    (rf"{_WINDOW}/links", ("node-exporter",)),
    (rf"{_WINDOW}/collectives", ("nccl-tests", "collective-trace", "collective-csv")),
    (rf"{_WINDOW}/incidents/collective_timeouts", ("vllm-log",)),
    (rf"{_WINDOW}/load/(?:ttft|e2e)_ms/p95", ("guidellm", "aiperf", "aiperf-records", "genai-perf", "llm-d-report")),
    (rf"{_WINDOW}/load/(?:preemptions|cache_hit_share)", ("vllm-metrics",)),
    (rf"{_WINDOW}/load/(?:kv_used_peak_share|queued_requests_max)", METRICS),
    (rf"{_WINDOW}/load/(?:longest_sequence_tokens|schedule_lag_ms|shapes|backlog_.*|good_if)", ()),
    (rf"{_WINDOW}/load", CLIENTS),
    (rf"{_WINDOW}/(?:start|end)", ("aiperf", "aiperf-records", "guidellm", "llm-d-report")),
    (rf"{_WINDOW}$", CLIENTS),
    (r"/trials/[^/]+/topology", (*LOGS, "sglang-bench-serving", "trtllm-bench", "inferencex", "llm-d-report")),
    (r"/identities/[^/]+/model/(?!name|revision)", ("hf-config",)),
    (r"/identities/[^/]+/model/name", CLIENTS),
    (r"/identities/[^/]+/precision", (*LOGS, "hf-config")),
    (r"/identities/[^/]+/stack/engine/(?:name|version)", LOGS),
    (r"/identities/[^/]+/stack/driver", ("dcgm", "hardware-topology")),
    (r"/identities/[^/]+/stack/collective_library", ("nccl-tests", "nccl-ras", "vllm-log")),
    (r"/identities/[^/]+/hardware/devices/[^/]+/(?:type|memory_bytes)", (*SAMPLED, "hardware-topology")),
    (r"/identities/[^/]+/workload/load_points", CLIENTS),
)
_RULES = tuple((re.compile(pattern), formats) for pattern, formats in _BRINGS)


def brought_by(field: str) -> tuple[str, ...]:
    """Return the formats whose files hold a field, none where only a person can say it."""
    return next((formats for rule, formats in _RULES if rule.match(field)), ())
