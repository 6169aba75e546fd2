"""Evidence of a trial with everything that traces show: step times, arrivals, collectives, a hand-off, incidents.

Built on the shipped blast-radius example, whose contract gets the facts that hypotheses need. Ranks 0 to 15 of
``t-stages-apart`` are two replicas of four tensor ranks in two stages; rank 5 is slow.
"""

import json
from typing import Any

from planner.canonical import content_id
from planner.intake import read_contract, read_evidence
from planner.view import TrialView, views
from tests.reviews.factories import Pair
from tests.shared import ROOT

TRIAL = "t-stages-apart"
SLOW = 5
AS_OF = "2026-09-21T12:00:00Z"
STEP_MS = 30
MOVE_MS = 3


def trees() -> tuple[dict[str, Any], dict[str, Any]]:
    """The contract's and the evidence's tree of the example, with every fact that an estimate needs."""
    folder = ROOT / "examples" / "blast-radius"
    contract = json.loads((folder / "contract.json").read_bytes())
    evidence = json.loads((folder / "evidence.json").read_bytes())
    for model in (contract["identity"]["model"], *(found["model"] for found in evidence["identities"].values())):
        model.update(tied_embeddings=False, dense_layers=0)
    return contract, evidence


def pair_of(contract: dict[str, Any], evidence: dict[str, Any]) -> Pair:
    """Both trees as they would be uploaded, bound to each other."""
    evidence["contract_content_id"] = content_id(contract)
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def own_ms(rank: int) -> float:
    """Milliseconds that a rank works before it reaches its group's collective."""
    return 24.0 if rank == SLOW else 18.0 + rank % 4 * 0.25


def traced_window() -> dict[str, Any]:
    """An instrumented window of 16 ranks."""
    ranks = range(16)
    own = [own_ms(rank) for rank in ranks]
    peers = [[peer for peer in ranks if peer // 4 == rank // 4] for rank in ranks]
    lag = [round(own[rank] - min(own[peer] for peer in peers[rank]), 3) for rank in ranks]
    return {
        "purpose": "instrumented",
        "load_point": "saturated",
        "start": "2026-09-20T10:00:00Z",
        "end": "2026-09-20T10:02:00Z",
        "per_rank": {
            "step_ms": {"scope": "rank", "phase": "decode", "values": [STEP_MS] * 16},
            "collective_wait_ms": {
                "scope": "rank",
                "phase": "decode",
                "values": [round(STEP_MS - MOVE_MS - value, 3) for value in own],
            },
            "collective_move_ms": {"scope": "rank", "phase": "decode", "values": [MOVE_MS] * 16},
            "arrival_lag_ms": {"scope": "rank", "phase": "decode", "values": lag},
            "slowest_sample_share": {"values": [0.94 if rank == SLOW else 0.02 for rank in ranks]},
        },
        "collectives": {
            "decode-all-reduce": {
                "operation": "all_reduce",
                "group_kind": "tp",
                "phase": "decode",
                "message_bytes": 327_680,
                "count": 582_000,
                "bytes_total": 190_709_760_000,
                "time_ms": {"n": 582_000, "mean": 0.021, "p99": 0.094},
                "bus_bytes_per_s": 61_000_000_000,
            },
            "decode-stage-send": {
                "operation": "send_recv",
                "group_kind": "pp",
                "phase": "decode",
                "message_bytes": 655_360,
                "count": 6_000,
            },
            "mixed-all-to-all": {"operation": "all_to_all", "group_kind": "ep", "message_bytes": 1_048_576},
        },
        "incidents": {"collective_timeouts": {"count": 1, "first_after_s": 74, "scope": "rank"}},
    }


def traced_pair() -> Pair:
    """The example with an instrumented window in ``t-stages-apart``."""
    contract, evidence = trees()
    evidence["trials"][TRIAL]["windows"]["trace"] = traced_window()
    return pair_of(contract, evidence)


def view_of(contract: dict[str, Any], evidence: dict[str, Any], trial: str = TRIAL) -> TrialView:
    """A trial of both trees, through intake."""
    pair = pair_of(contract, evidence)
    bound = read_contract(pair.contract)
    return views(bound, read_evidence(pair.evidence, bound), AS_OF)[trial]


def traced_view() -> TrialView:
    """The traced trial."""
    contract, evidence = trees()
    evidence["trials"][TRIAL]["windows"]["trace"] = traced_window()
    return view_of(contract, evidence)
