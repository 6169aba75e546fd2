"""Start the processes of the embedded default, watch them, and stop all of them together.

Kept rules: every child leads a session of its own, so that a Ctrl-C in the terminal reaches this process alone and
the order of stopping is ours; a child is asked to stop by a signal to its leader only (a signal to the whole group
would kill a worker's pool in the middle of a plan); whatever is left of its group afterwards is killed. When one
child ends by itself, the others are stopped as well: half an application looks alive and answers nothing.

Not handled: restarting. Whoever needs that runs the processes under a service manager, as the operator guide says.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

STOP_SECONDS = 15.0
POLL_SECONDS = 0.1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Child:
    """A supervised process and the file that holds what it said."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path


class StopAsked(Exception):  # noqa: N818 # it is news, not an error
    """A signal asked to stop."""


class Supervisor:
    """The children in the order of their start. Use as a context manager: leaving it stops them all."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.children: list[Child] = []
        self.signals = 0

    def __enter__(self) -> "Supervisor":
        for number in STOP_SIGNALS:
            signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        while self.children:
            self._stop(self.children.pop())

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program; what it says goes to ``<logs>/<name>.log``, which starts anew."""
        path = self.logs / f"{name}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                list(command),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.children.append(Child(name, process, path))

    def adopt(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        """Take over a process that leads its own session."""
        self.children.append(Child(name, process, log))

    def go_on(self) -> None:
        """Between two steps of a start.

        Raises:
            StopAsked: a signal came.
        """
        if self.signals:
            raise StopAsked

    def ended(self) -> Child | None:
        """Return a child that has ended by itself, if any.

        Raises:
            StopAsked: a signal came.
        """
        self.go_on()
        return next((child for child in self.children if child.process.poll() is not None), None)

    def watch(self) -> Child:
        """Wait until a child ends by itself and return it.

        Raises:
            StopAsked: a signal came first.
        """
        while (child := self.ended()) is None:
            time.sleep(POLL_SECONDS)
        return child

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signals += 1

    def _stop(self, child: Child) -> None:
        """Ask the leader, wait, then kill what is left of the group. A second signal ends the waiting."""
        patience = time.monotonic() + STOP_SECONDS
        child.process.terminate()
        while child.process.poll() is None and time.monotonic() < patience and self.signals < 2:
            time.sleep(POLL_SECONDS / 5)
        # Nothing of the group may be left; macOS reports a group of zombies as forbidden.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()
