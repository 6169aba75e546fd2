"""Migrate one database for the whole run, and give every process of the run a copy of it.

Migrating takes ten seconds, copying takes none. The first process that needs a database migrates it as a deployment
does; the others wait for it. A copy is kept until the run removes its folder.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.db.backends.base.creation import TEST_DATABASE_PREFIX

from tests.plugins.services import FOLDER
from tests.shared import ROOT

MIGRATED, HALF = "migrated", "half_migrated"


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Let Django take the copy as it lies there."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Lay the copy of this process where Django looks for its test database."""
    test = connection.settings_dict["TEST"]
    test["MIGRATE"] = False
    name = test["NAME"] or f"{TEST_DATABASE_PREFIX}{connection.settings_dict['NAME']}"
    copy = copy_of_file if connection.vendor == "sqlite" else copy_of_database
    with (Path(os.environ[FOLDER]) / "migrating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy(name)


def copy_of_file(name: str) -> None:
    """Copy SQLite's file."""
    source = Path(os.environ[FOLDER]) / MIGRATED
    if not source.exists():
        half = source.with_name(HALF)
        migrate(f"sqlite:///{half}")
        half.rename(source)
    shutil.copyfile(source, name)


def copy_of_database(name: str) -> None:
    """Copy a database of PostgreSQL's, inside its server."""
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url.replace("postgres://", "postgresql://"), autocommit=True) as server:
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [MIGRATED]).fetchone():
            server.execute(f"CREATE DATABASE {HALF}")
            migrate(url.replace("/postgres?", f"/{HALF}?"))
            server.execute(f"ALTER DATABASE {HALF} RENAME TO {MIGRATED}")
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE {MIGRATED}')


def migrate(url: str) -> None:
    """Migrate a database in a process of its own."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DATABASE_URL": url}, check=True)
