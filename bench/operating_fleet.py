"""The measuring half of ``bench.operating``: runs in a process of its own, against the database of ``DATABASE_URL``."""

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Models can only be imported once Django is set up.
from django.db.models import Sum  # noqa: E402 - after the setup
from django.db.models.functions import Length  # noqa: E402 - after the setup
from django.test import Client  # noqa: E402 - after the setup
from django.utils import timezone  # noqa: E402 - after the setup

from bench.observing_values import PER_NODE, fleet, segments  # noqa: E402 - after the setup
from planner.observations import rolled_up  # noqa: E402 - after the setup
from planner.observations.batch import read_batch  # noqa: E402 - after the setup
from planner.observations.packed import by_block, packed  # noqa: E402 - after the setup
from planner.times import time_text  # noqa: E402 - after the setup
from reviews.models import Activation, ObservationFeed, ObservationRollUp, ObservationSpan  # noqa: E402 - as above
from reviews.selectors import said_hosts  # noqa: E402 - after the setup
from reviews.selectors.roll_ups import spans_of  # noqa: E402 - after the setup
from reviews.services.host_reports import identity_reports_take  # noqa: E402 - after the setup
from reviews.services.observation_sweeps import observations_prune  # noqa: E402 - after the setup
from reviews.services.observations import observations_take  # noqa: E402 - after the setup
from tests.reviews.factories import Cast, Pair, cast  # noqa: E402 - after the setup
from tests.reviews.rules.test_rule_10_activation import activate, approved  # noqa: E402 - after the setup

SLOT = "bench/fleet"
HOSTS_AT_ONCE = 200
DAY_HOURS, WEEK_HOURS = 24, 24 * 7
WATCHED = "step_ms"
"""The metric of which hours of more than a day ago are there as well."""
SETTLING = 4
"""Hours that are too young for their day, at most."""
WEEK_PAGE = "/w/{slug}/decisions/1/observations/?metric=step_ms&span=week"
PAGES = {
    "page of observations": "/w/{slug}/decisions/1/observations/?metric=step_ms",
    "page of observations, a level": "/w/{slug}/decisions/1/observations/?metric=device_used_bytes",
    "download, JSON": "/w/{slug}/decisions/1/observations/values.json?metric=step_ms",
    "API of observations": "/api/v1/workspaces/{slug}/decisions/1/observations?metric=step_ms",
    "page of the identity": "/w/{slug}/decisions/1/identity/",
    "API of the identity": "/api/v1/workspaces/{slug}/identity-reports?slot=bench/fleet",
    "list of slots": "/w/{slug}/slots/",
    "page of the slot": "/w/{slug}/slots/one?slot=bench/fleet",
}


def fill_hours(people: Cast, activation: Activation, ranks: int, hours: int) -> dict[str, Any]:
    """Store roll-ups of whole hours, two kinds of them in turn; return a batch to go on with."""
    now = timezone.now()
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    said = list(segments(ranks))
    base = {"schema": "topogate.observations/v1", "slot": SLOT, "subject": activation.subject, "source": "bench"}
    times = {"started_at": time_text(now - timedelta(minutes=2)), "ended_at": time_text(now - timedelta(minutes=1))}
    tree = {**base, **times, "segments": said}
    batch = read_batch(json.dumps(tree).encode())
    once = rolled_up([batch])
    twice = rolled_up([batch, batch])
    kinds = [{place: packed(held) for place, held in by_block(seen).items()} for seen in (once, twice)]
    observations_take(actor=people.bob, workspace=people.workspace, raw=json.dumps(tree).encode())
    feed = ObservationFeed.objects.get()
    for back in range(1, hours):
        start = hour - timedelta(hours=back)
        second = int(start.timestamp())
        span = ObservationSpan.objects.create(
            feed=feed, level="hour", starts_at=start, covered=json.dumps([[second, second + 3600]])
        )
        ObservationRollUp.objects.bulk_create(
            [
                ObservationRollUp(span=span, metric=metric, block=block, data=data)
                for (metric, block), data in kinds[back % 2].items()
                if metric == WATCHED or back < DAY_HOURS
            ]
        )
    return tree


def of_one_node(tree: Mapping[str, Any], node: int, minute: int) -> bytes:
    """Return the batch of one node's collector."""
    now = timezone.now() - timedelta(seconds=50 - minute)
    ranks = range(node * PER_NODE, (node + 1) * PER_NODE)
    own = [segment for segment in tree["segments"] if segment.get("rank") in ranks]
    times = {"started_at": time_text(now - timedelta(minutes=1)), "ended_at": time_text(now)}
    return json.dumps({**tree, **times, "source": f"n{node}", "segments": own}).encode()


def report_of(identity: Mapping[str, Any], rank_map: list[dict[str, Any]], node: int, seconds: float) -> bytes:
    """Return what ``topogate identity collect`` writes on a host of the fleet."""
    name, first = f"n{node}", node * PER_NODE
    devices = identity["hardware"]["devices"]
    own = {f"d{rank}": devices[f"d{rank}"] for rank in range(first, first + PER_NODE)}
    identity = {**identity, "hardware": {"nodes": {name: {}}, "devices": own}}
    seen = {"world_size": len(rank_map), "ranks": rank_map[first : first + PER_NODE]}
    return json.dumps(
        {
            "schema": "topogate.identity/v1",
            "host": f"gpu-{node}",
            "node": name,
            "collected_at": time_text((timezone.now() + timedelta(seconds=seconds)).replace(microsecond=0)),
            "identity": identity,
            "ranks_seen": seen,
            "sources": {},
            "conflicts": [],
            "missing": [],
            "environment": {},
        }
    ).encode()


def spent(work: Callable[[], object]) -> float:
    """Return how long something takes, in seconds of the processor."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def told(name: str, first: float, more: list[float], size: int = 0) -> None:
    """Print a line."""
    print(f"  {name:32} {first * 1000:9.0f} {statistics.median(more) * 1000:9.1f} {size / 1024:9.0f}")


class Fleet:
    """A fleet that goes on reporting."""

    def __init__(self, people: Cast, pair: Pair, ranks: int, hours: int) -> None:
        activation = activate(people, approved(people, pair=pair))
        self.people = people
        self.nodes = ranks // PER_NODE
        self.identity: dict[str, Any] = json.loads(pair.contract)["identity"]
        self.rank_map: list[dict[str, Any]] = json.loads(pair.evidence)["trials"]["t-1"]["rank_map"]
        self.batch = fill_hours(people, activation, ranks, hours)
        self.turn = self.reported = 0

    def gather(self, nodes: int) -> None:
        """Let so many hosts have reported, each for the first time."""
        for start in range(self.reported, nodes, HOSTS_AT_ONCE):
            self.report(*range(start, min(start + HOSTS_AT_ONCE, nodes)), seconds=1)
        self.reported = nodes

    def one_host(self) -> None:
        """Let the next host report."""
        self.turn += 1
        self.report(self.turn % self.reported)

    def report(self, *nodes: int, seconds: float = 5) -> None:
        """Let hosts say what they are."""
        documents = [report_of(self.identity, self.rank_map, node, seconds) for node in nodes]
        who: dict[str, Any] = {"actor": self.people.bob, "workspace": self.people.workspace}
        identity_reports_take(**who, slot=SLOT, documents=documents)

    def go_on(self) -> None:
        """Let one collector and one host report."""
        self.one_host()
        raw = of_one_node(self.batch, self.turn, self.turn)
        observations_take(actor=self.people.bob, workspace=self.people.workspace, raw=raw)

    def view(self, client: Client, name: str, path: str, runs: int) -> None:
        """Ask for an address, once and then as the fleet goes on, and print what it took."""
        address = path.format(slug=self.people.workspace.slug)
        sizes: list[int] = []

        def ask() -> None:
            found = client.get(address)
            if found.status_code != 200:
                raise SystemExit(f"{address}: {found.status_code} {found.content[:300]!r}")
            sizes.append(len(found.getvalue()))

        first, more = spent(ask), []
        for _ in range(runs):
            self.go_on()
            more.append(spent(ask))
        told(name, first, more, sizes[-1])

    def week_read(self) -> str:
        """Say how many bytes of roll-ups a view of a week of the watched metric reads."""
        feed = ObservationFeed.objects.get()
        end = feed.ended_at or timezone.now()
        spans = spans_of(feed, end - timedelta(hours=WEEK_HOURS), end)
        rows = ObservationRollUp.objects.filter(span__in=spans, metric=WATCHED)
        size = rows.aggregate(size=Sum(Length("data")))["size"]
        return f"  a week is {len(spans)} hours and days, {size / 2**20:.1f} MiB of roll-ups"


def time_reports(now: Fleet, runs: int) -> None:
    """Print what the report of one host costs with a tenth of the fleet and with all of it, and with nothing kept."""
    for nodes in (now.nodes // 10, now.nodes):
        now.gather(nodes)
        told(f"report of one of {nodes:,} hosts", spent(now.one_host), [spent(now.one_host) for _ in range(runs)])
    kept, said_hosts.READ_AGAIN_SECONDS = said_hosts.READ_AGAIN_SECONDS, 0.0
    told("  every host read each time", spent(now.one_host), [spent(now.one_host) for _ in range(runs)])
    said_hosts.READ_AGAIN_SECONDS = kept


def put_into_days() -> None:
    """Sweep until every hour that is due is in its day."""
    while ObservationSpan.objects.filter(level="hour", in_day=False).count() > SETTLING:
        observations_prune()


def main() -> int:
    """Put the fleet into force, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=10_000)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    people = cast()
    now = Fleet(people, fleet(chosen.ranks), chosen.ranks, chosen.hours)
    client = Client(headers={"host": "localhost"})
    client.force_login(people.alice, backend="django.contrib.auth.backends.ModelBackend")
    print(f"{chosen.ranks:,} ranks, {now.nodes:,} hosts, {chosen.hours} hours: milliseconds of the processor, KiB")
    print(f"  {'':32} {'first':>9} {'going on':>9} {'answer':>9}")
    time_reports(now, chosen.runs)
    if chosen.hours > DAY_HOURS:
        print(now.week_read())
        now.view(client, "page, a week by the hour", WEEK_PAGE, chosen.runs)
        put_into_days()
        print(now.week_read())
        now.view(client, "page, a week in days", WEEK_PAGE, chosen.runs)
    for name, path in PAGES.items():
        now.view(client, name, path, chosen.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
