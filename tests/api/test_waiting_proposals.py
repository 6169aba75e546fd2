"""What the API says of proposals that wait: for whom, until when, what became of them."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.api.asking import problem
from tests.api.test_acts import HERE, SPACE, WHY, browser, post
from tests.reviews import waiting
from tests.reviews.factories import Cast
from tests.reviews.rules.board import board, countersign, propose
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def listed(who: str | Client, query: str = "") -> list[dict[str, Any]]:
    client = browser(who) if isinstance(who, str) else who
    found: list[dict[str, Any]] = client.get(f"{SPACE}/proposals{query}").json()["proposals"]
    return found


def test_a_proposal_says_for_whom_it_waits_until_when_and_where_it_is_confirmed(people: Cast) -> None:
    proposal = waiting.emergency(people)
    (found,) = listed("carol")
    assert (found["waits_on"], found["waits_on_you"], found["state"]) == (["Bob", "Dave"], False, "open")
    assert found["waiting_because"] == "Waits for a second person: Bob or Dave."
    proposed_at, open_until = (datetime.fromisoformat(found[name]) for name in ("proposed_at", "open_until"))
    assert open_until - proposed_at == timedelta(hours=24)
    assert found["page"] == f"http://testserver/w/lab/decisions/1/release/#proposal-{proposal.pk}"
    assert browser("bob").get(f"{HERE}/proposals").json()["proposals"][0]["waits_on_you"] is True


def test_one_asks_for_what_one_can_confirm_alone(people: Cast) -> None:
    waiting.emergency(people)
    waiting.policy(people)
    found = {who: [row["kind"] for row in listed(who, "?waits_on=me")] for who in ("bob", "abel", "ivan", "carol")}
    assert found == {"bob": ["emergency"], "abel": ["policy"], "ivan": [], "carol": []}
    assert len(listed("carol")) == 2


def test_who_else_one_could_ask_for_is_refused(people: Cast) -> None:
    refused = browser("bob").get(f"{SPACE}/proposals?waits_on=dave")
    assert (refused.status_code, "one of me" in str(problem(refused))) == (422, True)


def test_a_proposal_is_declined_with_a_reason_by_who_could_confirm_it(people: Cast) -> None:
    here = f"{SPACE}/proposals/{waiting.emergency(people).pk}"
    assert post("carol", f"{here}/decline", WHY).status_code == 403
    declined = post("bob", f"{here}/decline", WHY)
    assert declined.status_code == 200
    said = {name: declined.json()[name] for name in ("state", "ended_by", "ended_reason", "waits_on", "waits_on_you")}
    assert said == {
        "state": "declined",
        "ended_by": "Bob",
        "ended_reason": WHY["reason"],
        "waits_on": [],
        "waits_on_you": False,
    }
    assert post("dave", f"{here}/confirmation").status_code == 409


def test_a_decision_names_both_persons_of_its_emergency_and_its_waivers(people: Cast) -> None:
    countersign(people, waiting.waiver(people), "erin")
    (waiver,) = browser("bob").get(HERE).json()["waivers"]
    assert (waiver["owner"], waiver["countersigned_by"]) == ("Bob", "Erin")
    body = waiting.EMERGENCY
    countersign(people, propose(people, "emergency", "ivan", body), "bob")
    activation = browser("bob").get(HERE).json()["activation"]
    assert (activation["proposed_by"], activation["person"]) == ("Ivan", "Bob")
