"""The cast of the review tests, with tokens, and the API's cache of counted requests emptied."""

import pytest
from django.core.cache import caches

from tests.api.asking import Caller, caller
from tests.reviews.factories import Cast


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """Throttles count in memory, which outlives a test."""
    caches["process"].clear()


@pytest.fixture
def alice(people: Cast) -> Caller:
    """The author, with a token that submits."""
    return caller(people, people.alice, "submit")


@pytest.fixture
def bob(people: Cast) -> Caller:
    """A member, with a token that reads."""
    return caller(people, people.bob, "read")
