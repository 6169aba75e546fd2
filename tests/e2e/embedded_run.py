"""Start the embedded default as ``make run`` does, on a port and in a folder of the test's own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.shared import ROOT

START_SECONDS = 120.0
STOP_SECONDS = 40.0
GONE_SECONDS = 20.0
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
        """The generated logins, read from what was printed."""
        return dict(re.findall(r"^([a-z][a-z-]*) +(\S{12,})  ", self.said, re.MULTILINE))

    def alive(self) -> list[list[str]]:
        """The command lines of everything that was started for this folder, by whomever; a zombie counts as gone.

        The folder stands in the environment of each, but for the broker, which overwrites it with its title.
        """
        found, named = [], {str(self.folder), str(self.folder.resolve())}
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                command = process.cmdline()
                if process.environ().get("DATA_DIR") in named or any(name in " ".join(command) for name in named):
                    found.append(command)
        return found

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
    """Start and wait for the address. A test that fails leaves nobody behind, one that passes has to end the run."""
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
        yield run
        wait_until_gone(run)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_printed(run: EmbeddedRun) -> None:
    give_up_at = time.monotonic() + START_SECONDS
    while "Ctrl-C stops it" not in run.said:
        assert run.process.poll() is None, run.said
        assert time.monotonic() < give_up_at, run.said
        time.sleep(0.05)


def wait_until_gone(run: EmbeddedRun) -> None:
    """Whatever has ended a run, nobody of it may be left; the last one killed needs a moment to be."""
    give_up_at = time.monotonic() + GONE_SECONDS
    while alive := run.alive():
        assert time.monotonic() < give_up_at, alive
        time.sleep(0.05)
