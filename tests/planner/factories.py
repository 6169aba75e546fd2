"""Small valid documents for tests of what one trial's evidence says.

Two nodes of two devices; one trial ``t`` of tp2-pp2 on all four, whose pipeline crosses the nodes; two counted
windows at ``saturated`` whose figures keep every consistency identity. A test changes them at pointers.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.canonical import content_id
from planner.evaluate import judge
from planner.intake import ContractDocument, EvidenceDocument, read_contract, read_evidence
from planner.order import order_expand
from planner.records.plan import Candidate, LimitOutcome
from planner.view import TrialView, views
from tests.planner.documents import Change, changed, raw

AS_OF = "2026-10-02T00:00:00Z"
GIB = 2**30
BECAUSE = "A reason."
SATURATED = "saturated"
FLOOR = {"load_point": SATURATED, "min_output_tokens_per_s": 150, "because": BECAUSE}

IDENTITY: dict[str, Any] = {
    "model": {
        "name": "dense",
        "revision": "r1",
        "architecture": "dense",
        "layers": 32,
        "attention_heads": 32,
        "kv_heads": 8,
    },
    "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
    "workload": {
        "name": "chat",
        "output_tokens": {"fixed": 100},
        "context_tokens": 4096,
        "load_points": {
            "saturated": {"arrival": "closed", "concurrent_requests": 8},
            "open": {"arrival": "open", "requests_per_s": 2},
        },
    },
    "stack": {"engine": {"name": "engine", "version": "1"}, "driver": {"version": "590.44"}},
    "hardware": {
        "nodes": {"node-a": {}, "node-b": {}},
        "devices": {
            f"{node}{index}": {"node": f"node-{node}", "type": "accel", "memory_bytes": 80 * GIB}
            for node in "ab"
            for index in range(2)
        },
        "nics": {f"{node}-nic": {"node": f"node-{node}", "use": "fabric"} for node in "ab"},
        "islands": {f"island-{node}": {"devices": [f"{node}0", f"{node}1"]} for node in "ab"},
        "links": {
            f"{node}-up": {"class": "inter_node", "nic": f"{node}-nic", "bytes_per_s_one_way": 10**10} for node in "ab"
        },
    },
}


def a_contract(*changes: Change, gates: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the tree of a contract; a throughput floor that the trial passes unless other gates are given."""
    tree = {
        "schema": "topogate.contract/v1",
        "slot": "demo/four-devices",
        "owner": "serving",
        "identity": IDENTITY,
        "fleet": {"usd_per_device_hour": {"accel": 3}, "failure_domains": {"rack": {"rack-1": ["node-a", "node-b"]}}},
        "needs": {"capacity": {"output_tokens_per_s": 100, "because": BECAUSE}},
        "gates": {"throughput": {"limit": FLOOR}} if gates is None else dict(gates),
        "headroom": {"memory": {"reserved_share": 0.2}, "bandwidth": {"reserved_share": 0.1}},
        "selection": {"keys": [{"key": "charged_devices"}]},
    }
    return changed_tree(tree, changes)


def a_load(*, completed: int, e2e_mean: float, ttft: tuple[float, float], tpot: float) -> dict[str, Any]:
    """Return what a client saw in 100 s: fixed outputs of 100 tokens; ``ttft`` is (mean, p95) in ms."""
    return {
        "duration_s": 100,
        "requests": {"sent": completed, "completed": completed, "failed": 0, "cut_off": 0},
        "output_tokens_total": completed * 100,
        "output_tokens_mean": 100,
        "longest_sequence_tokens": 4096,
        "ttft_ms": {"n": completed, "mean": ttft[0], "p50": 300, "p95": ttft[1], "max": 700},
        "tpot_ms": {"definition": "(e2e-ttft)/(n-1)", "n": completed, "mean": tpot, "p50": tpot, "p95": 40, "max": 60},
        "itl_ms": {"definition": "per_token", "n": completed * 99, "mean": tpot, "p50": 34, "p99": 70, "max": 300},
        "e2e_ms": {"n": completed, "mean": e2e_mean, "p50": 3600, "p95": 4200, "max": 5000},
    }


def a_window(minute: int, load: dict[str, Any], *, peaks_gib: list[float], sent_bytes: int) -> dict[str, Any]:
    """Return a counted window of 100 s at ``saturated`` that starts at a minute of one hour."""
    counters = {
        "sample_interval_s": 1,
        "peak_tx_bytes": sent_bytes,
        "peak_rx_bytes": sent_bytes // 2,
        "tx_bytes_total": sent_bytes * 50,
        "rx_bytes_total": sent_bytes * 25,
    }
    return {
        "purpose": "counted",
        "load_point": SATURATED,
        "start": f"2026-10-01T12:{minute:02}:00Z",
        "end": f"2026-10-01T12:{minute + 1:02}:40Z",
        "compile_events": 0,
        "concurrent_runs": 0,
        "load": load,
        "per_rank": {"device_used_peak_bytes": {"scope": "device", "values": [int(gib * GIB) for gib in peaks_gib]}},
        "links": {link: {"mixed": dict(counters)} for link in ("a-up", "b-up")},
    }


def a_trial() -> dict[str, Any]:
    """Return the tree of the trial: 200 and 210 tok/s, 54 of 80 GiB on the fullest device, links at 0.6."""
    places = [
        ("node-a", "a0", "a-nic"),
        ("node-a", "a1", "a-nic"),
        ("node-b", "b0", "b-nic"),
        ("node-b", "b1", "b-nic"),
    ]
    first = a_load(completed=200, e2e_mean=3900, ttft=(336, 400), tpot=36)
    second = a_load(completed=210, e2e_mean=3700, ttft=(334, 380), tpot=34)
    return {
        "topology": {"layout": "closed", "instances": [{"tp": 2, "pp": 2, "ep": 1, "dp": 1, "world_size": 4}]},
        "rank_map": [
            {"rank": rank, "node": node, "device": device, "nic": nic}
            for rank, (node, device, nic) in enumerate(places)
        ],
        "identity_id": "run",
        "windows": {
            "w1": a_window(10, first, peaks_gib=[50, 51, 52, 53], sent_bytes=5 * 10**9),
            "w2": a_window(20, second, peaks_gib=[50, 51, 52, 54], sent_bytes=6 * 10**9),
        },
    }


def an_evidence(contract: dict[str, Any], *changes: Change, trial: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the tree of evidence for a contract, with the identity that the contract binds unless changed."""
    tree = {
        "schema": "topogate.evidence/v1",
        "contract_content_id": content_id(contract),
        "scope": contract["slot"],
        "provenance": {
            "collected_by": "test",
            "collected_at": "2026-10-01T13:00:00Z",
            "tool": {"name": "client", "version": "1"},
        },
        "identities": {"run": copy.deepcopy(contract["identity"])},
        "trials": {"t": a_trial() if trial is None else trial},
    }
    return changed_tree(tree, changes)


def changed_tree(tree: dict[str, Any], changes: tuple[Change, ...]) -> dict[str, Any]:
    """Return a changed copy."""
    result: dict[str, Any] = changed(tree, *changes)
    return result


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Changes of the contract, of the evidence, and of what stands below ``/trials/t``."""

    contract: tuple[Change, ...] = ()
    evidence: tuple[Change, ...] = ()
    trial: tuple[Change, ...] = ()


NO_CHANGE = Changes()


def documents(
    gates: Mapping[str, Any] | None = None, changes: Changes = NO_CHANGE
) -> tuple[ContractDocument, EvidenceDocument]:
    """Return both documents through intake."""
    contract_tree = a_contract(*changes.contract, gates=gates)
    below = tuple((f"/trials/t{pointer}", value) for pointer, value in changes.trial)
    evidence_tree = an_evidence(contract_tree, *changes.evidence, *below)
    read = read_contract(raw(contract_tree))
    return read, read_evidence(raw(evidence_tree), read)


def a_view(gates: Mapping[str, Any] | None = None, changes: Changes = NO_CHANGE, *, as_of: str = AS_OF) -> TrialView:
    """Return the view of trial ``t``."""
    return views(*documents(gates, changes), as_of)["t"]


def judged(gates: Mapping[str, Any] | None = None, changes: Changes = NO_CHANGE, *, as_of: str = AS_OF) -> Candidate:
    """Judge trial ``t``."""
    view = a_view(gates, changes, as_of=as_of)
    return judge(view, order_expand(view.contract).keys)


def limit_outcome(gate: str, limit: Mapping[str, Any] | None, changes: Changes = NO_CHANGE) -> LimitOutcome:
    """Judge trial ``t`` by one limit of one gate, or by an always-on gate where ``limit`` is None."""
    gates = None if limit is None else {gate: {"limit": {"because": BECAUSE, **limit}}}
    return judged(gates, changes).gates[gate].limits["always" if limit is None else "limit"]
