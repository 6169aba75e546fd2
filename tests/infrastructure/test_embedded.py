"""What ``make run`` keeps in its folder, and how it answers when it may not start."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from config import embedded
from config.run import StartError, chosen_port, free_addresses
from reviews.models import Person
from reviews.transparency.keys import read_key


def test_folder_is_private_to_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    with embedded.folder_lock(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_second_start_on_one_folder_is_refused_with_the_first_ones_number(tmp_path: Path) -> None:
    with (
        embedded.folder_lock(tmp_path),
        pytest.raises(embedded.FolderInUseError) as refused,
        embedded.folder_lock(tmp_path),
    ):
        pass
    assert str(refused.value) == f"it already runs from {tmp_path} as process {os.getpid()}; stop that one first"


def test_lock_ends_with_its_holder(tmp_path: Path) -> None:
    with embedded.folder_lock(tmp_path):
        pass
    with embedded.folder_lock(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def keys(folder: Path) -> dict[str, str]:
    """Start on a folder and return the keys that it then holds."""
    chosen = embedded.environment(folder, 8000, [])
    return {name: Path(chosen[f"{name}_FILE"]).read_text() for name in ("SECRET_KEY", "LOG_SIGNING_KEY")}


def test_keys_are_made_once(tmp_path: Path) -> None:
    first = keys(tmp_path)
    assert len(first["SECRET_KEY"]) >= 64
    read_key(first["LOG_SIGNING_KEY"])
    assert keys(tmp_path) == first


@pytest.mark.parametrize(("name", "file"), [("SECRET_KEY", "secret-key"), ("LOG_SIGNING_KEY", "log-signing-key")])
def test_a_key_of_the_installation_is_not_replaced(
    name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "of the installation")
    assert f"{name}_FILE" not in embedded.environment(tmp_path, 8000, [])
    assert not (tmp_path / file).exists()


@pytest.mark.parametrize(
    ("said", "chosen"), [pytest.param("", "1209600", id="the demo's"), pytest.param("60", "60", id="one's own")]
)
def test_hosts_of_the_demo_count_until_its_decision_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, chosen: str
) -> None:
    monkeypatch.setenv("IDENTITY_FRESH_SECONDS", said)
    assert embedded.environment(tmp_path, 8000, [])["IDENTITY_FRESH_SECONDS"] == chosen


@pytest.mark.parametrize(("said", "chosen"), [pytest.param("", "3", id="the demo's"), pytest.param("7", "7", id="own")])
def test_what_the_demo_decides_does_not_end_soon_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, chosen: str
) -> None:
    monkeypatch.setenv("EXPIRY_NOTICE_DAYS", said)
    assert embedded.environment(tmp_path, 8000, [])["EXPIRY_NOTICE_DAYS"] == chosen


def test_fingerprint_changes_with_a_static_file(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "app.css"
    file.write_text("a")
    settings.STATICFILES_DIRS = [tmp_path]
    before = embedded.static_fingerprint()
    file.write_text("ab")
    assert embedded.static_fingerprint() != before


@pytest.mark.parametrize("text", ["0", "65536", "80a", "-1", "", "٨٠٠٠"])
def test_port_that_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(StartError) as refused:
        chosen_port(text)
    assert str(refused.value) == f"PORT: expected a number from 1 to 65535, found {text!r}"


def start_refused(environment: dict[str, str]) -> str:
    """Start with the given variables; return what was said on the way to exit code 1."""
    command = [sys.executable, "-m", "config.run"]
    start = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert (start.returncode, start.stderr) == (1, "")
    return start.stdout


def test_busy_port_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = start_refused({"PORT": str(port), "DATA_DIR": str(tmp_path)})
    assert said == f"Topogate did not start: port {port} is in use; choose another: make run PORT=8001\n"


def test_free_port_is_served_on_the_loopback_only() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert set(free_addresses(port)) <= {f"127.0.0.1:{port}", f"[::1]:{port}"}
    assert f"127.0.0.1:{port}" in free_addresses(port)


def test_path_too_long_for_a_socket_is_one_clear_line(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 30)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    path = folder / "broker" / "broker.sock"
    *steps, said = start_refused({"PORT": str(port), "DATA_DIR": str(folder), "REDIS_URL": ""}).splitlines()
    assert (len(steps), steps[-1].strip()) == (2, "1 of 5: broker of the worker's jobs")
    assert said == (
        f"Topogate did not start: the path {path} is too long for a socket; move the project to a shorter path"
    )


@pytest.mark.django_db(transaction=True)
def test_database_with_other_peoples_work_gets_no_demo() -> None:
    call_command("create_workspace", "lab", title="Lab")
    assert embedded.load_demo() == ("This database holds other work. The demo is loaded into an empty database only.\n")
    assert not Person.objects.exists()
