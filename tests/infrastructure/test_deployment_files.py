"""docker-compose.yml and Dockerfile, read as data: they are not run where no container engine is."""

import os
import re
import runpy
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from config import gunicorn
from reviews.bundle.archive import MOST_BYTES
from reviews.transparency.keys import read_key
from tests.shared import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN = ("migrate", "web", "worker")
LASTING = ("postgres", "broker", "web", "proxy", "worker")
DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
INSTRUCTIONS = [line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]


def instructions(word: str) -> list[str]:
    return [rest for first, rest in INSTRUCTIONS if first == word]


def test_compose_has_proxy_web_worker_database_and_broker() -> None:
    assert set(SERVICES) == {"postgres", "broker", "migrate", "web", "proxy", "worker"}


@pytest.mark.parametrize("name", SERVICES)
def test_service_gains_no_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "network_mode", "pid", "ipc"} & set(service)


@pytest.mark.parametrize("name", LASTING)
def test_service_that_stays_is_watched_and_restarted(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", ["web", "worker"])
def test_process_starts_after_schema_and_broker(name: str) -> None:
    assert SERVICES[name]["depends_on"] == {
        "migrate": {"condition": "service_completed_successfully"},
        "broker": {"condition": "service_healthy"},
    }


def test_only_the_proxy_is_reached_from_outside_and_only_on_the_loopback() -> None:
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "proxy": ["127.0.0.1:${PORT:-8000}:8000"]
    }
    assert {name for name, service in SERVICES.items() if "outside" in service["networks"]} == {"web", "proxy"}
    assert SERVICES["proxy"]["networks"] == ["outside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}


def test_only_the_worker_has_a_way_out_of_its_own_and_database_and_broker_have_none() -> None:
    assert {name for name, service in SERVICES.items() if "egress" in service["networks"]} == {"worker"}
    assert COMPOSE["networks"]["egress"] == {}
    for name in ("postgres", "broker", "migrate"):
        assert SERVICES[name]["networks"] == ["inside"]


def test_web_and_worker_are_told_of_the_mail_server_and_of_webhooks() -> None:
    for name in ("web", "worker"):
        environment = SERVICES[name]["environment"]
        assert environment["EMAIL_URL_FILE"] == "/run/secrets/email_url"
        assert {"EMAIL_FROM", "WEBHOOK_HOSTS"} <= set(environment)
        assert "email_url" in SERVICES[name]["secrets"]
    assert "EMAIL_URL_FILE" not in SERVICES["migrate"]["environment"]


def test_only_the_schema_step_has_the_owners_address() -> None:
    owners = {name for name, service in SERVICES.items() if "database_owner_url" in service.get("secrets", [])}
    assert owners == {"migrate"}
    for name in ("web", "worker"):
        assert SERVICES[name]["environment"]["DATABASE_URL_FILE"] == "/run/secrets/database_app_url"


@pytest.mark.parametrize("name", SERVICES)
def test_secret_comes_from_a_file_that_is_declared(name: str) -> None:
    service = SERVICES[name]
    assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
    for variable, value in service.get("environment", {}).items():
        if re.search("PASSWORD|SECRET|KEY|DATABASE_URL|EMAIL_URL", variable):
            assert variable.endswith("_FILE")
            assert value.removeprefix("/run/secrets/") in service["secrets"]


@pytest.mark.parametrize("name", OWN)
def test_environment_is_read_by_the_settings(name: str) -> None:
    settings = "".join(path.read_text() for path in (ROOT / "config").glob("*.py"))
    for variable in SERVICES[name]["environment"]:
        assert f'"{variable.removesuffix("_FILE")}"' in settings


def test_volumes_are_declared_and_files_exist() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (ROOT / source).is_file() if source.startswith("./") else source in COMPOSE["volumes"]


@pytest.mark.parametrize(
    "image",
    [
        *(service["image"] for service in SERVICES.values() if "build" not in service),
        *(line.split()[0] for line in instructions("FROM")),
    ],
)
def test_image_of_others_is_pinned_to_a_version(image: str) -> None:
    assert re.fullmatch(r"[a-z/]+:\d+\.\d+[\w.-]*", image)


def test_secrets_are_written_once_for_their_owner(tmp_path: Path) -> None:
    write = runpy.run_path(str(ROOT / "deploy" / "make_secrets.py"))["main"]
    folder = tmp_path / "secrets"
    write(folder)
    first = {path.name: path.read_text() for path in folder.iterdir()}
    write(folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == first
    assert set(first) == {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()}
    assert first["database_app_url"] == (
        f"postgres://topogate_app:{first['postgres_app_password']}@postgres:5432/topogate"
    )
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    read_key(first["log_signing_key"])
    assert first["email_url"] == ""


def test_only_the_worker_holds_the_key_that_signs_the_logs() -> None:
    holders = [name for name, service in SERVICES.items() if "log_signing_key" in service.get("secrets", [])]
    assert holders == ["worker"]


def test_secrets_stay_out_of_the_repository_and_of_the_image() -> None:
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert [name for name in allowed if name == "deploy" or "secret" in name] == []


def test_image_holds_only_what_the_build_may_see() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [part for line in instructions("COPY") if "--from" not in line for part in shlex.split(line)[:-1]]
    assert {path for path in copied if not (ROOT / path).exists()} == set()
    assert {path for path in copied if path.split("/")[0] not in allowed and path not in allowed} == set()


def test_image_installs_by_hash_and_runs_as_nobody_special() -> None:
    assert any("--require-hashes --no-deps --only-binary :all:" in line for line in instructions("RUN"))
    assert instructions("USER") == ["10001"]


def test_image_serves_what_the_compose_file_asks_for() -> None:
    assert instructions("CMD") == ['["gunicorn", "--config", "python:config.gunicorn", "config.wsgi"]']
    assert instructions("EXPOSE") == ["8000"]
    assert gunicorn.bind == ["0.0.0.0:8000"]


def test_broker_configuration_refuses_rather_than_forgets() -> None:
    lines = (ROOT / "deploy" / "broker.conf").read_text().splitlines()
    assert {"appendonly yes", "maxmemory-policy noeviction", "dir /data"} <= set(lines)


def test_proxy_takes_bodies_and_answers_whole_and_passes_what_web_takes() -> None:
    said = dict(re.findall(r"^ +(\w+) (.+);$", (ROOT / "deploy" / "nginx.conf").read_text(), re.MULTILINE))
    assert (said["proxy_request_buffering"], said["proxy_buffering"]) == ("on", "on")
    assert (said["proxy_pass"], said["server"]) == ("http://web", "web:8000")
    assert int(said["client_max_body_size"].removesuffix("m")) * 2**20 > settings.MAX_BODY_BYTES
    assert int(said["proxy_max_temp_file_size"].removesuffix("m")) * 2**20 >= MOST_BYTES


def test_application_runs_from_what_the_image_holds(tmp_path: Path) -> None:
    """The build's own steps on a copy of exactly the files that it may see."""
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        source = ROOT / line.removeprefix("!")
        if line.startswith("!") and source.is_dir():
            shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif line.startswith("!"):
            (tmp_path / line[1:]).parent.mkdir(exist_ok=True)
            shutil.copy(source, tmp_path / line[1:])
    environment = {
        "PATH": os.environ["PATH"],
        "DATA_DIR": str(tmp_path / "data"),
        "DATABASE_URL": "sqlite://:memory:",
        "STATIC_COLLECTED": "true",
    }
    for words in (["check"], ["collectstatic", "--no-input", "--verbosity", "0"]):
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "data" / "static" / "staticfiles.json").is_file()
