"""Two people act at the same moment, over real connections: one act is done, and the other one reads who did what.

Either may come first. What the log then holds says which did, and what the other one has to read.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from pytest_django.live_server_helper import LiveServer

from reviews.models import AuditEntry, SignOff, TeamSeat
from reviews.services.people import seat_give
from reviews.verification import verify
from tests.e2e.visitor import Page, Visitor
from tests.reviews.factories import Cast, documents, open_all, planned, sign
from tests.reviews.racing import race
from tests.reviews.rules.board import board, someone
from tests.reviews.rules.test_rule_10_activation import approved
from tests.reviews.rules.test_rule_14_threads import about, publish
from tests.web.accounts import PASSWORD
from tests.web.second_acts import waived
from tests.web.test_policy_page import lend
from tests.web.test_release_page import sent

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

DECISION, DELEGATIONS = "/w/lab/decisions/1/", "/w/lab/settings/delegations"
RELEASE, THREAD = f"{DECISION}release/", f"{DECISION}threads/1/"
NOON = r"at [0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2} UTC."


@dataclass(frozen=True, slots=True)
class Click:
    """Somebody sends a form, which stands on ``page`` or else at the path that it is sent to."""

    who: str
    path: str
    form: dict[str, str]
    page: str = ""


Two = Callable[[Cast], tuple[Click, Click]]
Ends = Mapping[tuple[str, ...], str]
"""Entries that may be written, by name -> what one of the two reads then, as an expression."""


def released(*acts: tuple[str, str]) -> Callable[[Cast], tuple[Click, Click]]:
    """Two forms of *Release*: who, and the act."""

    def two(people: Cast) -> tuple[Click, Click]:
        decision = people.workspace.decisions.get()
        one, other = (Click(who, RELEASE, sent(decision, act)) for who, act in acts)
        return one, other

    return two


def after(before: Callable[[Cast], object], two: Two) -> Two:
    def both(people: Cast) -> tuple[Click, Click]:
        before(people)
        return two(people)

    return both


def rejected(people: Cast) -> None:
    revision = planned(people)
    for signer, team in ((people.bob, "serving"), (people.carol, "networking")):
        sign(people, revision, signer, team=team, meaning="reject")


def agreed_on_nothing(people: Cast) -> None:
    revision = planned(people, pair=documents(floor=600))
    for signer, team in ((people.bob, "serving"), (people.carol, "networking")):
        sign(people, revision, signer, team=team)


def taking_back(people: Cast) -> tuple[Click, Click]:
    activating = Click("dave", RELEASE, sent(people.workspace.decisions.get(), "activate"))
    signoff = SignOff.objects.get(person=people.bob)
    return activating, Click("bob", f"{DECISION}signoffs/{signoff.pk}/withdraw", {"reason": "Too early."})


def signing(people: Cast) -> tuple[Click, Click]:
    decision = people.workspace.decisions.get()
    open_all(decision.revisions.get(), people.bob, "serving")
    form = sent(decision, "") | {"team": "serving", "meaning": "approve"}
    return Click("bob", f"{DECISION}sign", form, DECISION), Click("alice", RELEASE, sent(decision, "withdraw"))


def threaded(people: Cast) -> None:
    planned(people)
    publish(people, about(is_blocking=True))
    TeamSeat.objects.filter(membership__person=people.dave).update(is_lead=True)


def on_thread(other: Click) -> Two:
    return lambda people: (Click("bob", THREAD, {"act": "resolve", "text": ""}), other)


def proposed(*others: tuple[str, str]) -> Two:
    """Two answers to one proposal of a waiver that bob made: who, and the act."""

    def two(people: Cast) -> tuple[Click, Click]:
        planned(people)
        seat_give(membership=people.dave.memberships.get(), team="capacity")
        form = waived(people) | {"reason": "Not any more."}
        one, other = (Click(who, RELEASE, {"act": act, **form}) for who, act in others)
        return one, other

    return two


def lending(people: Cast) -> tuple[Click, Click]:
    return Click("bob", DELEGATIONS, lend()), Click("bob", DELEGATIONS, lend(taker="ivan"))


COUNTERSIGNED = "This proposal was carried out already: (Erin|Dave) countersigned it."
CASES: dict[str, tuple[Two, Ends]] = {
    "two put it into force": (
        after(approved, released(("dave", "activate"), ("bob", "activate"))),
        {
            ("activation.refused", "decision.activated"): "D-0001 is effective, not in review. "
            f"(Dave|Bob) put it into force {NOON}"
        },
    ),
    "two reject it": (
        after(rejected, released(("dave", "reject"), ("bob", "reject"))),
        {
            ("decision.rejected", "rejection.refused"): "D-0001 is rejected. It cannot reject now. "
            f"(Dave|Bob) closed it as rejected {NOON}"
        },
    ),
    "two close it": (
        after(agreed_on_nothing, released(("dave", "close"), ("bob", "close"))),
        {
            ("closing.refused", "decision.closed"): "D-0001 is closed without a selection. It cannot close now. "
            f"(Dave|Bob) closed it as such {NOON}"
        },
    ),
    "one puts it into force, its author withdraws it": (
        after(approved, released(("dave", "activate"), ("alice", "withdraw"))),
        {
            ("decision.activated", "withdrawal.refused"): "D-0001 is effective. It cannot withdraw now. "
            f"Dave put it into force {NOON}",
            ("activation.refused", "decision.withdrawn"): "D-0001 is withdrawn, not in review. "
            f"Alice withdrew it {NOON}",
        },
    ),
    "one puts it into force, another takes back what it rests on": (
        after(approved, taking_back),
        {
            (
                "decision.activated",
                "signoff.withdrawal_refused",
            ): "D-0001 rests on this sign-off. Object to it instead.",
            ("activation.refused", "signoff.withdrawn"): "D-0001 r1 is not approved.",
        },
    ),
    "one signs, its author withdraws it": (
        after(planned, signing),
        {
            ("decision.withdrawn", "signoff.given"): "Withdrawn",
            ("decision.withdrawn", "signoff.refused"): f"D-0001 is withdrawn, not in review. Alice withdrew it {NOON}",
        },
    ),
    "two settle a thread": (
        after(threaded, on_thread(Click("dave", THREAD, {"act": "resolve", "text": "Seen by the lead."}))),
        {("thread.resolved",): "Resolved by (Bob|Dave)"},
    ),
    "one settles a thread, another replies": (
        after(threaded, on_thread(Click("alice", THREAD, {"act": "publish", "text": "The steady one."}))),
        {
            ("comments.published", "thread.resolved"): "The steady one.",
            ("comments.refused", "thread.resolved"): "expected an open thread; .*found a resolved one",
        },
    ),
    "two countersign": (
        proposed(("erin", "countersign"), ("dave", "countersign")),
        {("countersignature.refused", "proposal.countersigned", "waiver.granted"): COUNTERSIGNED},
    ),
    "one countersigns, another withdraws": (
        proposed(("erin", "countersign"), ("bob", "withdraw_proposal")),
        {
            ("proposal.countersigned", "proposal.withdrawal_refused", "waiver.granted"): COUNTERSIGNED,
            ("countersignature.refused", "proposal.withdrawn"): "This proposal was withdrawn by Bob.",
        },
    ),
    "a seat is lent to two": (
        lending,
        {("delegation.made", "delegation.refused"): "Your seat in serving is lent for a part of this time already."},
    ),
}


def sender(click: Click, address: str) -> Callable[[], Page]:
    """Log in, open the page, and return what sends its form."""
    person = someone(click.who)
    if not person.has_usable_password():  # another one would end the session of the first click
        person.set_password(PASSWORD)
        person.save()
    visitor = Visitor(address)
    visitor.log_in(person.login, PASSWORD)
    return visitor.filled(click.path, click.form, page=click.page)


def words(page: Page) -> str:
    """What a page says, without its elements."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


@pytest.mark.parametrize("case", CASES)
def test_one_act_is_done_and_the_other_reads_what_happened(
    case: str, transactional_db: None, live_server: LiveServer
) -> None:
    people, (two, ends) = board(), CASES[case]
    clicks = two(people)
    senders = [sender(click, live_server.url) for click in clicks]
    before = AuditEntry.objects.latest("pk").pk
    pages = race(senders)
    written = AuditEntry.objects.filter(pk__gt=before).exclude(action="account.changed")
    actions = tuple(sorted(written.values_list("action", flat=True)))
    assert actions in ends
    assert any(re.search(ends[actions], words(page)) for page in pages), [words(page)[:2000] for page in pages]
    assert verify(people.workspace).holds
