"""Further revisions of a decision: what is not given is taken over."""

import pytest

from planner.canonical import file_sha256
from reviews.services.revisions import revision_create
from tests.reviews.factories import Cast, documents, planned, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_a_revision_takes_over_from_the_revision_that_was_named(people: Cast) -> None:
    decision = planned(people).decision
    first, other = documents(), documents(floor=600)
    submitted(people, pair=other, decision=decision)
    made = revision_create(
        actor=people.alice,
        workspace=people.workspace,
        number=1,
        contract=None,
        evidence=documents(tokens=170000).evidence,
        as_of=None,
        idempotency_key=None,
        reuse=1,
    )
    assert (made.number, made.contract.file_sha256) == (3, file_sha256(first.contract))
