"""Print what groups, placement and crossings of 4,096 ranks cost, beside the plain list of those ranks.

The yardstick is the list that any tool builds first: one record a rank with its coordinates, node and device. Every
engine's groups are built, its launcher's placement, and what each group crosses on 512 nodes with islands, NICs,
rails, racks and pods; nothing is kept from one run to the next. With ``--records FOLDER`` the questions of all its
``*.jsonl`` files are answered too.

``python -m bench.rank_maps [--runs 9] [--records FOLDER] [--no-memory]``
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from bench.measure import Step, median_seconds, peak_bytes
from planner.crossings import crossings
from planner.layouts import LAYOUTS, Launch
from planner.layouts.asks import answer
from planner.rankmap import degrees_of, topology_groups
from planner.records.contract import Fleet, Hardware
from planner.records.evidence import Placement, Topology
from planner.site import Site

RANKS = 4_096
DEVICES = 8
NODES = RANKS // DEVICES
NODES_OF_A_RACK = 8
NODES_OF_A_POD = 64

DEGREES: dict[str, dict[str, Any]] = {
    "closed": {"tp": 8, "pp": 4, "ep": 8, "dp": 16},
    "vllm": {"tp": 8, "pp": 4, "ep": 1_024, "dp": 128},
    "sglang": {"tp": 1_024, "pp": 4, "ep": 256, "dp": 1, "engine_degrees": {"attn_dp": 128}},
    "megatron": {"tp": 8, "pp": 4, "ep": 64, "dp": 128, "engine_degrees": {"etp": 1}},
    "trtllm": {"tp": 1_024, "pp": 4, "ep": 256, "dp": 1},
}


def plain_list() -> list[dict[str, int | str]]:
    """Build one record a rank: coordinates of tensor 8, pipeline 4, data 128, with node and device."""
    return [
        {
            "rank": rank,
            "dp": rank // 32,
            "pp": rank // 8 % 4,
            "tp": rank % 8,
            "node": f"node-{rank // DEVICES}",
            "device": f"node-{rank // DEVICES}-gpu-{rank % DEVICES}",
        }
        for rank in range(RANKS)
    ]


def hardware() -> tuple[Hardware, Fleet]:
    """Make 512 nodes of 8 devices, one island a node, one NIC a device, a rail of each rack shared by its NICs."""
    nodes = [f"node-{node}" for node in range(NODES)]
    seats = [(node, at) for node in range(NODES) for at in range(DEVICES)]
    tree = {
        "nodes": {node: {} for node in nodes},
        "devices": {
            f"node-{node}-gpu-{at}": {"node": f"node-{node}", "type": "x", "memory_bytes": 1} for node, at in seats
        },
        "nics": {f"node-{node}-nic-{at}": {"node": f"node-{node}", "use": "fabric"} for node, at in seats},
        "links": {
            f"node-{node}-up-{at}": {
                "class": "inter_node",
                "nic": f"node-{node}-nic-{at}",
                "bytes_per_s_one_way": 50_000_000_000,
                "contention_domain": f"rack-{node // NODES_OF_A_RACK}-rail-{at}",
            }
            for node, at in seats
        },
        "islands": {
            f"island-{node}": {"devices": [f"node-{node}-gpu-{at}" for at in range(DEVICES)]} for node in range(NODES)
        },
    }
    domains = {
        kind: {f"{kind}-{first}": nodes[first : first + size] for first in range(0, NODES, size)}
        for kind, size in (("rack", NODES_OF_A_RACK), ("pod", NODES_OF_A_POD))
    }
    return msgspec.convert(tree, Hardware), msgspec.convert({"failure_domains": domains}, Fleet)


def places() -> tuple[Placement, ...]:
    """Put the ranks on the devices in order."""
    trees = [
        {
            "rank": rank,
            "node": f"node-{rank // DEVICES}",
            "device": f"node-{rank // DEVICES}-gpu-{rank % DEVICES}",
            "nic": f"node-{rank // DEVICES}-nic-{rank % DEVICES}",
        }
        for rank in range(RANKS)
    ]
    return msgspec.convert(trees, tuple[Placement, ...])


def rank_maps() -> dict[str, Step]:
    """Return one step for each engine: groups, placement and crossings from the degrees on."""
    declared, where = hardware(), places()

    def step(layout: str) -> Callable[[], object]:
        instance = {**DEGREES[layout], "world_size": RANKS}
        topology = msgspec.convert({"layout": layout, "instances": [instance]}, Topology)
        degrees, launch = degrees_of(topology.instances[0], moe=True), Launch(nnodes=NODES, gpus_per_node=DEVICES)

        def run() -> object:
            groups = topology_groups(topology, moe=True)
            seats = LAYOUTS[layout].seats(degrees, launch)
            return groups, seats, crossings(groups, where, Site(hardware=declared[0], fleet=declared[1]))

        return run

    return {f"{layout}: groups, placement, crossings": step(layout) for layout in DEGREES}


def questions(folder: Path) -> list[dict[str, Any]]:
    """Read the questions of every ``*.jsonl`` file."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def report(runs: int, records: Path | None, *, memory: bool) -> None:
    """Measure every step ``runs`` times in turn and print medians, ratios and, with ``memory``, peaks."""
    steps: dict[str, Step] = {"plain list of ranks": plain_list, **rank_maps()}
    if records is not None:
        asked = questions(records)
        steps[f"{len(asked)} questions answered"] = lambda: [answer(question) for question in asked]
    medians = median_seconds(steps, runs)
    yardstick = next(iter(medians.values()))
    print(f"{RANKS:,} ranks on {NODES} nodes, median of {runs} runs")
    print(f"{'step':<42}{'ms':>8}{'ratio':>8}{'peak MB':>9}")
    for name, step in steps.items():
        peak = f"{peak_bytes(step) / 1e6:.1f}" if memory else "-"
        print(f"{name:<42}{medians[name] * 1e3:>8.1f}{medians[name] / yardstick:>7.1f}x{peak:>9}", flush=True)


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--records", type=Path, help="folder of questions, one JSON object a line")
    parser.add_argument("--no-memory", action="store_true", help="leave out the slow runs that count memory")
    options = parser.parse_args()
    report(options.runs, options.records, memory=not options.no_memory)


if __name__ == "__main__":
    main()
