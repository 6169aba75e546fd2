"""Rule 4: an objection stays over revisions until its signer lifts it, or the team's lead and a second member."""

import pytest

from reviews.errors import ConflictError
from reviews.models import Person, SignOffCarry, TeamSeat
from reviews.selectors.decision_page import decision_page
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.factories import Cast, documents, planned, sign, statuses

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def blocked(people: Cast) -> str:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return next(row.because for row in page.requirements if row.team == "serving")


def test_an_objection_is_carried_to_a_revision_in_which_everything_changed(people: Cast) -> None:
    first = planned(people)
    sign(people, first, meaning="object")
    second = planned(people, pair=documents(floor=510, tokens=170000), decision=first.decision)
    assert statuses(people) == [("CARRIED", "", ())]
    assert SignOffCarry.objects.get().revision == second
    assert blocked(people) == "Bob objects. It stays until it is lifted."


def test_others_approvals_do_not_outweigh_it(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision, meaning="object")
    sign(people, revision, people.dave)
    assert blocked(people) == "Bob objects. It stays until it is lifted."


def test_it_outlives_the_seat_of_its_signer(people: Cast) -> None:
    sign(people, planned(people), meaning="object")
    TeamSeat.objects.filter(membership__person=people.bob).delete()
    Person.objects.filter(pk=people.bob.pk).update(is_active=False)
    assert blocked(people) == "Bob objects. It stays until it is lifted."


def test_its_signer_lifts_it(people: Cast) -> None:
    signoff = sign(people, planned(people), meaning="object")
    signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Measured since.")
    assert statuses(people) == [("WITHDRAWN", "", ())]
    assert blocked(people) == "0 of 1 approval given."


def test_who_objects_lifts_it_before_approving(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision, meaning="object")
    with pytest.raises(ConflictError, match="Your objection stands over every revision"):
        sign(people, revision)
