"""Rule 5: authors never count as approvers, two persons at least, one person one seat, nobody is exempt."""

import pytest

from reviews.errors import NotAllowedError
from reviews.models import Person, Role
from reviews.selectors.decision_page import decision_page
from reviews.services.people import member_add, seat_give
from tests.reviews.factories import POLICY, Cast, cast, documents, planned, sign, statuses

pytestmark = pytest.mark.django_db


def become_author(people: Cast, person: Person) -> None:
    member_add(workspace=people.workspace, person=person, role=Role.AUTHOR)


def test_who_made_an_earlier_revision_signs_no_later_one(people: Cast) -> None:
    become_author(people, people.dave)
    first = planned(people, actor=people.dave)
    second = planned(people, pair=documents(tokens=170000), decision=first.decision)
    with pytest.raises(NotAllowedError, match="You made a revision of this decision"):
        sign(people, second, people.dave)


def test_a_signer_who_makes_a_revision_counts_no_more(people: Cast) -> None:
    first = planned(people)
    sign(people, first)
    become_author(people, people.bob)
    planned(people, decision=first.decision, actor=people.bob)
    assert statuses(people) == [("VOID", "SIGNER_BECAME_AUTHOR", ())]


def test_who_uploaded_the_evidence_first_is_an_author_too(people: Cast) -> None:
    become_author(people, people.dave)
    planned(people, actor=people.dave)
    revision = planned(people)
    with pytest.raises(NotAllowedError, match="authors never sign"):
        sign(people, revision, people.dave)


def test_a_superuser_is_not_exempt(people: Cast) -> None:
    Person.objects.filter(pk=people.alice.pk).update(is_superuser=True)
    seat_give(membership=people.alice.memberships.get(), team="serving")
    with pytest.raises(NotAllowedError, match="authors never sign"):
        sign(people, planned(people), Person.objects.get(pk=people.alice.pk))


def test_one_person_fills_one_seat(people: Cast) -> None:
    seat_give(membership=people.bob.memberships.get(), team="networking")
    revision = planned(people)
    sign(people, revision)
    with pytest.raises(NotAllowedError, match="One person fills one team's seat"):
        sign(people, revision, team="networking")


def test_one_person_alone_approves_nothing(db: None) -> None:
    policy = POLICY | {
        "teams": {"serving": {"title": "Serving", "quorum": 1}},
        "identity_owners": {},
        "gate_owners": {},
    }
    people = cast(policy=policy | {"teams": policy["teams"] | {"networking": {"title": "N", "quorum": 0}}})
    sign(people, planned(people))
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert page.approval.because == "1 person approved. At least 2 people have to agree."
