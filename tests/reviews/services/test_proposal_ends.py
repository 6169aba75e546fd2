"""How a proposal ends that is not carried out: declined by a second person, or lapsed; and what may follow."""

import logging
from typing import Any

import pytest

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import Blob, Decision, Emergency, Policy, Proposal, ProposalLapse, ProposalWithdrawal
from reviews.selectors.proposals import proposal_row
from reviews.services.proposal_ends import proposal_decline, proposals_sweep
from reviews.services.proposals import HANDLERS
from tests.plugins.append_only import lifted
from tests.reviews import waiting
from tests.reviews.factories import Cast, documents, last_entry, planned
from tests.reviews.rules.board import TRACE, board, countersign, propose, someone
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def decline(people: Cast, proposal: Proposal, who: str, reason: str = "Wait for the shift.") -> ProposalWithdrawal:
    said: dict[str, Any] = {"actor": someone(who), "workspace": people.workspace, "reason": reason, "trace": TRACE}
    return proposal_decline(HANDLERS, proposal_id=proposal.pk, **said)


def test_who_could_countersign_declines_and_with_that_it_is_over(people: Cast) -> None:
    proposal = waiting.emergency(people)
    first = decline(people, proposal, "bob")
    assert decline(people, proposal, "bob") == first
    found = proposal_row(actor=people.audrey, workspace=people.workspace, proposal_id=proposal.pk)
    assert (found.state, found.ended_by, found.ended_reason) == ("declined", "Bob", "Wait for the shift.")
    with pytest.raises(ConflictError, match="This proposal was declined by Bob"):
        countersign(people, proposal, "dave")
    assert not Emergency.objects.exists()


def test_a_decline_is_one_entry_that_names_both(people: Cast) -> None:
    decline(people, waiting.emergency(people), "bob")
    entry = last_entry(people)
    told = (entry["action"], entry["actor"], entry["meaning"], entry["reason"], entry["payload"]["proposed_by"])
    assert told == ("proposal.declined", people.bob.token, "emergency", "Wait for the shift.", someone("ivan").token)


@pytest.mark.parametrize(
    ("who", "message"),
    [
        pytest.param("ivan", "You proposed this", id="who proposed it"),
        pytest.param("carol", "This takes a member of serving", id="another team"),
        pytest.param("alice", "You are an author of this decision", id="an author"),
    ],
)
def test_nobody_else_declines(who: str, message: str, people: Cast) -> None:
    proposal = waiting.emergency(people)
    with pytest.raises(NotAllowedError, match=message):
        decline(people, proposal, who)
    assert last_entry(people)["action"] == "proposal.decline_refused"
    assert not ProposalWithdrawal.objects.exists()


def test_declining_takes_a_reason(people: Cast) -> None:
    with pytest.raises(InvalidRequestError, match="reason: expected 1 to 4000 characters"):
        decline(people, waiting.emergency(people), "bob", " ")


def test_what_was_declined_is_proposed_anew(people: Cast) -> None:
    proposal = waiting.emergency(people)
    decline(people, proposal, "bob")
    again = propose(people, "emergency", "ivan", waiting.EMERGENCY)
    assert again.pk != proposal.pk
    countersign(people, again, "bob")
    assert Decision.objects.get().state == "EMERGENCY"


def test_what_nobody_countersigned_in_time_lapses_once(people: Cast) -> None:
    proposal = waiting.emergency(people)
    assert proposals_sweep() == 0
    waiting.older(proposal, hours=24)
    assert (proposals_sweep(), proposals_sweep(), ProposalLapse.objects.count()) == (1, 0, 1)
    entry = last_entry(people)
    assert (entry["action"], entry["actor"], entry["decision"]) == ("proposal.lapsed", None, 1)
    assert entry["reason"].startswith("It was open until ")
    with pytest.raises(ConflictError, match=r"This proposal lapsed\. It was open until"):
        countersign(people, proposal, "bob")


def test_what_is_out_of_date_lapses_with_what_moved(people: Cast) -> None:
    waiting.emergency(people)
    planned(people, pair=documents(floor=601), decision=Decision.objects.get())
    assert proposals_sweep() == 1
    assert ProposalLapse.objects.get().because == (
        "It was proposed for an earlier revision. It is not carried out any more."
    )


def test_what_waits_for_a_seat_does_not_lapse(people: Cast) -> None:
    waiting.emergency(people)
    for login in ("bob", "dave"):
        waiting.without_seat(login)
    assert proposals_sweep() == 0


def test_a_workspace_whose_bytes_were_changed_ends_no_sweep(people: Cast, caplog: pytest.LogCaptureFixture) -> None:
    proposal = waiting.emergency(people)
    waiting.older(proposal, hours=24)
    with lifted():
        Blob.objects.filter(pk=Policy.objects.get().blob_id).update(data=b"{}")
    with caplog.at_level(logging.WARNING, "reviews.services.proposal_ends"):
        assert proposals_sweep() == 0
    assert "no proposal of lab lapses: The stored policy is not what was stored" in caplog.text


def test_before_any_sweep_what_is_over_is_neither_countersigned_nor_found_again(people: Cast) -> None:
    proposal = waiting.emergency(people)
    waiting.older(proposal, hours=24)
    with pytest.raises(ConflictError, match=r"This proposal was open until .* Propose it anew"):
        countersign(people, proposal, "bob")
    again = propose(people, "emergency", "ivan", waiting.EMERGENCY)
    assert again.pk != proposal.pk
    assert propose(people, "emergency", "ivan", waiting.EMERGENCY) == again
    countersign(people, again, "bob")
    assert Decision.objects.get().state == "EMERGENCY"
