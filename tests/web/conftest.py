"""People in front of browsers, and decisions for them to look at."""

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from reviews.models import Decision, Person
from tests.reviews.factories import Cast, Pair, cast, planned
from tests.reviews.logins import log_in
from tests.shared import ROOT

Visit = Callable[[Person], Client]


@pytest.fixture
def quick_passwords(settings: Settings) -> None:
    """Hash passwords at once; for tests that log in often and are about something else."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def people(db: None) -> Cast:
    """A workspace with alice, bob, carol, dave and audrey; charlie is a stranger."""
    return cast()


@pytest.fixture
def visit() -> Visit:
    """A browser in which a person just logged in with their password; forms need no token."""

    def visit_as(person: Person) -> Client:
        return log_in(Client(enforce_csrf_checks=False), person)

    return visit_as


def example_pair(name: str = "worked") -> Pair:
    """The documents of a shipped example, as they would be uploaded."""
    folder = ROOT / "examples" / name
    return Pair((folder / "contract.json").read_bytes(), (folder / "evidence.json").read_bytes())


@pytest.fixture
def worked(people: Cast) -> Decision:
    """The worked example, planned."""
    return planned(people, pair=example_pair()).decision


@pytest.fixture
def decided(people: Cast) -> Decision:
    """The smallest decision: one device, one trial, planned."""
    return planned(people).decision
