"""The suite really runs on what it says it runs on."""

import os
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from config.broker import connect, server_program, start_broker


@pytest.mark.both_databases
@pytest.mark.django_db
def test_suite_runs_on_the_database_it_was_asked_for() -> None:
    assert connection.vendor == os.environ.get("TOPOGATE_TEST_DATABASE", "postgresql")


def test_broker_speaks_the_redis_protocol() -> None:
    client = connect(Path(settings.REDIS_URL.removeprefix("unix://")))
    assert client.ping() is True


def test_broker_writes_no_file_that_a_full_disk_could_stop(tmp_path: Path) -> None:
    """What it holds wakes workers, and nothing else: the queue of record is a table."""
    broker = start_broker(tmp_path)
    with connect(tmp_path / "broker.sock") as client:
        client.set("kept", "yes")
        client.shutdown()
    assert (broker.process.wait(10), [path.name for path in tmp_path.iterdir()]) == (0, [])


def test_killed_broker_starts_anew_on_its_folder(tmp_path: Path) -> None:
    first = start_broker(tmp_path)
    first.process.kill()
    first.process.wait()
    second = start_broker(tmp_path)
    with connect(tmp_path / "broker.sock") as client:
        assert client.ping() is True
    second.process.terminate()
    second.process.wait()


def test_broker_left_by_a_killed_supervisor_is_stopped_first(tmp_path: Path) -> None:
    left = start_broker(tmp_path)
    second = start_broker(tmp_path)
    assert left.process.wait(10) == 0
    second.process.terminate()
    second.process.wait()


def test_installed_redis_server_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "redis-server"
    own.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert server_program() == str(own)
    own.unlink()
    assert server_program().endswith("valkey-server")
