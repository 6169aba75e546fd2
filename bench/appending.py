"""The measuring half of ``bench.appends``: runs in a process of its own, against the database of ``DATABASE_URL``."""

import argparse
import itertools
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Models can only be imported once Django is set up.
from django.db import connection, transaction  # noqa: E402 # models need Django set up

from planner.canonical import file_sha256  # noqa: E402 # models need Django set up
from reviews.audit import LOCK, LOCK_CLASS, Act, append  # noqa: E402 # models need Django set up
from reviews.facts import Authentication  # noqa: E402 # models need Django set up
from reviews.models import AuditEntry, Workspace  # noqa: E402 # models need Django set up
from reviews.verification import verify  # noqa: E402 # models need Django set up

MOST_RATIO = 2.0
LEAST_PER_SECOND = 300
INSERT = """
    INSERT INTO reviews_auditentry (workspace_id, seq, prev, sha256, data, at, action, decision_number,
                                    revision_number, subject, actor_token, team)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
DIGEST = file_sha256(b"")
ACT = Act(
    action="bench.act",
    actor=DIGEST,
    decision=1,
    revision=1,
    subject=DIGEST,
    team="serving",
    meaning="approve",
    authentication=Authentication("password", 12),
    request_id="0123456789abcdef",
)


def appended(workspace: Workspace) -> Callable[[], None]:
    """Return what appends one entry."""
    return lambda: void(append(workspace, ACT))


def void(made: object) -> None:
    """Take what is not needed."""


def inserted(workspace: Workspace, size_bytes: int) -> Callable[[], None]:
    """Return what inserts one row of so many bytes under the lock."""
    numbers = itertools.count()

    def insert() -> None:
        number = next(numbers)
        digest = f"sha256:{number:064x}"
        row = (workspace.pk, number, digest, digest, bytes(size_bytes), "", ACT.action, 1, 1, DIGEST, DIGEST, "serving")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(LOCK, [LOCK_CLASS, workspace.pk])
            cursor.execute(INSERT, row)

    return insert


def seconds(write: Callable[[], None], writers: int, turns: int) -> float:
    """Let every writer write in a thread of its own; return the seconds from the first write to the last."""
    barrier = threading.Barrier(writers + 1)

    def run() -> None:
        connection.ensure_connection()
        barrier.wait()
        for _ in range(turns):
            write()
        barrier.wait()
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(writers)]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    barrier.wait()
    taken = time.perf_counter() - start
    for thread in threads:
        thread.join()
    return taken


def workspace_of(slug: str) -> Workspace:
    """Make a workspace with an empty log."""
    return Workspace.objects.create(slug=slug, title=slug, log_origin=f"topogate/{slug}/bench")


def main() -> int:
    """Measure both ways in turn, print them and check the log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--appends", type=int, default=100, help="of each writer in each run")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ratio-alone", action="store_true", help="judge no rate: it would be the disk's")
    options = parser.parse_args()
    log = workspace_of("log")
    size_bytes = len(bytes(append(log, ACT).data))
    ways = {"plain inserts": inserted(workspace_of("plain"), size_bytes), "appends": appended(log)}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.runs):
        for name, write in ways.items():
            taken[name].append(seconds(write, options.writers, options.appends))
    total = options.writers * options.appends
    medians = {name: statistics.median(times) for name, times in taken.items()}
    ratio = medians["appends"] / medians["plain inserts"]
    print(f"{options.writers} writers x {options.appends}, rows of {size_bytes} bytes, median of {options.runs} runs")
    for name, median in medians.items():
        print(f"{name:<16}{median:>8.3f} s{total / median:>10,.0f} /s{median / medians['plain inserts']:>8.2f}x")
    found = verify(log)
    entries = AuditEntry.objects.filter(workspace=log).count()
    print(f"the log holds: {found.holds}, {entries:,} entries")
    is_quick = options.ratio_alone or total / medians["appends"] >= LEAST_PER_SECOND
    is_fast = ratio <= MOST_RATIO and is_quick
    aims = f"at most {MOST_RATIO}x" + ("" if options.ratio_alone else f", at least {LEAST_PER_SECOND} /s")
    print(f"aims: {aims}: {'kept' if is_fast else 'missed'}")
    return 0 if is_fast and found.holds else 1


if __name__ == "__main__":
    sys.exit(main())
