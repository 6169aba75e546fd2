"""Signing over the API: from a seat, with a login and a recent proof, of what was read and opened; never by a token."""

import pytest

from reviews.models import Membership, PointSettlement, Role
from tests.api.asking import caller, problem
from tests.api.test_acts import HERE, SIGNED, SPACE, WHY, browser, post
from tests.reviews.factories import Cast, open_all, planned, sign

pytestmark = pytest.mark.django_db
POINTS = {"conditions": "Rerun at 32k.\n\nWatch the link.", "follow_ups": "Soak for a week."}


def test_a_seat_signs_settles_its_condition_and_takes_it_back(people: Cast) -> None:
    revision = planned(people)
    open_all(revision, people.bob, "serving")
    sent = SIGNED | POINTS | {"meaning": "approve_with_conditions"}
    (given,) = post("bob", f"{HERE}/signoffs", sent, match=revision.planned.subject).json()["signoffs"]
    assert (given["team"], given["meaning"], given["status"]) == ("serving", "approve_with_conditions", "CURRENT")
    assert [(point["kind"], point["text"]) for point in given["points"]] == [
        ("condition", "Rerun at 32k."),
        ("condition", "Watch the link."),
        ("follow_up", "Soak for a week."),
    ]
    settled = post("bob", f"{SPACE}/points/{given['points'][0]['id']}/settlement", {"note": "Reran."}).json()
    assert [point["note"] for point in settled["signoffs"][0]["points"]] == ["Reran.", "", ""]
    taken = post("bob", f"{SPACE}/signoffs/{given['id']}/withdrawal", WHY).json()
    assert taken["signoffs"][0]["status"] == "WITHDRAWN"


def test_an_approval_names_what_was_read_and_rests_on_what_was_opened(people: Cast) -> None:
    revision = planned(people)
    subject = revision.planned.subject
    assert "open" in problem(post("bob", f"{HERE}/signoffs", SIGNED, match=subject))["detail"].lower()
    open_all(revision, people.bob, "serving")
    for match in (None, "sha256:" + "00" * 32):
        assert problem(post("bob", f"{HERE}/signoffs", SIGNED, match=match))["status"] == 409
    assert post("bob", f"{HERE}/signoffs", SIGNED, match=subject).status_code == 200


def test_an_old_proof_does_not_sign(people: Cast) -> None:
    revision = planned(people)
    open_all(revision, people.bob, "serving")
    late = post(browser("bob", age_s=301), f"{HERE}/signoffs", SIGNED, match=revision.planned.subject)
    assert problem(late)["status"] == 403
    assert revision.signoffs.count() == 0


@pytest.mark.parametrize("scope", ["read", "submit"])
def test_no_token_signs_even_of_an_author_with_a_seat(scope: str, people: Cast) -> None:
    revision = planned(people)
    Membership.objects.filter(person=people.dave).update(role=Role.AUTHOR)
    open_all(revision, people.dave, "serving")
    assert problem(caller(people, people.dave, scope).post(f"{HERE}/signoffs", SIGNED))["status"] == 403
    assert revision.signoffs.count() == 0


def test_no_token_settles_or_takes_back(people: Cast) -> None:
    given = sign(people, planned(people), meaning="approve_with_conditions", conditions=("Rerun.",))
    token = caller(people, people.bob, "read")
    for path, sent in (
        (f"points/{given.points.get().pk}/settlement", {"note": "Reran."}),
        (f"signoffs/{given.pk}/withdrawal", WHY),
    ):
        assert problem(token.post(f"{SPACE}/{path}", sent))["status"] == 403
    assert not PointSettlement.objects.exists()
