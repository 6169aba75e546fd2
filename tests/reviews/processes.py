"""Real workers and brokers for tests, against the database of the running test."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import redis
from django.db import connection

from config.broker import Broker, start_broker
from tests.shared import ROOT

LEASE_SECONDS = 3.0
PATIENCE_SECONDS = 90.0


def database_url() -> str:
    """Return the address of the database that this test uses, for another process."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    return f"postgres://{settings['USER']}@/{settings['NAME']}?host={quote(settings['OPTIONS']['host'], safe='/')}"


def environment(broker_url: str) -> dict[str, str]:
    """Return the environment of a worker whose lease is short, so that tests need not wait long."""
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "REDIS_URL": broker_url,
        "PLAN_LEASE_SECONDS": str(LEASE_SECONDS),
        "PLAN_SWEEP_SECONDS": "0.5",
        "PLAN_REWAKE_SECONDS": "1",
    }


class Servers:
    """Starts processes and ends them, and only them, when the test is over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def broker(self) -> Broker:
        """Start a broker of this test's own; started again, it finds what it had written."""
        broker = start_broker(self.folder / "broker")
        self.processes.append(broker.process)
        return broker

    def worker(self, broker_url: str) -> subprocess.Popen[bytes]:
        """Start a Celery worker with one child, in a process group of its own."""
        number = len(self.processes)
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency=1", "--loglevel=WARNING"]
        command += [f"--hostname=w{number}@test", "--without-gossip", "--without-mingle"]
        with (self.folder / f"worker-{number}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(broker_url),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        """Kill what is still there."""
        for process in self.processes:
            signal_group(process, signal.SIGKILL)
            process.wait()


def signal_group(process: subprocess.Popen[bytes], what: signal.Signals) -> None:
    """Send a signal to a process and everything it started."""
    try:
        os.killpg(process.pid, what)
    except ProcessLookupError:
        return


def kill_worker(process: subprocess.Popen[bytes]) -> None:
    """kill -9, parent and child at once, as a machine that loses power."""
    signal_group(process, signal.SIGKILL)
    process.wait()


def child_of(process: subprocess.Popen[bytes]) -> int:
    """Return the process id of the worker's child that runs tasks."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[0])


def flush(broker: Broker) -> None:
    """Wipe the broker: every message in it is gone."""
    redis.Redis.from_url(broker.url).flushall()


def wait_until(happened: Callable[[], bool], what: str) -> None:
    """Wait for something to become true in the database.

    Raises:
        AssertionError: it did not within PATIENCE_SECONDS.
    """
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < give_up_at, f"waited {PATIENCE_SECONDS:.0f} s for: {what}"
        time.sleep(0.02)
