"""Putting a decision into force, or ending its review, on its page."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from reviews.clock import when
from reviews.models import Activation, Decision, Proposal, Reproduction, ReReview, Retraction, Waiver
from tests.reviews.factories import Cast, documents, planned, sign, submitted
from tests.reviews.logins import prove
from tests.reviews.rules.board import board, countersign, propose, someone
from tests.reviews.rules.test_rule_10_activation import approved
from tests.reviews.rules.test_rule_18_waivers import body as waiver_of
from tests.web.conftest import Visit
from tests.web.test_decision_page import PAGE, text

pytestmark = pytest.mark.django_db

RELEASE = f"{PAGE}release/"


def sent(decision: Decision, act: str, **changes: str) -> dict[str, str]:
    subject = decision.revisions.latest("number").planned.subject
    words = {"statement": "Rolled out.", "reason": "Not needed.", "rollback": "none"}
    return words | {"act": act, "seen_subject": subject} | changes


def test_an_approved_decision_leads_to_its_release_and_is_put_into_force(people: Cast, visit: Visit) -> None:
    decision = approved(people).decision
    client = visit(people.dave)
    assert 'href="release/">Put into force</a>' in text(client)
    assert client.post(RELEASE, sent(decision, "activate")).status_code == 302
    assert Activation.objects.get().statement == "Rolled out."
    page = text(client)
    assert "<b>Effective.</b> tp1-pp1-ep1-dp1 since " in page
    assert "r1 was put into force" in client.get(RELEASE).content.decode()


def test_what_is_in_force_offers_no_act_that_it_refuses(people: Cast, visit: Visit) -> None:
    decision = approved(people).decision
    before = (text(visit(people.alice)), text(visit(people.bob)))
    assert ("New revision" in before[0], "Withdraw this sign-off" in before[1]) == (True, True)
    visit(people.dave).post(RELEASE, sent(decision, "activate"))
    after = (text(visit(people.alice)), text(visit(people.bob)))
    assert ("New revision" in after[0], "Withdraw this sign-off" in after[1]) == (False, False)


def test_what_is_not_approved_says_why_the_form_is_off(decided: Decision, people: Cast, visit: Visit) -> None:
    page = visit(people.bob).get(RELEASE).content.decode()
    activate = page.split('id="activate"')[1].split("</section>")[0]
    assert ("disabled" in activate, "Waiting on networking, serving." in activate) == (True, True)


def test_what_an_act_cannot_do_without_is_required_in_its_form(people: Cast, visit: Visit) -> None:
    decision = approved(people).decision
    client = visit(people.dave)
    activate = client.get(RELEASE).content.decode().split('id="activate"')[1].split("</section>")[0]
    assert 'name="statement" maxlength="4000" required' in activate
    refused = client.post(RELEASE, sent(decision, "activate", statement=" "))
    assert "statement: expected 1 to 4000 characters, found nothing." in refused.content.decode()


def test_a_refused_release_keeps_what_was_typed(decided: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).post(RELEASE, sent(decided, "activate", statement="My words."))
    page = answer.content.decode()
    assert (answer.status_code, "is not approved" in page, "My words.</textarea>" in page) == (409, True, True)


def test_an_old_proof_is_asked_for_again(people: Cast, visit: Visit) -> None:
    decision = approved(people).decision
    client = visit(people.dave)
    prove(client, people.dave, method="password", age_s=301)
    assert client.post(RELEASE, sent(decision, "activate")).status_code == 302
    assert not Activation.objects.exists()


def test_a_form_that_waited_for_a_confirmation_is_open_and_says_that_nothing_is_done(db: None, visit: Visit) -> None:
    revision = planned(people := board(), pair=documents(floor=600))
    client = visit(people.bob)
    prove(client, people.bob, method="password", age_s=301)
    typed = sent(revision.decision, "waiver", gate="t-1:throughput", ends="2100-01-01", reason="The pilot.")
    assert client.post(RELEASE, typed)["Location"].endswith("release%2F%23waiver")
    prove(client, people.bob, method="password", age_s=0)
    form = client.get(RELEASE).content.decode().split('id="waiver"')[1].split("</section>")[0]
    assert ("<details open>" in form, "<b>Not done yet.</b>" in form, "The pilot.</textarea>" in form) == (True,) * 3
    assert "Not done yet" not in client.get(RELEASE).content.decode()


def test_a_decline_that_waited_for_a_confirmation_stands_at_its_proposal(db: None, visit: Visit) -> None:
    planned(people := board(), pair=documents(floor=600))
    proposal = propose(people, "waiver", "bob", waiver_of())
    client = visit(erin := someone("erin"))
    prove(client, erin, method="password", age_s=301)
    asked = client.post(RELEASE, {"act": "decline", "proposal": str(proposal.pk), "reason": "Not this gate."})
    assert asked["Location"].endswith(f"release%2F%23proposal-{proposal.pk}")
    prove(client, erin, method="password", age_s=0)
    part = client.get(RELEASE).content.decode().split(f'id="proposal-{proposal.pk}"')[1].split("</section>")[0]
    assert ("<b>Not done yet.</b>" in part, 'value="Not this gate."' in part) == (True, True)


@pytest.mark.parametrize("act", ["withdraw", "reject", "close"])
def test_a_review_is_ended_on_its_page(act: str, people: Cast, visit: Visit) -> None:
    revision = planned(people, pair=documents(floor=600))
    meaning = "reject" if act == "reject" else "approve"
    for signer, team in ((people.bob, "serving"), (people.carol, "networking")):
        sign(people, revision, signer, team=team, meaning=meaning)
    who = people.alice if act == "withdraw" else people.dave
    assert visit(who).post(RELEASE, sent(revision.decision, act)).status_code == 302
    ended = {"withdraw": "WITHDRAWN", "reject": "REJECTED", "close": "CLOSED"}[act]
    assert Decision.objects.get().state == ended


def test_a_waiver_is_proposed_and_countersigned_on_the_page(db: None, visit: Visit) -> None:
    people = board()
    planned(people, pair=documents(floor=600))
    day = timezone.now().replace(hour=0, minute=0) + timedelta(days=20)
    form = {"act": "waiver", "gate": "t-1:throughput", "ends": f"{day:%Y-%m-%d}", "reason": "The pilot is small."}
    assert visit(people.bob).post(RELEASE, form).status_code == 302
    erin = visit(someone("erin"))
    page = erin.get(RELEASE).content.decode()
    assert "Waits for a second person</h2>" in page
    assert "The pilot is small." in page
    assert f'<dt class="kv-name">ends at</dt><dd class="kv-value">{when(day)} UTC</dd>' in page
    assert re.search(r'<dt class="kv-name">subject</dt><dd class="kv-value">[0-9a-f]{4}…[0-9a-f]{4}</dd>', page)
    assert erin.post(RELEASE, {"act": "countersign", "proposal": str(Proposal.objects.get().pk)}).status_code == 302
    assert Waiver.objects.get().gate == "throughput"
    assert "a gate waived is not a gate passed" in erin.get(RELEASE).content.decode()


def test_an_emergency_is_proposed_and_countersigned_on_the_page(db: None, visit: Visit) -> None:
    people = board()
    planned(people, pair=documents(floor=600))
    form = {"act": "emergency", "trial": "t-1", "incident": "INC-7", "hours": "24", "reason": "Users wait."}
    assert visit(someone("ivan")).post(RELEASE, form | {"failing_gates": "throughput\n"}).status_code == 302
    bob = visit(people.bob)
    assert bob.post(RELEASE, {"act": "countersign", "proposal": str(Proposal.objects.get().pk)}).status_code == 302
    assert Decision.objects.get().state == "EMERGENCY"
    assert "Emergency INC-7</h2>" in bob.get(RELEASE).content.decode()


def test_another_review_is_asked_for_and_a_plan_reproduced_on_the_page(
    decided: Decision, people: Cast, visit: Visit
) -> None:
    form = {"act": "re_review", "teams": ["serving"], "reason": "The driver changed."}
    assert visit(people.alice).post(RELEASE, form).status_code == 302
    assert ReReview.objects.get().team.slug == "serving"
    assert visit(people.bob).post(RELEASE, {"act": "reproduce", "revision": "1"}).status_code == 302
    assert Reproduction.objects.get().is_same


def test_evidence_is_retracted_where_only_another_plan_counted_it(people: Cast, visit: Visit) -> None:
    revision = planned(people)
    submitted(people, as_of="2026-09-22T12:00:00Z")
    page = f"{PAGE.replace('/1/', '/2/')}release/"
    bob = visit(people.bob)
    assert retractable(bob, page) == [revision.evidence.content_id]
    form = {"act": "retract", "content_id": revision.evidence.content_id, "reason": "A cooling fault."}
    assert bob.post(page, form).status_code == 302
    assert Retraction.objects.get().content_id == revision.evidence.content_id


def test_evidence_that_no_plan_counted_is_offered_to_nobody_to_retract(people: Cast, visit: Visit) -> None:
    submitted(people)
    assert retractable(visit(people.bob), RELEASE) == []


def retractable(client: Client, page: str) -> list[str]:
    """Return the content ids that the page offers to retract."""
    _, _, form = client.get(page).content.decode().partition('value="retract"')
    return re.findall(r'<option value="(sha256:[0-9a-f]{64})"', form)


def test_an_act_that_there_is_not_is_not_found(decided: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).post(RELEASE, {"act": "crown"}).status_code == 404


def test_the_matrix_says_waived_and_shows_no_pass(db: None, visit: Visit) -> None:
    people = board()
    planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "waiver", "bob", waiver_of()), "erin")
    page = visit(people.bob).get(f"{PAGE}?cell=t-1~throughput~floor").content.decode()
    cell = page.split('data-key="t-1~throughput~floor"')[1].split("</a>")[0]
    assert ("Fail" in cell, '<span class="c-margin">waived</span>' in cell) == (True, True)
    assert "by Bob and Erin: The pilot depends on it. It is no pass." in page
