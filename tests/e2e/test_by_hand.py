"""The installation of the operator guide without containers: PostgreSQL, a Redis-protocol server, two processes.

Every step is the guide's own command. Web and worker run as a role that owns no table.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from config.broker import start_broker
from config.supervisor import Supervisor
from tests.e2e.embedded_run import free_port
from tests.e2e.visitor import Visitor
from tests.shared import ROOT

pytestmark = pytest.mark.processes

PASSWORD = "a long invented password"
EXAMPLE = ROOT / "examples" / "worked"


def manage(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def database() -> Iterator[str]:
    """A database of its own on the suite's server; the address without a user."""
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute("CREATE ROLE topogate_owner LOGIN CREATEROLE")
        connection.execute("CREATE DATABASE by_hand OWNER topogate_owner")
        yield server.replace("postgres@/postgres", "{}@/by_hand")
        connection.execute("DROP DATABASE by_hand WITH (FORCE)")
        connection.execute("DROP ROLE IF EXISTS topogate_app, topogate_owner")


@pytest.fixture
def installation(database: str, tmp_path: Path) -> Iterator[Visitor]:
    port = free_port()
    address = f"http://localhost:{port}"
    broker = start_broker(tmp_path / "broker")
    password_file = tmp_path / "password"
    password_file.write_text(PASSWORD)
    environment = {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "invented-for-this-test-" * 4,
        "PUBLIC_URL": address,
        "REDIS_URL": broker.url,
        "DATABASE_URL": database.format("topogate_owner"),
        "WEB_BIND": f"127.0.0.1:{port}",
    }
    manage(environment, "migrate", "--no-input")
    manage(environment, "grant_app_role", "topogate_app", "--password-file", str(password_file))
    environment["DATABASE_URL"] = database.format("topogate_app")
    manage(environment, "create_workspace", "serving", "--title", "Serving")
    added = manage(environment, "add_member", "serving", "author", "--name", "Author", "--role", "author")
    with Supervisor(logs=tmp_path) as supervisor:
        supervisor.adopt("broker", broker.process, tmp_path / "broker.log")
        web = [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "config.wsgi"]
        worker = [sys.executable, "-m", "celery", "--app", "config", "worker", "--loglevel", "WARNING"]
        supervisor.start("web", web, environment)
        supervisor.start("worker", worker, environment)
        visitor = Visitor(address)
        wait_until(lambda: is_ready(visitor))
        link = urlsplit(added.split()[-1]).path
        assert visitor.post(link, {"password": PASSWORD, "repeated": PASSWORD}).url == f"{address}/login"
        yield visitor
        assert supervisor.ended() is None


def is_ready(visitor: Visitor) -> bool:
    try:
        return visitor.get("/health/ready").status == 200
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.1)


def test_submission_is_planned_by_the_worker(installation: Visitor) -> None:
    inbox = installation.log_in("author", PASSWORD)
    assert inbox.url == f"{installation.address}/w/serving/"
    submitted = installation.upload(
        "/w/serving/decisions/new",
        {"title": "By hand", "act": "submit", "as_of": "2026-09-20T16:00:00Z"},
        {name: (EXAMPLE / name).read_bytes() for name in ("contract.json", "evidence.json")},
    )
    assert submitted.url == f"{installation.address}/w/serving/decisions/1/"
    wait_until(lambda: installation.get("/w/serving/decisions/1/plan.json").status == 200)
    assert "tp4-pp2-ep2-dp1" in installation.get("/w/serving/decisions/1/").text
