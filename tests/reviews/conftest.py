"""The cast of the review tests."""

import pytest

from tests.reviews.factories import Cast, cast


@pytest.fixture
def people(db: None) -> Cast:
    """A workspace with alice, bob, carol, dave and audrey; charlie is a stranger."""
    return cast()
