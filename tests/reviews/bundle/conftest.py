"""A key for every test, and people who decided on something."""

from typing import Any

import pytest

from reviews.models import Decision
from reviews.transparency.keys import new_key
from tests.reviews.factories import Cast
from tests.reviews.rules.board import board
from tests.reviews.rules.everything import state_everything
from tests.reviews.rules.test_rule_10_activation import activate, approved


@pytest.fixture(autouse=True)
def key(settings: Any) -> str:
    """A key for this test alone."""
    settings.LOG_SIGNING_KEY = new_key()
    return str(settings.LOG_SIGNING_KEY)


@pytest.fixture
def decided(db: None) -> Cast:
    """A board that did everything once, and put the last decision into force."""
    people = board()
    state_everything(people)
    activate(people, approved(people))
    return people


def in_force() -> Decision:
    """Return the decision that is in force."""
    return Decision.objects.get(state="EFFECTIVE")
