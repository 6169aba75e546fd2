"""Small documents for tests of the decision: two nodes of eight devices, a dense model, trials of given rates."""

from typing import Any

from planner.intake import ContractDocument, EvidenceDocument, read_contract, read_evidence
from planner.plan import plan_parallelism
from planner.records.plan import Plan
from tests.planner.documents import raw

AS_OF = "2026-10-01T00:00:00Z"
DEVICES = [f"d{node}{index}" for node in "ab" for index in range(8)]
SECONDS = 100
BECAUSE = "A reason."

MODEL = {
    "name": "dense",
    "revision": "r1",
    "architecture": "dense",
    "layers": 32,
    "attention_heads": 32,
    "kv_heads": 32,
}
IDENTITY = {
    "model": MODEL,
    "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
    "workload": {
        "name": "chat",
        "load_points": {"saturated": {"arrival": "closed", "concurrent_requests": 64}},
    },
    "stack": {"engine": {"name": "engine", "version": "1"}},
    "hardware": {
        "nodes": {"na": {}, "nb": {}},
        "devices": {
            device: {"node": f"n{device[1]}", "type": "accel", "memory_bytes": 80 * 2**30} for device in DEVICES
        },
    },
}


def a_floor(rate: float) -> dict[str, Any]:
    """Return gates with one limit: a throughput floor at ``saturated``."""
    limit = {"load_point": "saturated", "min_output_tokens_per_s": rate, "because": BECAUSE}
    return {"throughput": {"floor": limit}}


def a_price(usd: float) -> dict[str, Any]:
    """Return gates with one limit: a price of a million output tokens."""
    limit = {"load_point": "saturated", "max_usd_per_million_output_tokens": usd, "because": BECAUSE}
    return {"cost": {"price": limit}}


def a_contract(*, gates: dict[str, Any] | None = None, selection: Any = None, **sections: Any) -> dict[str, Any]:
    """Return the tree of a contract: a floor of 6,000 tok/s and the highest throughput unless said otherwise."""
    return {
        "schema": "topogate.contract/v1",
        "slot": "demo/fleet",
        "owner": "capacity",
        "identity": IDENTITY,
        "fleet": {"usd_per_device_hour": {"accel": 3}},
        "gates": a_floor(6000) if gates is None else gates,
        "selection": selection or {"preset": "highest_throughput"},
        **sections,
    }


def a_trial(
    rates: float | list[float], *, tp: int = 1, dp: int = 1, devices: list[str] | None = None, ttft: float | None = None
) -> dict[str, Any]:
    """Return the tree of a trial with one counted window per rate; its ranks sit on ``devices`` in order."""
    places = (devices or DEVICES)[: tp * dp]
    return {
        "topology": {"layout": "closed", "instances": [{"tp": tp, "pp": 1, "ep": 1, "dp": dp, "world_size": tp * dp}]},
        "rank_map": [{"rank": rank, "node": f"n{device[1]}", "device": device} for rank, device in enumerate(places)],
        "identity_id": "run",
        "windows": {
            f"w{index}": a_window(rate, ttft)
            for index, rate in enumerate(rates if isinstance(rates, list) else [rates])
        },
    }


def a_window(rate: float, ttft: float | None = None) -> dict[str, Any]:
    """Return a counted window of 100 seconds at ``saturated``."""
    load: dict[str, Any] = {
        "duration_s": SECONDS,
        "requests": {"completed": 1000},
        "output_tokens_total": round(rate * SECONDS),
    }
    if ttft is not None:
        load["ttft_ms"] = {"n": 1000, "p95": ttft}
    return {
        "purpose": "counted",
        "load_point": "saturated",
        "start": "2026-09-20T10:00:00Z",
        "end": "2026-09-20T10:01:40Z",
        "load": load,
    }


def documents(contract: dict[str, Any], trials: dict[str, Any]) -> tuple[ContractDocument, EvidenceDocument]:
    """Return both documents as intake reads them."""
    bound = read_contract(raw(contract))
    evidence = {
        "schema": "topogate.evidence/v1",
        "contract_content_id": bound.content_id,
        "scope": contract["slot"],
        "provenance": {
            "collected_by": "capacity",
            "collected_at": "2026-09-20T12:00:00Z",
            "tool": {"name": "bench", "version": "1"},
        },
        "identities": {"run": contract["identity"]},
        "trials": trials,
    }
    return bound, read_evidence(raw(evidence), bound)


def planned(contract: dict[str, Any], trials: dict[str, Any]) -> Plan:
    """Return the plan of both, as of a fixed time."""
    return plan_parallelism(*documents(contract, trials), AS_OF)
