"""The policy and delegations on their pages."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.models import Delegation, DelegationEnd, Policy, Proposal
from tests.queries import cost
from tests.reviews.factories import Cast
from tests.reviews.rules.board import BOARD, board, someone
from tests.stage import Maker
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db

POLICY = "/w/lab/settings/policy"
DELEGATIONS = "/w/lab/settings/delegations"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def change(**changes: Any) -> dict[str, str]:
    newest = Policy.objects.order_by("-version")[0]
    form = {"act": "propose", "base": newest.content_id, "reason": "A shorter life.", "proposal": ""}
    return form | {"policy": json.dumps(BOARD | {"max_age_s": 3600}), **changes}


def test_two_admins_change_the_policy_on_its_page(people: Cast, visit: Visit) -> None:
    assert visit(someone("ada")).post(POLICY, change()).status_code == 302
    abel = visit(someone("abel"))
    page = abel.get(POLICY).content.decode()
    assert "Waits for a second person</h2>" in page
    assert "A shorter life." in page
    assert '<dt class="kv-name">/max_age_s</dt><dd class="kv-value">nothing → 3600</dd>' in page
    sent = {"act": "countersign", "proposal": str(Proposal.objects.get().pk)}
    assert abel.post(POLICY, sent).status_code == 302
    assert Policy.objects.count() == 2
    page = abel.get(POLICY).content.decode()
    assert ("version 2" in page, "In force for 1 hour<" in page) == (True, True)


def test_a_proposal_for_another_version_says_so_and_duties_are_shown(people: Cast, visit: Visit) -> None:
    ada, abel = visit(someone("ada")), visit(someone("abel"))
    ada.post(POLICY, change())
    ada.post(POLICY, change(policy=json.dumps(BOARD | {"max_age_s": 7200})))
    abel.post(POLICY, {"act": "countersign", "proposal": str(Proposal.objects.earliest("pk").pk)})
    page = abel.get(POLICY).content.decode()
    assert "It was made for another version of the policy. It is not carried out any more." in page
    assert ("revokes" in page, "Capacity and Incident response" in page) == (True, True)


def test_what_is_no_policy_is_said_and_kept(people: Cast, visit: Visit) -> None:
    answer = visit(someone("ada")).post(POLICY, change(policy="{ my words"))
    page = answer.content.decode()
    assert (answer.status_code, "policy: expected a key in double quotes" in page) == (422, True)
    assert "{ my words</textarea>" in page


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        pytest.param('{"max_age_s": NaN}', "policy/max_age_s: expected a number that JSON has", id="no number"),
        pytest.param('{"schema": "\\ud800"}', "policy/schema: expected text of whole characters", id="half a sign"),
        pytest.param('{"a": 1, "a": 2}', "policy/a: expected each key once", id="a key twice"),
        pytest.param("[" * 5000, "policy: expected nesting of at most 64", id="nested too deep"),
        pytest.param("7", "policy: expected a policy document", id="no object"),
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused_in_words(policy: str, said: str, people: Cast, visit: Visit) -> None:
    answer = visit(someone("ada")).post(POLICY, change(policy=policy))
    assert (answer.status_code, said in answer.content.decode()) == (422, True)


def test_a_member_reads_it_and_the_form_is_off(people: Cast, visit: Visit) -> None:
    page = visit(people.bob).get(POLICY).content.decode()
    assert "Changing people and policy needs the role admin." in page
    assert "Bob, Dave" in page
    assert visit(people.bob).post(POLICY, change()).status_code == 403


def lend(**changes: str) -> dict[str, str]:
    today = timezone.now().date()
    days = {"starts": str(today), "ends": str(today + timedelta(days=7))}
    return {"act": "lend", "team": "serving", "taker": "erin", "reason": "On leave.", "id": ""} | days | changes


def test_a_seat_is_lent_and_taken_back_on_the_page(people: Cast, visit: Visit) -> None:
    bob = visit(people.bob)
    assert bob.post(DELEGATIONS, lend()).status_code == 302
    row = Delegation.objects.get()
    page = bob.get(DELEGATIONS).content.decode()
    assert "On leave." in page
    assert "holds</td>" in page
    assert bob.post(DELEGATIONS, {"act": "end", "id": str(row.pk)}).status_code == 302
    assert DelegationEnd.objects.get().delegation == row


def test_every_day_that_is_none_is_named(people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).post(DELEGATIONS, lend(starts="", ends="soon"))
    said = [
        "starts: expected a day such as 2026-09-20, found nothing.",
        "ends: expected a day such as 2026-09-20, found soon.",
    ]
    assert (answer.status_code, " ".join(said) in answer.content.decode()) == (422, True)


def test_more_lent_seats_and_policies_cost_no_more_queries(people: Cast, visit: Visit) -> None:
    ada = visit(someone("ada"))
    assert visit(people.bob).post(DELEGATIONS, lend()).status_code == 302
    costs = [(cost(ada, DELEGATIONS), cost(ada, POLICY))]
    assert visit(people.dave).post(DELEGATIONS, lend(taker="ivan")).status_code == 302
    ada.post(POLICY, change())
    proposal = {"act": "countersign", "proposal": str(Proposal.objects.get().pk)}
    assert visit(someone("abel")).post(POLICY, proposal).status_code == 302
    costs.append((cost(ada, DELEGATIONS), cost(ada, POLICY)))
    assert costs[0] == costs[1]
