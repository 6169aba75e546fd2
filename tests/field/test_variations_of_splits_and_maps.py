"""Variations: splits that do not divide, maps and paths that are others than they seem; each row names its report.

Values are this project's own.
"""

import pytest

from tests.field.slot import AT
from tests.field.variation import ACROSS, EXPERTS, MOE, TWO_NODES, Row, check

NICS = {"nics": {name: {"node": f"n{name[1]}", "use": "fabric"} for name in ("a0", "b0", "a1", "b1")}}
LINKS = {
    "nics": {name: {"node": node, "use": "fabric"} for name, node in (("x0", "n0"), ("x1", "n1"))},
    "links": {name: {"class": "inter_node", "nic": name, "bytes_per_s_one_way": 10**10} for name in ("x0", "x1")},
}

ROWS: dict[str, Row] = {
    # F-01, C10 to C12: heads, KV heads and layers
    "C10: 40 heads on three ranks": Row(
        gate="model_divisibility",
        contract={"model": {"attention_heads": 40, "kv_heads": 40}},
        trial={"tp": 3},
        outcome="FAIL",
        says="40",
    ),
    "C12: 28 query heads and 4 KV heads on eight ranks": Row(
        gate="model_divisibility",
        contract={"model": {"attention_heads": 28, "kv_heads": 4}, "devices": 8},
        trial={"tp": 8},
        outcome="FAIL",
        says="28",
    ),
    "C08: two KV heads on four ranks are copied": Row(
        gate="model_divisibility",
        contract={"model": {"kv_heads": 2}},
        trial={"tp": 4},
        outcome="PASS",
        says="2 KV heads are copied to 4 tensor ranks",
    ),
    "C21: 61 layers over four stages": Row(
        gate="model_divisibility", contract={"model": {"layers": 61}}, trial={"pp": 4}, outcome="FAIL", says="61"
    ),
    # F-02, C16, C70: maps
    "C16: a tensor group that leaves its node": Row(
        gate="tensor_locality",
        limit={"rule": "inside_node"},
        contract=TWO_NODES,
        trial={"tp": 4},
        places=ACROSS,
        outcome="FAIL",
        says="n0, n1",
    ),
    "C70: an expert group over two racks": Row(
        gate="group_span",
        limit={"kind": "ep", "may_not_cross": ["rack"]},
        contract={**TWO_NODES, "model": MOE, "fleet": {"failure_domains": {"rack": {"r0": ["n0"], "r1": ["n1"]}}}},
        trial={"layout": "vllm", "tp": 4, "ep": 4, "engine_degrees": EXPERTS},
        places=ACROSS,
        outcome="FAIL",
        says="rack",
    ),
    "C40: both devices of a node on one of its two NICs": Row(
        gate="nic_map",
        contract={**TWO_NODES, "hardware": NICS},
        trial={"tp": 4},
        places=ACROSS,
        nics=["a0", "a0", "a1", "b1"],
        outcome="FAIL",
        says="a0",
    ),
    "C40: one NIC for each device": Row(
        gate="nic_map",
        contract={**TWO_NODES, "hardware": NICS},
        trial={"tp": 4},
        places=ACROSS,
        nics=["a0", "b0", "a1", "b1"],
        outcome="PASS",
        says="serves 1 device; at most 1",
    ),
    "C40: a crossing rank on the storage NIC, its fabric NIC idle": Row(
        gate="nic_map",
        contract={**TWO_NODES, "hardware": {"nics": {**NICS["nics"], "s0": {"node": "n0", "use": "storage"}}}},
        trial={"tp": 4},
        places=ACROSS,
        nics=["a0", "s0", "a1", "b1"],
        outcome="FAIL",
        says="Rank 1 on n0 crosses on NIC s0, a storage NIC.",
    ),
    "C40: two trays of one island cross on its links": Row(
        gate="nic_map",
        contract={**TWO_NODES, "hardware": {**NICS, "islands": {"rack": {"devices": ["g0", "g1", "g2", "g3"]}}}},
        trial={"tp": 4},
        places=ACROSS,
        nics=["a0", "a0", "a1", "a1"],
        outcome="NOT_APPLICABLE",
        says="Every group that crosses a node lies inside one island.",
    ),
    # C39, C17, C02: paths
    "C39: copies through the host where direct access is owed": Row(
        gate="transport",
        limit={"boundary": "inter_node", "permitted": ["rdma_direct"]},
        contract=TWO_NODES,
        trial={"tp": 4},
        places=ACROSS,
        more={"transport": {"tp": {"group_kind": "tp", "boundary": "inter_node", "path": "rdma_host_staged"}}},
        outcome="FAIL",
        says="rdma_host_staged",
    ),
    "C02: an advertised rate says nothing of the path": Row(
        gate="transport",
        limit={"boundary": "inter_node", "permitted": ["rdma_direct"]},
        contract={**TWO_NODES, "hardware": LINKS},
        trial={"tp": 4},
        places=ACROSS,
        outcome="UNKNOWN",
        says="The path of tp groups between nodes is not recorded",
    ),
    "C82: prefill fills the link that decode leaves idle": Row(
        gate="link_utilization",
        limit={"link_class": "inter_node", "load_point": AT, "max_utilization": 0.5, "max_sample_interval_s": 1},
        contract={**TWO_NODES, "hardware": LINKS},
        trial={"tp": 4},
        places=ACROSS,
        nics=["x0", "x0", "x1", "x1"],
        window={
            "links": {
                link: {
                    phase: {"sample_interval_s": 1, "peak_tx_bytes": peak, "peak_rx_bytes": 1}
                    for phase, peak in (("prefill", 6 * 10**9), ("decode", 2 * 10**8))
                }
                for link in ("x0", "x1")
            }
        },
        outcome="FAIL",
        says="0.600",
    ),
    # F-13, C09, C19: groups inside ranks
    "C09: decode context groups add no ranks": Row(
        gate="rank_count",
        contract={"devices": 8},
        trial={"layout": "vllm", "tp": 8, "dcp": 8, "world_size": 8},
        outcome="PASS",
        says="8",
    ),
    "C19: a world that is not the product": Row(
        gate="rank_count",
        trial={"tp": 2, "dp": 2, "world_size": 2},
        outcome="FAIL",
        says="a world of 2 ranks; its degrees give 4",
    ),
    "C19: a device that stands on another node": Row(
        gate="placement", contract=TWO_NODES, trial={"tp": 4}, outcome="FAIL", says="n1"
    ),
    # F-16, C13: blocks
    "C13: a fused width of 640 in blocks of 128 on eight ranks": Row(
        gate="model_divisibility",
        contract={
            "model": {"intermediate_size": 640},
            "precision": {"weights": "fp8", "quantisation_block": 128},
            "devices": 8,
        },
        trial={"layout": "vllm", "tp": 8},
        outcome="FAIL",
        says="80",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_variation_of_a_reported_case_gets_its_answer(row: Row) -> None:
    check(row)
