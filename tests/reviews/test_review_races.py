"""Sign-offs raced against new revisions: none on a superseded one, exact quorum, no double seat, no error.

A short run is part of the suite; ``make races`` runs a thousand sign-offs on both databases.
"""

import os
from collections import Counter
from functools import partial

import pytest

from reviews.errors import ConflictError, ReviewError
from reviews.models import AuditEntry, Decision, Revision, SignOff, SignOffCarry
from reviews.selectors.decision_page import decision_page
from reviews.services.people import seat_give
from reviews.verification import verify
from tests.reviews.factories import Cast, cast, documents, open_all, planned, sign, submitted
from tests.reviews.racing import race

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

ROUNDS = int(os.environ.get("TOPOGATE_RACE_ROUNDS", "6"))
SIGNOFFS = 4
"""Sign-offs in one round; 250 rounds make a thousand."""


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast, committed; bob has a seat in both teams."""
    people = cast()
    seat_give(membership=people.bob.memberships.get(), team="networking")
    return people


def test_raced_signoffs_hold_every_rule(people: Cast) -> None:
    given = refused = 0
    for round_ in range(ROUNDS):
        first = planned(people, pair=documents(tokens=200_000 + 2 * round_))
        signers = ((people.bob, "serving"), (people.dave, "serving"), (people.carol, "networking"))
        for person, team in (*signers, (people.bob, "networking")):
            open_all(first, person, team)
        attempts = [partial(sign, people, first, person, team=team, is_opened=False) for person, team in signers]
        attempts.append(partial(sign, people, first, people.bob, team="networking", is_opened=False))
        newer = documents(tokens=200_001 + 2 * round_)
        results = race([*attempts, partial(submitted, people, pair=newer, decision=first.decision)])
        assert isinstance(results[-1], Revision)
        assert all(isinstance(result, SignOff | ReviewError) for result in results[:-1])
        refused += sum(isinstance(result, ReviewError) for result in results[:-1])
        given += sum(isinstance(result, SignOff) for result in results[:-1])
        require_rules(people, first)
    assert (given + refused, SignOff.objects.count()) == (ROUNDS * SIGNOFFS, given)
    assert not SignOffCarry.objects.exists()
    assert verify(people.workspace).holds


def require_rules(people: Cast, first: Revision) -> None:
    """Hold one decision to the rules, from its log alone and from its page."""
    log = AuditEntry.objects.filter(decision_number=first.decision.number)
    superseded_at = log.get(action="revision.created", revision_number=2).seq
    signed = log.filter(action="signoff.given")
    assert not signed.filter(seq__gt=superseded_at).exists()
    seats = Counter(signed.values_list("actor_token", flat=True))
    assert set(seats.values()) <= {1}
    page = decision_page(actor=people.alice, workspace=people.workspace, number=first.decision.number)
    assert {row.status for row in page.signoffs} <= {"STALE"}
    assert {row.approvals for row in page.requirements} == {0}


def test_raced_approvals_make_the_exact_quorum_and_activation_counts_each_once(people: Cast) -> None:
    for round_ in range(ROUNDS):
        revision = planned(people, pair=documents(tokens=300_000 + round_))
        attempts = [partial(sign, people, revision, people.dave)] * 2
        attempts += [partial(sign, people, revision, people.carol, team="networking")] * 2
        results = race(attempts)
        assert [result for result in results if isinstance(result, ConflictError)] == []
        number = revision.decision.number
        page = decision_page(actor=people.alice, workspace=people.workspace, number=number)
        assert [(row.team, row.approvals, row.status) for row in page.requirements] == [
            ("networking", 1, "SATISFIED"),
            ("serving", 1, "SATISFIED"),
        ]
        assert Decision.objects.get(number=number).revisions.get().signoffs.count() == 2
