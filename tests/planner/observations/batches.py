"""Batches for tests: a span of ten minutes of one collector, with the segments that a test is about."""

import json
from typing import Any

from planner.observations import Batch, read_batch

SUBJECT = "sha256:" + "a" * 64


def a_tree(*segments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the tree of a batch; one of one rank's memory without segments."""
    return {
        "schema": "topogate.observations/v1",
        "slot": "demo/four-devices",
        "subject": SUBJECT,
        "source": "dcgm",
        "started_at": "2026-11-30T12:00:00Z",
        "ended_at": "2026-11-30T12:10:00Z",
        "segments": list(segments) or [{"rank": 0, "metrics": {"device_used_bytes": {"count": 1, "sum": 5}}}],
        **fields,
    }


def a_batch(*segments: dict[str, Any], **fields: Any) -> Batch:
    """Return the batch as it is read."""
    return read_batch(json.dumps(a_tree(*segments, **fields)).encode())


def level(most: float, count: int = 10) -> dict[str, Any]:
    """Return a sampled level whose most is given."""
    return {"count": count, "sum": most * count, "min": most, "max": most}


def times(edges: list[float], counts: list[int], most: float | None = None) -> dict[str, Any]:
    """Return a histogram; its sum is that of upper edges, of the most where that is less."""
    upper = [*edges, most or edges[-1]]
    total = sum(min(edge, most or edge) * count for edge, count in zip(upper, counts, strict=True))
    found: dict[str, Any] = {
        "count": sum(counts),
        "sum": total,
        "histogram": {"edges": edges, "counts": counts},
    }
    return found if most is None else {**found, "max": most}
