"""What whoever runs the service is told, with the services there and away."""

import os
import signal
from pathlib import Path

import pytest
from django.db import connections
from django.test import Client
from pytest_django.fixtures import Settings

from config.broker import start_broker


@pytest.fixture
def asked() -> Client:
    return Client()


def answer(asked: Client, path: str) -> tuple[int, str, str]:
    response = asked.get(path)
    return response.status_code, response.content.decode(), response["Cache-Control"]


def test_live_needs_nothing_but_the_process(asked: Client) -> None:
    assert answer(asked, "/health/live") == (200, "alive\n", "no-store")


@pytest.mark.django_db
def test_ready_when_database_and_broker_answer(asked: Client) -> None:
    assert answer(asked, "/health/ready") == (200, "ready\n", "no-store")


@pytest.mark.django_db
def test_ready_without_a_broker_says_that_plans_wait(asked: Client, settings: Settings, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    assert answer(asked, "/health/ready") == (200, "ready, broker not reached: plans wait\n", "no-store")


@pytest.mark.django_db
def test_ready_is_told_in_time_when_the_broker_hangs(asked: Client, settings: Settings, tmp_path: Path) -> None:
    broker = start_broker(tmp_path)
    os.kill(broker.process.pid, signal.SIGSTOP)
    settings.REDIS_URL = broker.url
    assert answer(asked, "/health/ready") == (200, "ready, broker not reached: plans wait\n", "no-store")
    broker.process.kill()
    broker.process.wait()


@pytest.mark.django_db(transaction=True)
def test_unready_when_the_database_is_away(asked: Client) -> None:
    connection = connections["default"]
    connection.close()
    place = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = "no_such_database"
    try:
        assert answer(asked, "/health/ready") == (503, "database not reached\n", "no-store")
    finally:
        connection.close()
        connection.settings_dict["NAME"] = place


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_health_is_only_asked(asked: Client, path: str) -> None:
    assert asked.post(path).status_code == 405
