"""People in front of browsers."""

from collections.abc import Callable

import pytest
from django.test import Client

from reviews.models import Person
from tests.reviews.logins import log_in

Visit = Callable[[Person], Client]


@pytest.fixture
def visit() -> Visit:
    """A browser in which a person just logged in with their password; forms need no token."""

    def visit_as(person: Person) -> Client:
        return log_in(Client(enforce_csrf_checks=False), person)

    return visit_as
