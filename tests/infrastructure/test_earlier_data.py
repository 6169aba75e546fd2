"""A database that the first version wrote goes on: migrated, its log verifies, and new entries continue it.

``tests/data/earlier/0002.sqlite3.xz`` was written by the code whose last migration was 0002: a workspace with five
members, a decision with two revisions, sign-offs, one taken back and one refused.
"""

import lzma
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.shared import ROOT

pytestmark = pytest.mark.processes

HEAD = "sha256:b7cfa5d8ce92cd980aaf82dd3c37bf5f08635c797babbb3d57b4f5eef5fe6adf"


def manage(database: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": f"sqlite:///{database}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def asked(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def test_what_the_first_version_wrote_is_migrated_and_its_log_goes_on(tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite3"
    database.write_bytes(lzma.decompress((ROOT / "tests/data/earlier/0002.sqlite3.xz").read_bytes()))
    before = asked(database, "SELECT seq, sha256, data FROM reviews_auditentry ORDER BY seq")
    manage(database, "migrate", "--no-input", "--verbosity=0")
    assert asked(database, "SELECT seq, sha256, data FROM reviews_auditentry ORDER BY seq") == before
    said = manage(database, "after_restore").splitlines()
    assert said[1].startswith(f"lab: 19 entries, head {HEAD}; not checked against any saved checkpoint")
    assert said[-1] == "lab: restored, entry 19"
    assert "lab: 20 entries hold" in manage(database, "verify_audit")
    assert asked(database, "SELECT state, model_name FROM reviews_decision") == [("IN_REVIEW", "own/dense-8b")]
    teams = "SELECT team, is_touched FROM reviews_teamscope ORDER BY basis_id, team"
    assert asked(database, teams) == [("networking", 1), ("serving", 1)] * 2
    assert asked(database, "SELECT count(*) FROM reviews_signoff") == [(3,)]
