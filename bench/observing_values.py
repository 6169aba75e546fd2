"""The measuring half of ``bench.observing``: runs in a process of its own, against the database of ``DATABASE_URL``."""

import argparse
import gc
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Models can only be imported once Django is set up.
from django.db import connection, models, transaction  # noqa: E402 - after the setup
from django.utils import timezone  # noqa: E402 - after the setup

from planner.times import time_text  # noqa: E402 - after the setup
from reviews.models import ObservationFinding  # noqa: E402 - after the setup
from reviews.services.observations import observations_take  # noqa: E402 - after the setup
from tests.reviews.factories import Cast, Pair, cast, contract_tree, evidence_tree  # noqa: E402 - after the setup
from tests.reviews.rules.test_rule_10_activation import activate, approved  # noqa: E402 - after the setup

AIM = 5
PER_NODE = 8
EDGES = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000)
ROWS_AT_ONCE = 2000


class PlainValue(models.Model):
    """One observed value as a row, with the fields that a value has."""

    subject = models.CharField(max_length=71)
    source = models.CharField(max_length=256)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    rank = models.IntegerField()
    group = models.IntegerField()
    metric = models.CharField(max_length=32)
    count = models.BigIntegerField()
    sum = models.FloatField()
    min = models.FloatField(null=True)
    max = models.FloatField(null=True)
    histogram = models.TextField()

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return self.metric


def fleet(ranks: int) -> Pair:
    """Return documents of a fleet: nodes of eight devices, each a serving group of its own, one trial."""
    contract = contract_tree(slot="bench/fleet")
    names = [f"n{rank // PER_NODE}" for rank in range(ranks)]
    hardware = contract["identity"]["hardware"]
    hardware["nodes"] = {name: {} for name in names}
    device = {"type": "accel-80g", "memory_bytes": 85899345920}
    hardware["devices"] = {f"d{rank}": {"node": name, **device} for rank, name in enumerate(names)}
    evidence = evidence_tree(contract)
    trial = evidence["trials"]["t-1"]
    instance = {"tp": PER_NODE, "pp": 1, "ep": 1, "dp": 1, "world_size": PER_NODE}
    trial["topology"]["instances"] = [instance] * (ranks // PER_NODE)
    trial["rank_map"] = [{"rank": rank, "node": name, "device": f"d{rank}"} for rank, name in enumerate(names)]
    window = trial["windows"]["w1"]
    window["per_rank"] = {
        name: {"values": [value] * ranks}
        for name, value in (("device_used_peak_bytes", 60 * 2**30), ("step_ms", 5), ("collective_ms", 5))
    }
    tails = {"n": 640, "mean": 5, "p50": 5, "p95": 8, "p99": 9, "max": 12}
    window["load"] |= dict.fromkeys(("ttft_ms", "tpot_ms"), tails)
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def segments(ranks: int) -> Iterator[dict[str, Any]]:
    """Yield segments of a batch: nine metrics of every rank, eight of every group; one rank of a hundred drifts."""
    chance = random.Random(7)  # noqa: S311 # figures, no secrets
    for rank in range(ranks):
        used = (70 if rank % 100 == 0 else 59) * 2**30
        metrics = {name: level(chance, used) for name in ("device_used_bytes", "device_reserved_bytes")}
        metrics |= {name: level(chance, value) for name, value in (("stage_idle_share", 0.1), ("power_watts", 600))}
        metrics |= {name: spread(chance) for name in ("step_ms", "collective_ms", "all_to_all_ms", "arrival_lag_ms")}
        yield {"rank": rank, "metrics": {**metrics, "device_errors": {"count": 1, "sum": 0}}}
    for group in range(ranks // PER_NODE):
        metrics = {name: spread(chance) for name in ("ttft_ms", "tpot_ms", "queue_ms")}
        metrics |= {name: level(chance, 12) for name in ("running_requests", "waiting_requests")}
        metrics["kv_used_share"] = level(chance, 0.6)
        counts = {name: {"count": 1, "sum": 5000 + group} for name in ("output_tokens", "requests_completed")}
        yield {"group": group, "metrics": {**metrics, **counts}}


def level(chance: random.Random, value: float) -> dict[str, Any]:
    """Return sixty samples of a level."""
    low = round(value * chance.uniform(0.9, 1), 3)
    return {"count": 60, "sum": round(value * 60, 3), "min": low, "max": value}


def spread(chance: random.Random) -> dict[str, Any]:
    """Return sixty times as an exporter's histogram."""
    values = [abs(chance.gauss(4, 1.5)) for _ in range(60)]
    counts = [0] * (len(EDGES) + 1)
    for value in values:
        counts[next((at for at, edge in enumerate(EDGES) if value <= edge), len(EDGES))] += 1
    return {
        "count": 60,
        "sum": round(sum(values), 3),
        "max": round(max(values), 3),
        "histogram": {"edges": EDGES, "counts": counts},
    }


def plain_rows(tree: dict[str, Any]) -> Iterator[PlainValue]:
    """Yield every value of a batch as a row."""
    at = {name: datetime.fromisoformat(tree[name]) for name in ("started_at", "ended_at")}
    for segment in tree["segments"]:
        for metric, value in segment["metrics"].items():
            yield PlainValue(
                subject=tree["subject"],
                source=tree["source"],
                **at,
                rank=segment.get("rank", -1),
                group=segment.get("group", -1),
                metric=metric,
                count=value["count"],
                sum=value["sum"],
                min=value.get("min"),
                max=value.get("max"),
                histogram=json.dumps(value["histogram"]) if "histogram" in value else "",
            )


def timed(work: Callable[[], object]) -> float:
    """Return how long something takes, in seconds of the clock."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def insert(tree: dict[str, Any]) -> None:
    """Insert the values plainly."""
    with transaction.atomic():
        PlainValue._default_manager.bulk_create(list(plain_rows(tree)), batch_size=ROWS_AT_ONCE)


def report(people: Cast, raw: bytes) -> None:
    """Ingest a batch."""
    observations_take(actor=people.bob, workspace=people.workspace, raw=raw)


def main() -> int:
    """Put the fleet into force, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    people = cast()
    subject = activate(people, approved(people, pair=fleet(chosen.ranks))).subject
    with connection.schema_editor() as editor:
        editor.create_model(PlainValue)
    base = {"schema": "topogate.observations/v1", "slot": "bench/fleet", "subject": subject, "source": "bench"}
    said, start = list(segments(chosen.ranks)), timezone.now() - timedelta(minutes=chosen.runs + 1)
    values = sum(len(segment["metrics"]) for segment in said)
    plain, taken = [], []
    for run in range(chosen.runs + 1):
        times = (start + timedelta(minutes=run), start + timedelta(minutes=run + 1))
        span = dict(zip(("started_at", "ended_at"), map(time_text, times), strict=True))
        tree = {**base, **span, "segments": said}
        raw = json.dumps(tree).encode()
        plain.append(timed(partial(insert, tree)))
        taken.append(timed(partial(report, people, raw)))
    # The first batch reads the documents of the decision, and finds no hour to put itself to.
    yardstick, ingested = statistics.median(plain[1:]), statistics.median(taken[1:])
    ratio, database = ingested / yardstick, connection.vendor
    print(f"{database}: {values:,} values, {len(raw) / 2**20:.1f} MiB, {ObservationFinding.objects.count():,} findings")
    print(f"  plain insert {yardstick:7.2f} s")
    print(f"  ingested     {ingested:7.2f} s   {ratio:.2f} of the insert, aim {AIM}   (first batch {taken[0]:.2f} s)")
    return 0 if ratio <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
