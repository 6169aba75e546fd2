"""What the machines of the demo would send: reports of hosts, batches of observations, a trace. Pure.

Kept rules: figures are invented around what the example measured, the same for the same hour and never drawn; one rank
fills up until it is above its limit, everything else stays within its envelope.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from planner.identity_live import Decided
from planner.identity_report import Gathered, report_tree
from planner.observations.qualified import Qualified
from planner.pointers import steps
from planner.times import time_text

__all__ = ["SOURCE", "HourOfDemo", "batch_file", "host_report", "trace_file"]

SOURCE = "demo-collector"
LEAKING = 5
"""The rank that fills up, and that others wait for."""
LEAK_HOURS = 12
SAMPLES = 60
OUTPUT_TOKENS = 256
"""Of every request, as the example's workload has it."""
LOAD_PERCENT = (34, 30, 28, 28, 31, 38, 49, 62, 76, 85, 88, 86, 81, 83, 87, 88, 84, 77, 69, 62, 56, 50, 44, 38)
"""Of the measured rate, by the hour of the day (UTC)."""

Histogram = tuple[tuple[float, ...], tuple[int, ...]]
TTFT: Histogram = (
    (200, 300, 350, 400, 450, 500, 550, 600, 650, 700, 800),
    (10, 150, 180, 170, 140, 110, 90, 70, 40, 33, 7, 0),
)
TPOT: Histogram = ((50, 52, 54, 55, 56, 57, 58, 60), (10, 60, 280, 250, 200, 155, 37, 8, 0))
E2E: Histogram = (
    (13000, 13500, 14000, 14250, 14500, 14750, 15000, 15500, 16000),
    (5, 35, 210, 250, 220, 150, 100, 27, 3, 0),
)
"""Edges in ms, and of a thousand requests how many lie below each and above the last."""

ROUNDS, LATE_EVERY = 24, 3
MOVE_US, WORK_US, LATE_US = 41, 900, 1500
MESSAGE_BYTES = 131_072


@dataclass(frozen=True, slots=True, kw_only=True)
class HourOfDemo:
    """One hour of what runs: its end, and how many hours rank ``LEAKING`` has been filling up by then."""

    slot: str
    subject: str
    ends_at: datetime
    leaked_h: int


def host_report(decided: Decided, node: str, collected_at: datetime) -> bytes:
    """Return what ``topogate identity collect`` would write on the host of a node that runs what was decided."""
    found = Gathered(world_size=len(decided.ranks), ranks=[dict(one) for one in decided.ranks if one["node"] == node])
    for key, value in decided.keys:
        if decided.nodes.get(key, node) == node:
            found.put_tree(_nested(steps(key), value), "demo")
    tree = report_tree(
        found, host=f"demo-{node}", node=node, collected_at=time_text(collected_at), environment={}, bound=None
    )
    return json.dumps(tree).encode()


def _nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {first: _nested(rest, value) if rest else value}


def batch_file(found: Qualified, hour: HourOfDemo) -> bytes:
    """Return the batch of an hour: memory of every rank, requests of the group, use of every link."""
    load = LOAD_PERCENT[(hour.ends_at - timedelta(hours=1)).hour]
    segments: list[dict[str, Any]] = []
    for entry in found.entries:
        if entry.qualified is None or entry.limit is None:
            continue
        measured, limit = float(entry.qualified), float(entry.limit)
        if entry.metric == "device_used_bytes":
            most = _used(measured, limit, hour.leaked_h if entry.rank == LEAKING else 0)
            segments.append({"rank": entry.rank, "metrics": {entry.metric: _level(round(most * 0.99), round(most))}})
        elif entry.metric == "link_used_share":
            most = round(measured * load / 100, 6)
            segments.append({"link": entry.link, "metrics": {entry.metric: _level(round(most * 0.4, 6), most)}})
    rate = next(float(entry.qualified or 0) for entry in found.entries if entry.metric == "output_tokens")
    segments.append({"group": 0, "metrics": _requests(round(rate * 36 * load / OUTPUT_TOKENS), load)})
    tree = {
        "schema": "topogate.observations/v1",
        "slot": hour.slot,
        "subject": hour.subject,
        "source": SOURCE,
        "started_at": time_text(hour.ends_at - timedelta(hours=1)),
        "ended_at": time_text(hour.ends_at),
        "segments": segments,
    }
    return json.dumps(tree).encode()


def _used(measured: float, limit: float, leaked_h: int) -> float:
    """Return the most memory in use: a little below what was measured, and a hundredth above the limit in the end."""
    calm = measured * 0.985
    return calm + (limit * 1.01 - calm) * leaked_h / LEAK_HOURS


def _requests(completed: int, load: int) -> dict[str, Any]:
    return {
        "ttft_ms": _times(TTFT, completed),
        "tpot_ms": _times(TPOT, completed),
        "e2e_ms": _times(E2E, completed),
        "running_requests": _level(round(load * 0.24), round(load * 0.32)),
        "requests_completed": {"count": SAMPLES, "sum": completed},
        "requests_failed": {"count": SAMPLES, "sum": completed // 2000},
        "output_tokens": {"count": SAMPLES, "sum": completed * OUTPUT_TOKENS},
    }


def _level(least: float, most: float) -> dict[str, Any]:
    return {"count": SAMPLES, "sum": round((least + most) / 2 * SAMPLES, 6), "min": least, "max": most}


def _times(of: Histogram, count: int) -> dict[str, Any]:
    """Return so many times, spread as the histogram says; what rounding leaves over lies in the fullest bucket."""
    edges, shares = of
    counts = [count * share // 1000 for share in shares]
    counts[shares.index(max(shares))] += count - sum(counts)
    middles = [edges[0] * 0.95, *((low + high) / 2 for low, high in pairwise(edges)), edges[-1]]
    total = sum(middle * held for middle, held in zip(middles, counts, strict=True))
    return {"count": count, "sum": round(total, 3), "histogram": {"edges": list(edges), "counts": counts}}


def trace_file(places: Mapping[int, tuple[str, str]]) -> bytes:
    """Return a trace of all-reduces in every node, to some of which rank ``LEAKING`` comes late."""
    rows = ["rank,node,device,group,kind,bytes,start,end"]
    nodes = sorted({node for node, _ in places.values()})
    for number, node in enumerate(nodes):
        ranks = [rank for rank, (at, _) in places.items() if at == node]
        free = 0
        for nth in range(ROUNDS):
            late = LATE_US if nth % LATE_EVERY == LATE_EVERY - 1 else 0
            starts = {
                rank: free + WORK_US + (7 * rank + 13 * nth) % 23 + (late if rank == LEAKING else 0) for rank in ranks
            }
            free = max(starts.values()) + MOVE_US
            rows += [
                f"{rank},{node},{places[rank][1]},tp-{number},AllReduce,{MESSAGE_BYTES},{start},{free}"
                for rank, start in starts.items()
            ]
    return "\n".join([*rows, ""]).encode()
