"""Migrations over rows, on both databases: from the oldest that held any to the newest, and back if there is a way.

The rows are those of ``tests/data/earlier`` (``test_earlier_data`` says what they are).
"""

import lzma
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from tests.infrastructure.earlier_rows import APART, FIRST, TOGETHER
from tests.shared import ROOT

pytestmark = [pytest.mark.both_databases, pytest.mark.processes, pytest.mark.django_db(transaction=True)]

ROWS = '[[0,-1,"","","",1,2.5,null,null,[],[],0.0]]'
BACKUP = "restore the backup that was made before the update."


def run(url: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )


def done(url: str, *words: str) -> str:
    """Run a program that has to end well; return what it said."""
    ended = run(url, *words)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def migrate(url: str, *to: str) -> None:
    done(url, "manage.py", "migrate", *to, "--no-input", "--verbosity=0")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[str]:
    """The address of a database at 0002 with the rows of then."""
    old = tmp_path / "old.sqlite3"
    old.write_bytes(lzma.decompress((ROOT / "tests/data/earlier/0002.sqlite3.xz").read_bytes()))
    if connection.vendor == "sqlite":
        yield f"sqlite:///{old}"
        return
    name, server = f"earlier_{os.getpid()}", os.environ["DATABASE_URL"]
    with psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}")
        url = server.replace("@/postgres", f"@/{name}")
        migrate(url, "reviews", FIRST)
        done(url, "-m", "tests.infrastructure.earlier_rows", "copy", str(old))
        yield url
        owner.execute(f"DROP DATABASE {name} WITH (FORCE)")


def told(url: str, migration: str) -> list[str]:
    return done(url, "-m", "tests.infrastructure.earlier_rows", "told", migration).splitlines()


def test_rows_of_the_first_version_are_brought_to_the_newest(database: str) -> None:
    migrate(database)
    assert "lab: 19 entries hold" in done(database, "manage.py", "verify_audit")


def test_observations_of_one_collector_go_back_and_forth(database: str) -> None:
    migrate(database, "reviews", APART)
    done(database, "-m", "tests.infrastructure.earlier_rows", "observe", "node-a")
    migrate(database, "reviews", "0024_collectors_apart")
    # 0023 keeps diagnoses, which only grow, so it is where the way back ends.
    migrate(database, "reviews", TOGETHER)
    assert told(database, TOGETHER) == [f"day 21 {ROWS}", f"hour 22 {ROWS}", "1"]
    migrate(database)
    assert told(database, APART) == [f'day 21 [["",{ROWS}]]', f'hour 22 [["",{ROWS}]]', "apart"]


def test_observations_of_several_collectors_do_not_go_back_and_nothing_is_lost(database: str) -> None:
    migrate(database, "reviews", APART)
    done(database, "-m", "tests.infrastructure.earlier_rows", "observe", "node-a", "node-b")
    before = told(database, APART)
    refused = run(database, "manage.py", "migrate", "reviews", TOGETHER, "--no-input")
    assert (refused.returncode, "Several collectors report on one topology" in refused.stderr) == (1, True)
    assert BACKUP in refused.stderr
    assert told(database, APART) == before


def test_tables_that_only_grow_are_not_taken_back(database: str) -> None:
    migrate(database)
    refused = run(database, "manage.py", "migrate", "reviews", APART, "--no-input")
    assert refused.returncode == 1
    assert f"Tables that only grow are not dropped, so there is no way back by `migrate`: {BACKUP}" in refused.stderr
    assert "lab: 19 entries hold" in done(database, "manage.py", "verify_audit")
