"""The supervisor starts real processes here: what it promises is about processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from config.supervisor import STOP_SIGNALS, StopAsked, Supervisor

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
# Its child ignores SIGTERM and outlives its parent unless the whole group is killed.
PARENT = """
import signal, subprocess, sys, time
child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
process = subprocess.Popen([sys.executable, "-c", child])
print(process.pid, flush=True)
time.sleep(60)
"""
# It says when it was asked to end.
POLITE = """
import signal, sys, time
def end(*_):
    print("end", time.monotonic(), flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _handlers_restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def wait_for(path: Path, text: str) -> str:
    give_up_at = time.monotonic() + 10
    while text not in (said := path.read_text()) and time.monotonic() < give_up_at:
        time.sleep(0.02)
    assert text in said
    return said


def is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def wait_until_gone(pid: int) -> bool:
    give_up_at = time.monotonic() + 10
    while not is_gone(pid) and time.monotonic() < give_up_at:
        time.sleep(0.02)
    return is_gone(pid)


def test_leaving_stops_every_child_last_started_first(tmp_path: Path) -> None:
    with Supervisor(logs=tmp_path) as supervisor:
        for name in ("first", "second"):
            supervisor.start(name, [sys.executable, "-c", POLITE], os.environ)
            wait_for(tmp_path / f"{name}.log", "up")
    ends = {name: float(wait_for(tmp_path / f"{name}.log", "end").split()[-1]) for name in ("first", "second")}
    assert ends["second"] < ends["first"]


def test_grandchild_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    with Supervisor(logs=tmp_path) as supervisor:
        supervisor.start("parent", [sys.executable, "-c", PARENT], os.environ)
        grandchild = int(wait_for(tmp_path / "parent.log", "deaf").split()[0])
        assert not is_gone(grandchild)
    assert wait_until_gone(grandchild)


def test_child_that_ends_is_named_with_its_code(tmp_path: Path) -> None:
    with Supervisor(logs=tmp_path) as supervisor:
        supervisor.start("steady", SLEEPER, os.environ)
        supervisor.start("weak", [sys.executable, "-c", "print('no disk'); raise SystemExit(7)"], os.environ)
        ended = supervisor.watch()
    assert (ended.name, ended.process.returncode, ended.log.read_text()) == ("weak", 7, "no disk\n")


@pytest.mark.parametrize("number", STOP_SIGNALS, ids=lambda number: number.name)
def test_signal_ends_the_watch(tmp_path: Path, number: signal.Signals) -> None:
    with Supervisor(logs=tmp_path) as supervisor:
        supervisor.start("steady", SLEEPER, os.environ)
        os.kill(os.getpid(), number)
        with pytest.raises(StopAsked):
            supervisor.watch()


def test_adopted_process_is_stopped_too(tmp_path: Path) -> None:
    process = subprocess.Popen(SLEEPER, start_new_session=True, stdout=subprocess.DEVNULL)
    with Supervisor(logs=tmp_path) as supervisor:
        supervisor.adopt("own", process, tmp_path / "own.log")
    assert process.returncode == -signal.SIGTERM
