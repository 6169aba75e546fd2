"""``make run`` with real processes: what it prints, what then works, and that it leaves nobody behind."""

import signal
import sqlite3
import stat
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.e2e.embedded_run import EmbeddedRun, embedded_run

pytestmark = pytest.mark.processes
PEOPLE = {
    "author",
    "reviewer-serving",
    "reviewer-networking",
    "capacity",
    "incident",
    "admin",
    "second-admin",
    "auditor",
}
PARTS = ("config.run", "unixsocket", "gunicorn", "celery")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests of this file, as one clone has one ``.run``."""
    return tmp_path_factory.mktemp("e") / "run"


def job_states(run: EmbeddedRun) -> set[str]:
    with closing(sqlite3.connect(run.folder / "topogate.sqlite3")) as database:
        return {state for (state,) in database.execute("SELECT state FROM reviews_planjob")}


def answer(run: EmbeddedRun, path: str) -> tuple[int, str]:
    connection = HTTPConnection("localhost", run.port, timeout=10)
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, response.read().decode()


def decisions(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "topogate.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM reviews_decision").fetchone()[0])


def test_first_start_plans_the_examples_and_a_second_keeps_them(folder: Path) -> None:
    with embedded_run(folder) as first:
        begun, *steps = first.said.splitlines()[:6]
        assert begun.startswith(f"Topogate starts. Its data is in {folder}; ")
        assert [line.split(": ")[0] for line in steps] == [f"  {step} of 5" for step in range(1, 6)]
        assert f"http://localhost:{first.port}\n" in first.said
        assert set(first.passwords) == PEOPLE
        assert answer(first, "/health/ready") == (200, "ready\n")
        assert parts_in(first.alive()) == set(PARTS)
        give_up_at = time.monotonic() + 60
        while job_states(first) != {"done"} and time.monotonic() < give_up_at:
            time.sleep(0.1)
        assert job_states(first) == {"done"}
        assert first.interrupt() == 0
        assert first.said.endswith("\nTopogate stops.\n")
    assert exposed(folder) == []
    kept = (decisions(folder), (folder / "secret-key").read_text())
    with embedded_run(folder) as second:
        assert (decisions(folder), (folder / "secret-key").read_text()) == kept
        assert set(second.passwords.values()) & set(first.passwords.values()) == set()
        with pytest.raises(AssertionError) as refused, embedded_run(folder):
            pass
        assert f"it already runs from {folder} as process {second.process.pid}; stop that one first" in str(
            refused.value
        )
        assert second.interrupt(signal.SIGTERM) == 0


def parts_in(commands: list[list[str]]) -> set[str]:
    """Which parts of the application the command lines belong to."""
    return {part for part in PARTS for command in commands if part in " ".join(command)}


def exposed(folder: Path) -> list[Path]:
    """What others than the owner may read, apart from the static files, which everybody may."""
    paths = [folder, *(path for path in folder.rglob("*") if "static" not in path.relative_to(folder).parts)]
    return [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_end_of_one_process_stops_all_and_names_it(folder: Path) -> None:
    with embedded_run(folder) as run:
        run.child("unixsocket").kill()
        assert run.process.wait(40) == 1
        assert "Topogate stops: broker ended by itself (exit code -9). Its last lines:" in run.said
