"""The tables: every metric that a gate or a tool knows says something, every kind of change makes something stale."""

import pytest

from planner.gates import GATES
from planner.matrix.collection import BY_HAND, TOOLS
from planner.requalification.rules import ASPECTS, JUDGED, KINDS, STALE, aspects_of, kind_of

METRICS = {metric for gate in GATES for metric in gate.reads} | set(BY_HAND) | {m for of in TOOLS.values() for m in of}


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_every_metric_says_something(metric: str) -> None:
    found = aspects_of(metric)
    assert found
    assert found <= ASPECTS


def test_tables_name_what_there_is() -> None:
    gates = {gate.id for gate in GATES}
    assert {gate for named in JUDGED.values() for gate in named} <= gates
    assert set(KINDS.values()) | {"age"} == set(STALE)


@pytest.mark.parametrize(
    ("metric", "aspects"),
    [
        ("per_rank.device_used_peak_bytes", {"memory"}),
        ("replicas.kv_capacity_tokens", {"memory"}),
        ("per_rank.peer_link_tx_bytes", {"pace", "traffic"}),
        ("per_rank.collective_wait_ms", {"pace", "traffic"}),
        ("per_rank.step_ms", {"pace"}),
        ("load.ttft_ms", {"pace"}),
        ("links.peak_tx_bytes", {"traffic"}),
        ("experts.layers", {"routing"}),
        ("quality.score", {"answers"}),
        ("failures.kind", {"faults"}),
        ("incidents.hangs", {"soundness"}),
        ("transport.path", {"paths"}),
        ("handoff.decode_kv_tokens", {"memory"}),
        ("handoff.route_bytes_per_s", {"pace", "traffic"}),
    ],
)
def test_what_a_metric_says_something_of(metric: str, aspects: set[str]) -> None:
    assert aspects_of(metric) == aspects


@pytest.mark.parametrize(
    ("pointer", "kind"),
    [
        ("/identity/model/revision", "model"),
        ("/identity/precision/kv_cache", "precision"),
        ("/identity/workload/context_tokens", "context"),
        ("/identity/workload/batch/max", "batching"),
        ("/identity/workload/speculation", "decoding"),
        ("/identity/workload/prompt_tokens/p95", "workload"),
        ("/identity/stack/engine/build_digest", "engine"),
        ("/identity/stack/scheduler/policy", "scheduler"),
        ("/identity/stack/kv/block_tokens", "cache"),
        ("/identity/stack/router/policy", "router"),
        ("/identity/stack/flags/x", "flags"),
        ("/identity/stack/kernels_digest", "kernel"),
        ("/identity/stack/runtime/version", "runtime"),
        ("/identity/stack/driver/digest", "driver"),
        ("/identity/stack/firmware_digest", "driver"),
        ("/identity/stack/collective_library/digest", "collective_library"),
        ("/identity/hardware/devices/a0/type", "hardware"),
        ("/identity/hardware/links/l/bytes_per_s_one_way", "link"),
        ("/identity/hardware/nics/n/use", "link"),
        ("/identity/telemetry/c/digest", "telemetry"),
        ("/identity/placement/rank_map_digest", "placement"),
        ("/gates/ttft/tail/max_ms", "limit"),
        ("/fleet/charge", "contract"),
        ("/slot", "contract"),
    ],
)
def test_the_kind_of_a_key(pointer: str, kind: str) -> None:
    assert kind_of(pointer) == kind
