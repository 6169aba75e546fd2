"""What the inbox says of a contested decision: who objects in which words, or that its evidence was retracted."""

import pytest
from django.utils import timezone

from reviews.models import CountedTrial, Decision, Person, Revision
from reviews.selectors.in_force import states_now
from reviews.services.identity_reports import identity_report
from reviews.services.retractions import evidence_retract
from tests.reviews.factories import Cast, documents, sign
from tests.reviews.rules.board import TRACE, board
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.reviews.slots import in_force
from tests.stage import Maker
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def stale_list(person: Person, visit: Visit) -> str:
    return visit(person).get("/w/lab/").content.decode().split('id="stale"')[1].split("</section>")[0]


@pytest.mark.parametrize("who", ["alice", "bob", "dave"])
def test_an_objection_is_quoted_to_everyone(who: str, people: Cast, visit: Visit) -> None:
    revision = in_force(people, documents(slot="own/contested"))
    sign(people, revision, people.dave, meaning="object", statement="The fans of node-b fail.")
    said = "Dave objected to r1 for serving. “The fans of node-b fail.” It is contested until that is lifted"
    assert said in stale_list(getattr(people, who), visit)


def retract(people: Cast, revision: Revision) -> None:
    evidence_retract(
        actor=people.bob,
        workspace=people.workspace,
        content_id=revision.evidence.content_id,
        reason="Wrong clock.",
        trace=TRACE,
    )


UNTIL_REVOKED = "It is contested until it is revoked or another one takes over."


def test_where_evidence_was_retracted_no_objection_is_waited_for(people: Cast, visit: Visit) -> None:
    retract(people, in_force(people, documents(slot="own/contested")))
    shown = stale_list(people.bob, visit)
    assert (f"Evidence that it counted was retracted. {UNTIL_REVOKED}" in shown, "lifted" in shown) == (True, False)


def test_an_objection_beside_retracted_evidence_is_quoted_and_lifting_it_is_not_offered(
    people: Cast, visit: Visit
) -> None:
    revision = in_force(people, documents(slot="own/contested"))
    sign(people, revision, people.dave, meaning="object", statement="The fans of node-b fail.")
    retract(people, revision)
    said = f"“The fans of node-b fail.” Evidence that it counted was retracted. {UNTIL_REVOKED}"
    assert said in stale_list(people.bob, visit)


def test_a_retracted_trial_is_why_a_decision_is_contested(people: Cast, visit: Visit) -> None:
    revision = in_force(people, documents(slot="own/contested"))
    trial = CountedTrial.objects.get(activation__revision=revision).content_id
    evidence_retract(actor=people.bob, workspace=people.workspace, content_id=trial, reason="Wrong clock.", trace=TRACE)
    page = visit(people.bob).get("/w/lab/decisions/1/").content.decode()
    assert "Evidence that it counted was retracted." in page


def test_evidence_of_an_earlier_time_in_force_says_nothing_of_this_one(people: Cast) -> None:
    first = in_force(people, documents(slot="own/contested"))
    identity_report(
        actor=people.bob, workspace=people.workspace, slot=first.decision.slot, live={"model": {"revision": "r2"}}
    )
    again = documents(slot="own/contested", tokens=170000)
    activate(people, approved(people, pair=again, decision=Decision.objects.get()))
    retract(people, first)
    sign(people, Revision.objects.latest("pk"), people.dave, meaning="object", statement="The fans fail.")
    decision = Decision.objects.get()
    assert (decision.state, states_now([decision], timezone.now())[decision.pk].because) == ("CONTESTED", "")
