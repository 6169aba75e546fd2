"""A form for every act whose address takes several, so that each button of a page is sent once.

Rows as in ``writes``. A row is called by its address and the act.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone

from reviews.models import Delegation, DraftFile, Proposal, SignOff, TeamSeat
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.rules.board import propose
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.web.test_policy_page import change, lend
from tests.web.test_release_page import sent
from tests.web.test_thread_pages import first
from tests.web.writes import Row, Written, browser, decision, draft_of, drafted, writing

Made = Callable[[Cast], tuple[Client, list[Any], Written]]


def released(act: str, who: str, before: Callable[[Cast], dict[str, str] | None], *, number: int = 1) -> Made:
    """A form of the page *Release*; ``before`` brings the decision where the act fits, and may say more fields."""

    def made(people: Cast) -> tuple[Client, list[Any], Written]:
        more = before(people) or {}
        return browser(who), ["lab", number], sent(people.workspace.decisions.get(number=number), act, **more)

    return made


def as_it_is(people: Cast) -> None:
    """Nothing comes before."""


def signed(*, meaning: str, floor: int = 500) -> Callable[[Cast], None]:
    """Let both teams sign the newest revision."""

    def before(people: Cast) -> None:
        revision = planned(people, pair=documents(floor=floor), decision=decision(people))
        for signer, team in ((people.bob, "serving"), (people.carol, "networking")):
            sign(people, revision, signer, team=team, meaning=meaning)

    return before


def in_force(people: Cast) -> None:
    revision = decision(people).revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)


def superseded(people: Cast) -> dict[str, str]:
    in_force(people)
    activate(people, approved(people, pair=documents(tokens=170000)))
    return {"to": "1"}


def contested(people: Cast) -> None:
    in_force(people)
    sign(people, decision(people).revisions.get(), meaning="object")


def objected(people: Cast) -> dict[str, str]:
    sign(people, decision(people).revisions.get(), meaning="object")
    TeamSeat.objects.filter(membership__person=people.dave).update(is_lead=True)
    return {"signoff": str(SignOff.objects.get().pk)}


def failing(people: Cast) -> dict[str, str]:
    planned(people, pair=documents(floor=600), decision=decision(people))
    day = (timezone.now() + timedelta(days=20)).strftime("%Y-%m-%d")
    return {"gate": "t-1:throughput", "ends": day, "trial": "t-1", "incident": "INC-7", "hours": "24"}


def waived(people: Cast) -> dict[str, str]:
    form = failing(people)
    body = {"trial": "t-1", "gate": "throughput", "ends_at": f"{form['ends']}T00:00:00Z"}
    return {"proposal": str(propose(people, "waiver", "bob", body).pk)}


def counted(people: Cast) -> dict[str, str]:
    return {"content_id": decision(people).revisions.get().evidence.content_id}


def of_policy(act: str, who: str) -> Made:
    def made(people: Cast) -> tuple[Client, list[Any], Written]:
        browser("ada").post("/w/lab/settings/policy", change())
        return browser(who), ["lab"], {"act": act, "proposal": str(Proposal.objects.get().pk), "reason": "Too short."}

    return made


def lent(people: Cast) -> tuple[Client, list[Any], Written]:
    bob = browser("bob")
    bob.post("/w/lab/settings/delegations", lend())
    return bob, ["lab"], {"act": "end", "id": str(Delegation.objects.get().pk)}


def resolving(people: Cast) -> tuple[Client, list[Any], Written]:
    bob = browser("bob")
    bob.post("/w/lab/decisions/1/threads/new", first())
    return bob, ["lab", 1, 1], {"text": "", "act": "resolve"}


def deleting_comment(people: Cast) -> tuple[Client, list[Any], Written]:
    return browser("bob"), ["lab", 1, drafted(people).pk], {"act": "delete"}


def deleting_contract(people: Cast) -> tuple[Client, list[Any], Written]:
    alice, where, form = writing(people)
    return alice, where, form | {"act": "delete"}


def removing_file(people: Cast) -> tuple[Client, list[Any], Written]:
    draft = draft_of(people)
    form = {"act": "remove_file", "sha256": DraftFile.objects.get().sha256, "version": draft.version}
    return browser("alice"), ["lab", draft.pk], form


def ending_session(people: Cast) -> tuple[Client, list[Any], Written]:
    other = browser("bob")
    row = UserSession.objects.create(user=people.bob, session_key=other.session.session_key, ip="127.0.0.1")
    return browser("bob"), [row.pk], {}


RELEASES: dict[str, Row] = {
    "withdraw": (released("withdraw", "alice", as_it_is), ("decision.withdrawn",)),
    "reject": (released("reject", "dave", signed(meaning="reject")), ("decision.rejected",)),
    "close": (released("close", "dave", signed(meaning="approve", floor=600)), ("decision.closed",)),
    "re_review": (released("re_review", "alice", lambda people: {"teams": "serving"}), ("re_review.asked",)),
    "reproduce": (released("reproduce", "bob", lambda people: {"revision": "1"}), ("revision.reproduced",)),
    "retract": (released("retract", "erin", counted), ("evidence.retracted",)),
    "waiver": (released("waiver", "bob", failing), ("proposal.made",)),
    "emergency": (
        released("emergency", "ivan", lambda people: {**failing(people), "failing_gates": "throughput"}),
        ("proposal.made",),
    ),
    "lift_objection": (released("lift_objection", "dave", objected), ("proposal.made",)),
    "revocation": (released("revocation", "erin", contested), ("proposal.made",)),
    "rollback": (released("rollback", "dave", superseded, number=2), ("proposal.made",)),
    "countersign": (released("countersign", "erin", waived), ("proposal.countersigned", "waiver.granted")),
    "decline": (released("decline", "erin", waived), ("proposal.declined",)),
    "withdraw_proposal": (released("withdraw_proposal", "bob", waived), ("proposal.withdrawn",)),
}
"""The acts of the page *Release* beside putting into force."""

SECOND_ACTS: dict[str, Row] = {
    **{f"decision-release {act}": row for act, row in RELEASES.items()},
    "policy-detail countersign": (of_policy("countersign", "abel"), ("proposal.countersigned", "policy.set")),
    "policy-detail decline": (of_policy("decline", "abel"), ("proposal.declined",)),
    "policy-detail withdraw_proposal": (of_policy("withdraw_proposal", "ada"), ("proposal.withdrawn",)),
    "delegation-list end": (lent, ("delegation.ended",)),
    "thread-detail resolve": (resolving, ("thread.resolved",)),
    "comment-draft delete": (deleting_comment, ()),
    "contract-draft delete": (deleting_contract, ("draft.deleted",)),
    "builder-files remove_file": (removing_file, ("draft.file_removed",)),
    "session-end own": (ending_session, ()),
}
"""Address and act -> a form of somebody, and the actions of the entries that it writes."""
