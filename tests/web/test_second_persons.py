"""What waits for a second person, on the pages of those whom it waits for, and of those who wait."""

import re

import pytest
from django.test import Client

from tests.queries import cost
from tests.reviews import waiting
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import board, countersign, propose, someone
from tests.reviews.rules.test_rule_11_validity import SLOT
from tests.stage import Maker
from tests.web.conftest import Visit
from tests.web.reading import read

pytestmark = pytest.mark.django_db

INBOX = "/w/lab/"
HERE = "/w/lab/decisions/1/"
RELEASE = f"{HERE}release/"
POLICY = "/w/lab/settings/policy"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def seconds(client: Client, query: str = "") -> str:
    """The list of what waits for the reader's countersignature; empty where the inbox has none."""
    page = read(client.get(f"{INBOX}{query}"))
    return page.partition('id="seconds"')[2].partition("</section>")[0]


def test_an_emergency_stands_first_in_the_inbox_of_who_can_countersign_it(people: Cast, visit: Visit) -> None:
    proposal = waiting.emergency(people)
    page = read(visit(people.bob).get(INBOX))
    found = page.partition('id="seconds"')[2].partition("</section>")[0]
    assert page.index('id="seconds"') < page.index('id="mine"')
    assert "Ivan proposed it for incident response." in found
    assert "Puts t-1 into force for 24 h, past throughput. Incident INC-7. “The pilot depends on it.”" in found
    assert (re.search(r"open until [^<]+, in 23 h<", found) is not None, "or 1 other person" in found) == (True, True)
    assert f'href="{RELEASE}#proposal-{proposal.pk}"' in found
    assert 'aria-label="2 need you"' in page


@pytest.mark.parametrize("who", ["ivan", "carol", "alice", "audrey", "ada"])
def test_it_stands_in_no_other_inbox(who: str, people: Cast, visit: Visit) -> None:
    waiting.emergency(people)
    assert seconds(visit(someone(who))) == ""


def test_a_change_of_the_policy_leads_to_its_page(people: Cast, visit: Visit) -> None:
    proposal = waiting.policy(people)
    abel = visit(someone("abel"))
    found = seconds(abel)
    assert ("Change of policy" in found, "you alone" in found) == (True, True)
    assert f'href="{POLICY}#proposal-{proposal.pk}"' in found
    assert f'id="proposal-{proposal.pk}"' in abel.get(POLICY).content.decode()


@pytest.mark.parametrize("ends", ["countersign", "decline", "take back", "time", "revision"])
def test_it_leaves_the_inbox_however_it_ends(ends: str, people: Cast, visit: Visit) -> None:
    proposal = waiting.emergency(people)
    dave, form = visit(people.dave), {"proposal": str(proposal.pk), "reason": "No."}
    assert seconds(dave) != ""
    if ends in ("countersign", "decline"):
        assert visit(people.bob).post(RELEASE, form | {"act": ends}).status_code == 302
    elif ends == "take back":
        visit(someone("ivan")).post(RELEASE, form | {"act": "withdraw_proposal"})
    elif ends == "time":
        waiting.older(proposal, hours=24)
    else:
        planned(people, pair=documents(floor=601), decision=people.workspace.decisions.get())
    assert seconds(dave) == ""


def test_filters_do_not_hide_it_and_it_can_be_shown_by_itself(people: Cast, visit: Visit) -> None:
    waiting.emergency(people)
    bob = visit(people.bob)
    assert (seconds(bob, "?q=nothing-such") != "", seconds(bob, "?list=seconds") != "") == (True, True)
    assert seconds(bob, "?list=mine") == ""
    assert ">All lists</a>" in bob.get(f"{INBOX}?list=seconds").content.decode()


def test_more_than_a_list_shows_are_counted_and_led_to(people: Cast, visit: Visit) -> None:
    for number in range(1, 13):
        planned(people, pair=documents(floor=600 + number))
        propose(people, "emergency", "ivan", waiting.EMERGENCY, number=number)
    bob = visit(people.bob)
    assert "Show all 12" in seconds(bob)
    assert seconds(bob, "?list=seconds").count("Countersign</a>") == 12


def test_the_inbox_costs_the_same_however_many_wait(people: Cast, visit: Visit) -> None:
    waiting.emergency(people)
    bob = visit(people.bob)
    before = cost(bob, INBOX)
    for number in range(2, 8):
        planned(people, pair=documents(floor=600 + number))
        propose(people, "emergency", "ivan", waiting.EMERGENCY, number=number)
    assert cost(bob, INBOX) == before


def test_the_decision_and_its_slot_say_for_whom_it_waits(people: Cast, visit: Visit) -> None:
    proposal = waiting.emergency(people)
    for path in (HERE, f"/w/lab/slots/one?slot={SLOT}"):
        for who, word in ((people.bob, "Countersign"), (someone("ivan"), "See it"), (people.audrey, "See it")):
            page = visit(who).get(path, follow=True).content.decode()
            assert "Waits for a second person: Bob or Dave." in page, path
            link = re.search(rf'href="{RELEASE}#proposal-{proposal.pk}">([^<]+)</a>', page)
            assert link is not None, path
            assert link[1] == word


def test_where_nobody_can_the_pages_say_what_to_do_then(people: Cast, visit: Visit) -> None:
    waiting.emergency(people)
    for login in ("bob", "dave"):
        waiting.without_seat(login)
    said = (
        "Waits for a second person, and nobody can be it: it takes another member of Serving who is no author of the "
        "decision. An admin adds one under People, or it is taken back."
    )
    for path in (HERE, RELEASE):
        assert said in visit(someone("ivan")).get(path).content.decode()


def test_the_policy_page_says_who_the_other_admin_is(people: Cast, visit: Visit) -> None:
    waiting.policy(people)
    assert "Waits for a second person: Abel." in visit(someone("ada")).get(POLICY).content.decode()
    waiting.as_auditor("abel")
    page = visit(someone("ada")).get(POLICY).content.decode()
    assert "nobody can be it: it takes another admin." in page


def test_declining_takes_a_reason_and_is_told_on_the_page(people: Cast, visit: Visit) -> None:
    proposal = waiting.emergency(people)
    bob = visit(people.bob)
    form = {"act": "decline", "proposal": str(proposal.pk)}
    assert "Decline</button>" in bob.get(RELEASE).content.decode()
    assert bob.post(RELEASE, form | {"reason": ""}).status_code == 422
    assert bob.post(RELEASE, form | {"reason": "Wait."}).status_code == 302
    assert "Bob declined: emergency, proposed by Ivan: Wait." in visit(people.alice).get(HERE).content.decode()


def test_both_persons_stand_beside_an_emergency_and_in_its_history(people: Cast, visit: Visit) -> None:
    countersign(people, waiting.emergency(people), "bob")
    bob = visit(people.bob)
    assert '<dd class="kv-value">Ivan and Bob, ' in bob.get(RELEASE).content.decode()
    history = bob.get(f"{HERE}history/").content.decode()
    assert "Emergency declared by Ivan and Bob" in history
    assert "Bob countersigned: emergency, proposed by Ivan" in history


def test_both_persons_stand_beside_a_waiver(people: Cast, visit: Visit) -> None:
    countersign(people, waiting.waiver(people), "erin")
    page = visit(people.bob).get(RELEASE).content.decode()
    assert "UTC, Bob and Erin: The pilot depends on it." in page
    assert "Waiver granted by Bob and Erin" in visit(people.bob).get(HERE).content.decode()


@pytest.mark.parametrize(
    ("kind", "who", "said"),
    [
        ("revocation", "ivan", "Erin and Ivan revoked the decision"),
        ("rollback", "ivan", "Dave and Ivan rolled the slot back"),
        ("lift_objection", "bob", "Dave and Bob lifted an objection"),
    ],
)
def test_the_trail_names_both_persons(kind: str, who: str, said: str, people: Cast, visit: Visit) -> None:
    countersign(people, waiting.KINDS[kind](people), who)
    assert said in visit(people.alice).get("/w/lab/audit/").content.decode()


def test_both_admins_stand_beside_a_version_of_the_policy(people: Cast, visit: Visit) -> None:
    countersign(people, waiting.policy(people), "abel")
    assert "2, Ada and Abel, " in visit(people.alice).get(POLICY).content.decode()


def test_a_rollback_names_both_on_its_release(people: Cast, visit: Visit) -> None:
    countersign(people, waiting.rollback(people), "ivan")
    page = visit(people.alice).get("/w/lab/decisions/3/release/").content.decode()
    assert '<dd class="kv-value">Dave and Ivan, ' in page
