"""A decision in force that an engine can start: the example of vLLM on two nodes, approved and activated."""

from typing import Any

from reviews.models import Revision
from tests.reviews.factories import Cast, example_pair, planned, sign
from tests.reviews.rules.test_rule_10_activation import activate

EXAMPLE = "dense-two-nodes"


def launchable(people: Cast, **choices: Any) -> Revision:
    """Plan the example and have it signed; nothing is in force yet."""
    revision = planned(people, pair=example_pair(EXAMPLE), **choices)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    return revision


def in_force(people: Cast) -> Revision:
    """Put it into force."""
    revision = launchable(people)
    activate(people, revision)
    return revision
