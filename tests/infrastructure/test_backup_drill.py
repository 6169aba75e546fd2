"""The drill of the operator guide: back up while others write, restore elsewhere, and see that it is what it was."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from reviews.audit import Act, append
from reviews.models import AuditEntry, Blob
from reviews.services.checkpoints import checkpoint_sign
from reviews.transparency.keys import new_key
from tests.plugins.postgres import package_folder
from tests.reviews.factories import Cast, cast, planned, sign
from tests.reviews.processes import database_url
from tests.shared import ROOT

pytestmark = [pytest.mark.both_databases, pytest.mark.processes, pytest.mark.django_db(transaction=True)]


@dataclass(frozen=True)
class Done:
    """How a program ended."""

    code: int
    out: str
    err: str


def run(url: str, *words: str) -> Done:
    """Run one of the project's programs against a database."""
    path = f"{package_folder() / 'pginstall' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The address of an empty database."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path}/restored.sqlite3"
        return
    name = f"restored_{os.getpid()}"
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}")
        yield server.replace("@/postgres", f"@/{name}")
        owner.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Writers:
    """Threads that append to a log until they are told to stop."""

    def __init__(self, people: Cast, count: int = 3) -> None:
        self.people = people
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self._write) for _ in range(count)]

    def _write(self) -> None:
        turn = 0
        while not self.stopped.wait(0.005):
            append(self.people.workspace, Act(action="test.act", payload={"turn": turn}))
            turn += 1
        connection.close()

    def __enter__(self) -> "Writers":
        for thread in self.threads:
            thread.start()
        self.wait_for(30)
        return self

    def __exit__(self, *raised: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def wait_for(self, more: int) -> None:
        """Wait until so many entries more are there."""
        aim = AuditEntry.objects.count() + more
        while AuditEntry.objects.count() < aim:
            threading.Event().wait(0.02)


def saved(people: Cast, file: Path) -> int:
    """Sign the log and keep the checkpoint in a file; return how many entries it covers."""
    made = checkpoint_sign(people.workspace)
    assert made is not None
    file.write_bytes(bytes(made.note))
    return made.size


def test_a_backup_under_load_restores_to_what_was_saved_and_a_lost_tail_shows(
    transactional_db: None, elsewhere: str, tmp_path: Path, settings: Any
) -> None:
    settings.LOG_SIGNING_KEY = new_key()
    people = cast()
    sign(people, planned(people))
    before, after, file = tmp_path / "before.checkpoint", tmp_path / "after.checkpoint", tmp_path / "backup"
    covered = saved(people, before)
    with Writers(people) as writers:
        taken = run(database_url(), "deploy/backup.py", "take", str(file))
        writers.wait_for(10)
    later = saved(people, after)

    assert (taken.code, taken.err) == (0, "")
    assert (run(elsewhere, "deploy/backup.py", "restore", str(file)).err, list(tmp_path.glob(".*"))) == ("", [])
    assert run(elsewhere, "manage.py", "migrate", "--no-input", "--verbosity=0").err == ""
    found = run(elsewhere, "manage.py", "after_restore", "--checkpoint", str(before))
    blobs, log, recorded = found.out.splitlines()
    entries = int(log.split()[1])
    assert covered < entries < later
    head = AuditEntry.objects.get(workspace=people.workspace, seq=entries - 1).sha256
    assert log == f"lab: {entries} entries, head {head}; continues the saved checkpoint of {covered} entries"
    hashed = int(blobs.split()[1])
    assert blobs == f"blobs: {hashed} of {hashed} hash to their digests"
    assert 8 < hashed <= Blob.objects.count()
    assert recorded == f"lab: restored, entry {entries}"
    assert (found.code, found.err) == (0, "")

    lost = run(elsewhere, "manage.py", "after_restore", "--checkpoint", str(after))
    assert f"the tail is lost: a saved checkpoint covers {later} entries" in lost.out
    assert (lost.code, "Nothing was recorded." in lost.err) == (1, True)

    again = run(elsewhere, "deploy/backup.py", "restore", str(file))
    assert (again.code, "found one" in again.err or "already exists" in again.err) == (1, True)
