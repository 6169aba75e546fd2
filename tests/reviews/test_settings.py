"""What the settings promise: headers on every answer, the deployment check, no start without a secret."""

import os
import socket
import subprocess
import sys
import time
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config.environment import MailServer, hour, mail_server
from tests.shared import ROOT

PRODUCTION = {
    "SECRET_KEY": "x" * 60 + "0123456789",
    "PUBLIC_URL": "https://topogate.example",
    "DATABASE_URL": "sqlite://:memory:",
    "BEHIND_PROXY": "true",
}


def manage(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an operator would: nothing of the tests' own environment."""
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": os.environ.get("DATA_DIR", "/tmp"), **variables}  # noqa: S108
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_the_deployment_check_finds_nothing_on_shipped_settings() -> None:
    done = manage("manage.py", "check", "--deploy", "--fail-level=WARNING", **PRODUCTION)
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (0 silenced).\n"), done.stderr


def test_the_web_server_refuses_to_start_without_a_secret() -> None:
    done = manage("-c", "import config.wsgi", DATABASE_URL="sqlite://:memory:")
    assert "SECRET_KEY is not set" in done.stderr


def test_an_address_that_is_none_is_refused_by_name() -> None:
    done = manage("manage.py", "check", DATABASE_URL="sqlite://:memory:", PUBLIC_URL="localhost:8000")
    assert "PUBLIC_URL: expected http(s)://host, found 'localhost:8000'" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        pytest.param("BEHIND_PROXY", "yess", "expected true or false, found 'yess'", id="no switch"),
        pytest.param("PLAN_LEASE_SECONDS", "3x0", "expected seconds, such as 30 or 0.5, found '3x0'", id="no number"),
        pytest.param("NOTICE_KEEP_DAYS", "0", "expected days, such as 90, found '0'", id="no day"),
        pytest.param("DIGEST_HOUR", "24", "expected an hour from 0 to 23, found '24'", id="no hour"),
        pytest.param(
            "EMAIL_URL", "https://mail.example/", "expected smtp://, smtp+tls:// or smtp+ssl://", id="no mail server"
        ),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused_by_name(name: str, value: str, message: str) -> None:
    done = manage("manage.py", "check", DATABASE_URL="sqlite://:memory:", **{name: value})
    assert f"{name}: {message}" in done.stderr


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", MailServer("", 0, "", "", uses_starttls=False, uses_tls=False), id="none"),
        pytest.param(
            "smtp://mail.example",
            MailServer("mail.example", 25, "", "", uses_starttls=False, uses_tls=False),
            id="plain",
        ),
        pytest.param(
            "smtp+tls://ada%40x:p%2Fw@mail.example",
            MailServer("mail.example", 587, "ada@x", "p/w", uses_starttls=True, uses_tls=False),
            id="STARTTLS with a user",
        ),
        pytest.param(
            "smtp+ssl://u:p@[::1]:4465", MailServer("::1", 4465, "u", "p", uses_starttls=False, uses_tls=True), id="TLS"
        ),
    ],
)
def test_a_mail_server_is_read_from_its_address(text: str, found: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", text)
    assert mail_server("EMAIL_URL") == found


@pytest.mark.parametrize(
    "text",
    ["mail.example", "smtp://", "smtp://mail.example:99999", "smtp://u:secret@mail.example/box", "imap://u:secret@m"],
)
def test_what_is_no_mail_server_is_refused_without_its_password(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", text)
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL: expected smtp://") as refused:
        mail_server("EMAIL_URL")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("text", "found"), [("", 7), ("0", 0), ("07", 7), ("23", 23)])
def test_an_hour_is_read(text: str, found: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIGEST_HOUR", text)
    assert hour("DIGEST_HOUR", 7) == found


@pytest.mark.parametrize("text", ["24", "-1", "7.5", "seven", "007", " 7"])
def test_what_is_no_hour_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIGEST_HOUR", text)
    with pytest.raises(ImproperlyConfigured, match="DIGEST_HOUR: expected an hour from 0 to 23"):
        hour("DIGEST_HOUR", 7)


def test_the_policy_for_content_allows_nothing_inline() -> None:
    assert settings.CONTENT_SECURITY_POLICY["DIRECTIVES"] == {
        "default-src": ["'none'"],
        "base-uri": ["'none'"],
        "connect-src": ["'self'"],
        "font-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "img-src": ["'self'", "data:", "blob:"],
        "manifest-src": ["'self'"],
        "object-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
    }


@pytest.mark.parametrize(
    ("header", "value"),
    [
        pytest.param("X-Content-Type-Options", "nosniff", id="no sniffing"),
        pytest.param("Referrer-Policy", "same-origin", id="referrer"),
        pytest.param("Cross-Origin-Opener-Policy", "same-origin", id="opener"),
        pytest.param("X-Frame-Options", "DENY", id="frames"),
    ],
)
@pytest.mark.parametrize("address", ["/health/live", "/not-there"])
def test_every_answer_carries_the_safe_headers(client: Client, address: str, header: str, value: str) -> None:
    answer = client.get(address)
    assert answer[header] == value
    assert "default-src 'none'" in answer["Content-Security-Policy"]


@pytest.mark.django_db
def test_health_says_alive_and_ready(client: Client) -> None:
    assert (client.get("/health/live").content, client.get("/health/ready").content) == (b"alive\n", b"ready\n")
    assert client.post("/health/ready").status_code == 405


def test_health_says_when_the_database_is_not_reached() -> None:
    ask = "import django; django.setup(); from django.test import Client; print(Client().get('/health/ready'))"
    nowhere = "postgres://nobody@/nothing?host=/nowhere"
    done = manage("-c", ask, DATABASE_URL=nowhere, DJANGO_SETTINGS_MODULE="config.settings", ALLOWED_HOSTS="testserver")
    assert "status_code=503" in done.stdout, done.stderr


def test_health_says_in_time_when_the_database_says_nothing() -> None:
    ask = "import django; django.setup(); from django.test import Client; print(Client().get('/health/ready'))"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nowhere = f"postgres://nobody@127.0.0.1:{silent.getsockname()[1]}/nothing"
        variables = {"DATABASE_URL": nowhere, "DJANGO_SETTINGS_MODULE": "config.settings"}
        began = time.monotonic()
        done = manage("-c", ask, ALLOWED_HOSTS="testserver", **variables)
    assert ("status_code=503" in done.stdout, time.monotonic() - began < 30) == (True, True), done.stderr


def test_a_task_that_is_still_running_is_not_delivered_again() -> None:
    visible_again = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    assert settings.CELERY_TASK_SOFT_TIME_LIMIT < settings.CELERY_TASK_TIME_LIMIT < visible_again
    assert (settings.CELERY_ACCEPT_CONTENT, settings.CELERY_TASK_IGNORE_RESULT) == (["json"], True)


def test_each_environment_file_of_a_secret_is_read(tmp_path: Any) -> None:
    secret = tmp_path / "key"
    secret.write_text("from-a-file-" + "y" * 60)
    done = manage(
        "-c",
        "from config import settings; print(settings.SECRET_KEY[:12], settings.SECRET_KEY_IS_TEMPORARY)",
        SECRET_KEY_FILE=str(secret),
        DATABASE_URL="sqlite://:memory:",
    )
    assert done.stdout == "from-a-file- False\n", done.stderr
