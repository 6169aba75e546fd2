"""Start PostgreSQL and a Redis-protocol server before Django reads its settings.

Loaded by ``-p`` from pyproject.toml: pytest-django reads the settings before any conftest is imported, so a conftest
would come too late and the suite would quietly run on SQLite. ``TOPOGATE_TEST_DATABASE=sqlite`` chooses SQLite for
the second pass over the tests that depend on the database. Addresses in the caller's environment are never used:
tests empty what they are given.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import FrameType

import pytest

from config.broker import start_broker
from tests.plugins.postgres import start_postgres

STOP_SECONDS = 20
FOLDER = "TOPOGATE_TEST_FOLDER"
"""The variable that tells every process of the run where the run keeps its files."""


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # the controlling process has started the services and handed the addresses down
    # A terminated pytest would leave the services running; interrupted, it stops them.
    signal.signal(signal.SIGTERM, interrupt)
    folder = Path(tempfile.mkdtemp(prefix="topogate-"))
    early_config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ[FOLDER] = str(folder)
    broker = start_broker(folder / "broker")
    early_config.add_cleanup(lambda: stop(broker.process, signal.SIGTERM))
    os.environ["REDIS_URL"] = broker.url
    # Most tests have no worker that an answer could wait for; those that have one say how long.
    os.environ["PLAN_ANSWER_SECONDS"] = "0"
    if os.environ.get("TOPOGATE_TEST_DATABASE", "postgresql") == "sqlite":
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/test.sqlite3"
        return
    postgres = start_postgres(folder)
    # SIGINT is PostgreSQL's fast shutdown: open sessions are ended instead of waited for.
    early_config.add_cleanup(lambda: stop(postgres.process, signal.SIGINT))
    os.environ["DATABASE_URL"] = postgres.url


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def stop(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    process.send_signal(how)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
