"""Rule 6: which teams are touched follows from identity keys and gates; each owes its own quorum."""

from typing import Any

import pytest

from reviews.models import Person, Role
from reviews.policies.document import DEFAULT_POLICY
from reviews.selectors.decision_page import decision_page
from reviews.services.people import member_add, seat_give
from tests.reviews.factories import POLICY, Cast, cast, planned

pytestmark = pytest.mark.django_db


def requirements(people: Cast) -> dict[str, tuple[str, int]]:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return {row.team: (row.status, row.quorum) for row in page.requirements}


def policy(**changes: Any) -> dict[str, Any]:
    teams = POLICY["teams"] | {"finance": {"title": "Finance", "quorum": 1}}
    return POLICY | {"teams": teams} | changes


@pytest.mark.parametrize(
    ("changes", "finance"),
    [
        pytest.param({}, "NOT_APPLICABLE", id="owns nothing"),
        pytest.param({"gate_owners": POLICY["gate_owners"] | {"cost": "finance"}}, "NOT_APPLICABLE", id="no such gate"),
        pytest.param(
            {"gate_owners": POLICY["gate_owners"] | {"slo": "finance"}}, "UNSATISFIABLE", id="a declared gate"
        ),
        pytest.param(
            {"identity_owners": POLICY["identity_owners"] | {"/model/layers": "finance"}}, "UNSATISFIABLE", id="a key"
        ),
    ],
)
def test_a_team_is_asked_where_it_owns_a_key_or_a_declared_gate(
    db: None, changes: dict[str, Any], finance: str
) -> None:
    people = cast(policy=policy(**changes))
    planned(people)
    assert requirements(people)["finance"][0] == finance


def test_a_team_that_is_not_touched_says_why(db: None) -> None:
    people = cast(policy=policy())
    planned(people)
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert [row.because for row in page.requirements if row.team == "finance"] == [
        "Owns no identity key of this contract and no gate that it declares."
    ]


def test_the_default_board_of_six_owes_two_of_capacity_and_one_of_each_other_touched_team(db: None) -> None:
    people = cast(policy=DEFAULT_POLICY)
    for at, team in enumerate(("capacity", "capacity", "kernel", "model", "incident-response")):
        person = Person.objects.create_user(f"p-{at}", display_name=f"P{at}")
        seat_give(membership=member_add(workspace=people.workspace, person=person, role=Role.MEMBER), team=team)
    planned(people)
    assert requirements(people) == {
        "capacity": ("UNSATISFIED", 2),
        "incident-response": ("NOT_APPLICABLE", 1),
        "kernel": ("UNSATISFIED", 1),
        "model": ("UNSATISFIED", 1),
        "networking": ("NOT_APPLICABLE", 1),
        "serving": ("UNSATISFIED", 1),
    }
