"""Start the embedded default as ``make run`` does, on a port and in a folder of the test's own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.shared import ROOT

START_SECONDS = 120.0
STOP_SECONDS = 40.0
NOT_OURS = (
    "DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SECRET_KEY_FILE",
    "DJANGO_SETTINGS_MODULE",
    "PLAN_ANSWER_SECONDS",
)


@dataclass(frozen=True, slots=True)
class EmbeddedRun:
    """A running start: its process, its address, and everything it has said so far."""

    process: subprocess.Popen[bytes]
    port: int
    folder: Path
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text()

    @property
    def passwords(self) -> dict[str, str]:
        """The one-time logins, read from what was printed."""
        return dict(re.findall(r"^([a-z][a-z-]*) +(\S{12,})  ", self.said, re.MULTILINE))

    def family(self) -> list[psutil.Process]:
        """The process and everything that it has started."""
        own = psutil.Process(self.process.pid)
        return [own, *own.children(recursive=True)]

    def child(self, words: str) -> psutil.Process:
        """The child whose command line holds the words."""
        own = psutil.Process(self.process.pid)
        return next(child for child in own.children() if words in " ".join(child.cmdline()))

    def interrupt(self, how: signal.Signals = signal.SIGINT) -> int:
        """Signal the whole foreground group, as a terminal does; return the exit code."""
        os.killpg(self.process.pid, how)
        return self.process.wait(STOP_SECONDS)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def embedded_run(folder: Path) -> Iterator[EmbeddedRun]:
    """Start and wait for the address; whatever is left at the end is killed."""
    environment = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    port = free_port()
    output = folder.with_suffix(f".{port}.out")
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.run"],
            cwd=ROOT,
            env={**environment, "PORT": str(port), "DATA_DIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    run = EmbeddedRun(process, port, folder, output)
    try:
        wait_until_printed(run)
        family = run.family()
        yield run
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    # Reached when the test has passed: whatever it did to end the run, nobody may be left.
    _, left = psutil.wait_procs(family, timeout=5)
    assert [survivor.cmdline() for survivor in left] == []


def wait_until_printed(run: EmbeddedRun) -> None:
    give_up_at = time.monotonic() + START_SECONDS
    while "Ctrl-C stops it" not in run.said:
        assert run.process.poll() is None, run.said
        assert time.monotonic() < give_up_at, run.said
        time.sleep(0.05)
