"""Signing, what one reads afterwards, and taking it back."""

import pytest

from reviews.models import Blob, Decision, SignOff, SignOffWithdrawal
from reviews.services.people import policy_set
from tests.plugins.append_only import lifted
from tests.reviews.factories import POLICY, Cast, documents, last_entry, planned, sign
from tests.web.conftest import Visit
from tests.web.test_decision_page import PAGE, posted, text


def panel(page: str) -> str:
    """The sign-off panel of a decision's page."""
    return page.split('id="sign"')[1].split("</section>")[0]


def withdrawal(signoff: SignOff) -> str:
    return f"{PAGE}signoffs/{signoff.pk}/withdraw"


def test_after_signing_the_panel_says_what_was_signed_and_what_is_still_needed(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    client = visit(people.bob)
    client.post(f"{PAGE}sign", posted(client, worked))
    signoff = SignOff.objects.get()
    shown = panel(text(client))
    assert "Signed</h2>" in shown
    assert "You approved r1 for serving" in shown
    assert "Checked memory and tails." in shown
    assert f'data-copy="{signoff.subject}"' in shown
    assert "Networking: 0 of 1 approval given, owed by Carol." in shown
    assert f'href="{withdrawal(signoff)}"' in shown


def test_once_all_have_approved_nothing_is_needed_any_more(worked: Decision, people: Cast, visit: Visit) -> None:
    revision = worked.revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    shown = panel(text(visit(people.carol)))
    assert ("Nothing more is needed: every team approved r1." in shown, "Still needed" in shown) == (True, False)


def test_a_rejection_is_not_shown_as_an_approval(worked: Decision, people: Cast, visit: Visit) -> None:
    sign(people, worked.revisions.get(), meaning="reject")
    shown = panel(text(visit(people.bob)))
    assert ("You rejected r1 for serving" in shown, 'href="#i-pass-o"' in shown) == (True, False)


def test_the_author_reads_first_what_is_asked_and_answers_with_a_revision(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    sign(people, worked.revisions.get(), meaning="request_changes", statement="Measure node-b too.")
    page = text(visit(people.alice))
    strips = page.split('class="strips"')[1].split('id="h-banner"')[0]
    assert "<b>Your turn: Bob requested changes on r1 for serving.</b> “Measure node-b too.”" in strips
    assert 'href="/w/lab/decisions/new?decision=1">New revision</a>' in strips
    requirement = page.split('id="requirements"')[1]
    assert "Changes requested by Bob." in requirement
    assert "Owed by Alice" in requirement
    assert "Changes requested</span>" in page.split("<h1>")[1].split('class="facts"')[0]


def test_the_author_reads_first_that_the_policy_asks_for_a_revision(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    policy_set(workspace=people.workspace, policy=POLICY | {"max_age_s": 3600})
    strips = text(visit(people.alice)).split('class="strips"')[1].split('id="h-banner"')[0]
    assert "<b>Your turn: make a new revision.</b> The policy changed since this revision was made." in strips
    assert 'href="/w/lab/decisions/new?decision=1">New revision</a>' in strips
    assert "Your turn" not in text(visit(people.bob))


def test_who_rejected_owes_nothing_more(worked: Decision, people: Cast, visit: Visit) -> None:
    sign(people, worked.revisions.get(), meaning="reject", statement="Not on these links.")
    page = text(visit(people.bob))
    assert "<b>Bob rejected r1 for serving.</b> “Not on these links.”" in page
    assert "Waiting on the author and networking." in page
    assert "Serving: Rejected by Bob, Alice owes the answer." in panel(page)


def test_a_new_revision_answers_a_rejection(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    sign(people, decision.revisions.get(), meaning="reject")
    planned(people, pair=documents(tokens=200_000), decision=decision)
    page = text(visit(people.bob))
    assert ("Rejected by Bob" in page, "Your turn: serving" in page) == (False, True)


def test_others_see_no_way_to_withdraw_it(worked: Decision, people: Cast, visit: Visit) -> None:
    signoff = sign(people, worked.revisions.get())
    assert withdrawal(signoff) not in text(visit(people.carol))


def test_a_sign_off_that_went_stale_is_said_with_its_reason_above_the_form(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    sign(people, decision.revisions.get())
    planned(people, pair=documents(tokens=200_000), decision=decision)
    shown = panel(text(visit(people.bob)))
    assert "Your turn: serving" in shown
    assert '<b class="struck">You approved r1 for serving</b>' in shown
    assert "Stale: what the team owns changed since r1: throughput × t-1." in shown


def test_the_page_of_a_withdrawal_shows_the_sign_off_and_asks_for_a_reason(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    signoff = sign(people, worked.revisions.get())
    page = text(visit(people.bob), withdrawal(signoff))
    assert "<h1>Withdraw your sign-off</h1>" in page
    assert "You approved r1 for serving" in page
    assert '<textarea class="input input-area" id="reason" name="reason" required' in page
    assert SignOffWithdrawal.objects.count() == 0


def test_a_withdrawal_strikes_the_sign_off_and_asks_the_team_again(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    signoff = sign(people, worked.revisions.get())
    client = visit(people.bob)
    answer = client.post(withdrawal(signoff), {"reason": "The tails were read of another run."})
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}#requirements")
    page = text(client)
    assert "Your turn: serving" in panel(page)
    assert "Withdrawn: “The tails were read of another run.”." in page.split('id="requirements"')[1]
    assert last_entry(people)["action"] == "signoff.withdrawn"


def test_a_withdrawal_without_a_reason_is_refused_on_its_page(worked: Decision, people: Cast, visit: Visit) -> None:
    signoff = sign(people, worked.revisions.get())
    answer = visit(people.bob).post(withdrawal(signoff), {"reason": "  "})
    assert (answer.status_code, SignOffWithdrawal.objects.count()) == (422, 0)
    assert 'role="alert"' in answer.content.decode()


@pytest.mark.parametrize("who", ["alice", "carol", "audrey", "charlie"])
def test_nobody_else_sees_the_page_of_a_withdrawal(who: str, worked: Decision, people: Cast, visit: Visit) -> None:
    signoff = sign(people, worked.revisions.get())
    assert visit(getattr(people, who)).get(withdrawal(signoff)).status_code == 404


@pytest.mark.parametrize(("who", "status"), [("alice", 403), ("carol", 403), ("audrey", 403), ("charlie", 404)])
def test_nobody_else_withdraws_it(who: str, status: int, worked: Decision, people: Cast, visit: Visit) -> None:
    signoff = sign(people, worked.revisions.get())
    answer = visit(getattr(people, who)).post(withdrawal(signoff), {"reason": "Not mine."})
    assert (answer.status_code, SignOffWithdrawal.objects.count()) == (status, 0)


def test_an_attempt_of_another_member_is_recorded(worked: Decision, people: Cast, visit: Visit) -> None:
    signoff = sign(people, worked.revisions.get())
    client = visit(people.carol)
    client.post(withdrawal(signoff), {"reason": "Not mine."})
    assert last_entry(people)["action"] == "signoff.withdrawal_refused"
    assert "Refused: withdrawal by Carol for serving" in text(client)


def test_withdrawing_twice_leaves_one_withdrawal(worked: Decision, people: Cast, visit: Visit) -> None:
    signoff = sign(people, worked.revisions.get())
    client = visit(people.bob)
    answers = [client.post(withdrawal(signoff), {"reason": "A mistake."}).status_code for _ in range(2)]
    assert (answers, SignOffWithdrawal.objects.count()) == ([302, 302], 1)
    assert client.get(withdrawal(signoff)).status_code == 404


@pytest.mark.parametrize("what", ["contract", "plan"])
def test_a_sign_off_on_changed_bytes_is_refused_and_gives_the_statement_back(
    what: str, worked: Decision, people: Cast, visit: Visit
) -> None:
    client, revision = visit(people.bob), worked.revisions.get()
    form = posted(client, worked, statement="Read <all> of it.")
    with lifted():
        changed = revision.contract.blob_id if what == "contract" else revision.planned.plan.blob_id
        Blob.objects.filter(pk=changed).update(data=b"{}")
    answer = client.post(f"{PAGE}sign", form)
    page = answer.content.decode()
    assert (answer.status_code, "What is stored here was changed" in page) == (409, True)
    assert 'readonly aria-describedby="kept-hint">Read &lt;all&gt; of it.</textarea>' in page
    assert (SignOff.objects.count(), last_entry(people)["action"]) == (0, "signoff.refused")


def test_an_agreed_plan_without_a_selection_says_what_to_do_next(people: Cast, visit: Visit) -> None:
    revision = planned(people, pair=documents(tokens=1))
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    page = text(visit(people.alice))
    assert (
        "<b>Not approved.</b> Every team agrees that nothing is selected. "
        "To select a topology, measure what is missing and submit a new revision."
    ) in page
