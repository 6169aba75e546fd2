"""Paths in use, and the bandwidth of collectives at the declared message size."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/transport"
INSIDE = {"boundary": "inside_node", "permitted": ["p2p", "nvls"]}
BETWEEN = {"boundary": "inter_node", "permitted": ["rdma_direct"]}
FLOOR = {"load_point": "saturated", "operation": "all_reduce", "message_bytes": 1000, "min_bus_bytes_per_s": 5 * 10**9}
BOTH = ["node-a", "node-b"]


def paths(**entries: Any) -> tuple[Change, ...]:
    """Record paths as (group kind, boundary, path)."""
    records = {
        name: dict(zip(("group_kind", "boundary", "path"), entry[:3], strict=True)) | (entry[3] if entry[3:] else {})
        for name, entry in entries.items()
    }
    return (("/transport", records),)


def transport(name: str, outcome: str, limit: Any, trial: tuple[Change, ...], sentence: str, **also: Any) -> Case:
    return Case(name=name, gate="transport", outcome=outcome, limit=limit, trial=trial, sentence=sentence, also=also)


def bandwidth(name: str, outcome: str, sentence: str, records: dict[str, Any], **also: Any) -> Case:
    trial = tuple((f"/windows/{w}/collectives", records) for w in ("w1", "w2")) if records else ()
    return Case(
        name=name, gate="link_bandwidth", outcome=outcome, limit=FLOOR, trial=trial, sentence=sentence, also=also
    )


def reduced(size: int = 1000, **fields: Any) -> dict[str, Any]:
    return {"operation": "all_reduce", "message_bytes": size, "nodes": BOTH, **fields}


def by_rank(*gigabytes: float | None) -> dict[str, Any]:
    return {"bus_bytes_per_s_by_rank": [None if value is None else int(value * 10**9) for value in gigabytes]}


CASES = [
    transport(
        "peer memory inside the node",
        "PASS",
        INSIDE,
        paths(t=("tp", "inside_node", "p2p")),
        "1 path inside a node, each permitted: p2p.",
        limit_at="/gates/transport/limit/permitted",
        measured_at=(f"{AT}/t/path",),
    ),
    transport(
        "through host memory",
        "FAIL",
        INSIDE,
        paths(t=("tp", "inside_node", "p2p"), u=("tp", "inside_node", "shm")),
        "tp groups inside a node use shm; permitted: p2p, nvls.",
        worst={"transport": "u"},
    ),
    transport(
        "the worst pair is named",
        "FAIL",
        BETWEEN,
        paths(a=("pp", "inter_node", "rdma_host_staged"), b=("pp", "inter_node", "socket")),
        "pp groups between nodes use socket; permitted: rdma_direct.",
        measured=2,
    ),
    transport(
        "direct between nodes",
        "PASS",
        BETWEEN,
        paths(p=("pp", "inter_node", "rdma_direct")),
        "1 path between nodes, each permitted: rdma_direct.",
    ),
    transport(
        "nothing recorded",
        "UNKNOWN",
        INSIDE,
        (),
        "The path of tp groups inside a node is not recorded.",
        missing=(AT,),
    ),
    transport(
        "peer access tested and broken",
        "FAIL",
        INSIDE | {"peer_access": "verified"},
        paths(t=("tp", "inside_node", "p2p", {"peer_access_verified": False})),
        "Peer access of tp groups inside a node was tested and does not work.",
    ),
    transport(
        "peer access tested",
        "PASS",
        INSIDE | {"peer_access": "verified"},
        paths(t=("tp", "inside_node", "p2p", {"peer_access_verified": True})),
        "1 path inside a node, each permitted: p2p.",
    ),
    transport(
        "peer access not tested",
        "UNKNOWN",
        INSIDE | {"peer_access": "verified"},
        paths(t=("tp", "inside_node", "p2p")),
        "Peer access of tp groups inside a node is not known to be verified.",
        missing=(f"{AT}/t/peer_access_verified",),
    ),
    transport(
        "a kind that nobody names",
        "UNKNOWN",
        INSIDE | {"group_kind": "tensor"},
        (),
        "No layout names a group kind tensor, and the engine reported none.",
    ),
    transport(
        "one kind alone",
        "NOT_APPLICABLE",
        BETWEEN | {"group_kind": "tp"},
        (),
        "No group of the request path runs between nodes.",
    ),
    bandwidth(
        "slowest rank, to the byte",
        "PASS",
        "Rank 1 on node-a reaches 5 GB/s with all_reduce at 1,000 bytes in window w1; at least 5 GB/s.",
        {"c": reduced(**by_rank(6, 5, 6, 6))},
        margin=0,
        worst={"window": "w1", "collective": "c", "rank": "1", "node": "node-a"},
    ),
    bandwidth(
        "one slow rank behind a good mean",
        "FAIL",
        "Rank 3 on node-b reaches 4.9 GB/s with all_reduce at 1,000 bytes in window w1; at least 5 GB/s.",
        {"c": reduced(**by_rank(60, 60, 60, 4.9))},
    ),
    bandwidth(
        "one figure can fail",
        "FAIL",
        "The whole run reaches 4 GB/s with all_reduce at 1,000 bytes in window w1; at least 5 GB/s.",
        {"c": reduced(bus_bytes_per_s=4 * 10**9)},
    ),
    bandwidth(
        "one figure can not pass",
        "UNKNOWN",
        "The whole run reaches 9 GB/s with all_reduce at 1,000 bytes in window w1; at least 5 GB/s. "
        "One figure for the whole run is an upper bound of the slowest rank.",
        {"c": reduced(bus_bytes_per_s=9 * 10**9)},
        missing=tuple(f"/trials/t/windows/{w}/collectives/c/bus_bytes_per_s_by_rank" for w in ("w1", "w2")),
    ),
    bandwidth(
        "the nearest size within a factor of two",
        "FAIL",
        "Rank 0 on node-a reaches 4 GB/s with all_reduce at 1,000 bytes in window w1; at least 5 GB/s.",
        {"near": reduced(2000, **by_rank(4, 6, 6, 6)), "far": reduced(4000, **by_rank(9, 9, 9, 9))},
    ),
    bandwidth(
        "no size near enough",
        "UNKNOWN",
        "No all_reduce at 1,000 bytes, within a factor of 2, is recorded in window w1.",
        {"far": reduced(2001, **by_rank(9, 9, 9, 9))},
        missing=("/trials/t/windows/w1/collectives", "/trials/t/windows/w2/collectives"),
    ),
    bandwidth(
        "wrong results",
        "FAIL",
        "3 results of all_reduce in window w1 were wrong.",
        {"c": reduced(wrong=3, **by_rank(9, 9, 9, 9))},
        measured_at=("/trials/t/windows/w1/collectives/c/wrong",),
    ),
    bandwidth(
        "measured elsewhere",
        "UNKNOWN",
        "Rank 0 on node-a reaches 9 GB/s with all_reduce at 1,000 bytes in window w1; at least 5 GB/s. "
        "Measured on node-c, which the trial does not use.",
        {"c": reduced(nodes=["node-a", "node-c"], **by_rank(9, 9, 9, 9))},
    ),
    bandwidth(
        "a rank without a value",
        "UNKNOWN",
        "The bandwidth of all_reduce at 1,000 bytes is not recorded in window w1.",
        {"c": reduced(**by_rank(9, None, 9, 9))},
        missing=tuple(f"/trials/t/windows/{w}/collectives/c/bus_bytes_per_s_by_rank/1" for w in ("w1", "w2")),
    ),
    bandwidth(
        "nothing recorded",
        "UNKNOWN",
        "No all_reduce at 1,000 bytes, within a factor of 2, is recorded in window w1.",
        {},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
