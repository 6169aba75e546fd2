"""Django's own check of a production setting finds nothing, and the server refuses to start half configured."""

import os
import subprocess
import sys

import pytest

from tests.shared import ROOT

PRODUCTION = {
    "PUBLIC_URL": "https://topogate.example.org",
    "BEHIND_PROXY": "true",
    "SECRET_KEY": "an-invented-key-that-is-long-enough-for-the-check-0123456789-abcdefghij",
    "DATABASE_URL": "postgres://topogate_app@db.example.org/topogate",
    "REDIS_URL": "redis://broker.example.org:6379/0",
}


def run(*words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **PRODUCTION, **changes}
    environment = {name: value for name, value in environment.items() if value}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_production_settings_pass_every_check() -> None:
    check = run("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert (check.returncode, check.stderr) == (0, "")
    assert check.stdout == "System check identified no issues (0 silenced).\n"


def test_web_server_refuses_to_start_without_a_key() -> None:
    start = run("-c", "import config.wsgi", SECRET_KEY="")
    assert start.returncode == 1
    assert start.stderr.splitlines()[-1].endswith(
        "SECRET_KEY is not set. Expected SECRET_KEY or SECRET_KEY_FILE in the environment."
    )


def test_views_are_loaded_before_the_server_forks() -> None:
    start = run("-c", "import config.wsgi, sys; print('reviews.web.submissions' in sys.modules)")
    assert start.stdout == "True\n", start.stderr


@pytest.mark.parametrize("value", ["topogate.example.org", "ftp://topogate.example.org", "https:"])
def test_public_address_that_is_none_is_named(value: str) -> None:
    start = run("manage.py", "check", PUBLIC_URL=value)
    assert start.returncode == 1
    assert start.stderr.splitlines()[-1].endswith(f"PUBLIC_URL: expected http(s)://host, found {value!r}")
