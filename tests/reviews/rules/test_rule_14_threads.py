"""Rule 14: threads on one item each, placed on newer revisions, blocking until resolved, published in one act."""

import json
from typing import Any

import pytest

from planner.canonical import content_id
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.facts import Authentication
from reviews.models import Comment, Person, TeamSeat, Thread
from reviews.policies.requirements import Requirement
from reviews.selectors.decision_page import decision_page
from reviews.selectors.threads import ThreadRow, discussion
from reviews.services.comment_checks import Written
from reviews.services.people import Trace
from reviews.services.threads import comments_publish, thread_resolve
from tests.reviews.factories import PROVEN, Cast, Pair, last_entry, planned, sign
from tests.reviews.rules.board import board
from tests.reviews.rules.test_rule_03_carry import pair
from tests.reviews.rules.test_rule_10_activation import activate, approved

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

TRACE = Trace("req-14", PROVEN)
GATE = "t-1~throughput~floor"


def at(people: Cast, who: Person | None = None, **more: Any) -> dict[str, Any]:
    return {"actor": who or people.bob, "workspace": people.workspace, "number": 1, "trace": TRACE} | more


def about(kind: str = "gate", name: str = GATE, **more: Any) -> Written:
    return Written(**{"text": "Which window is this?", "kind": kind, "name": name} | more)


def publish(people: Cast, *comments: Written, who: Person | None = None) -> tuple[Comment, ...]:
    return comments_publish(**at(people, who, comments=comments))


def threads(people: Cast, who: Person | None = None) -> tuple[ThreadRow, ...]:
    return discussion(actor=who or people.bob, workspace=people.workspace, number=1).threads


def requirement(people: Cast, team: str) -> Requirement:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return next(row for row in page.requirements if row.team == team)


def make_lead(person: Person) -> None:
    TeamSeat.objects.filter(membership__person=person).update(is_lead=True)


def with_rank_elsewhere() -> Pair:
    """Another trial beside t-1, which keeps its name and loses its place: its rank stands on another device."""
    found = pair()
    contract, evidence = json.loads(found.contract), json.loads(found.evidence)
    contract["identity"]["hardware"]["devices"]["a1"] = contract["identity"]["hardware"]["devices"]["a0"]
    evidence["contract_content_id"] = content_id(contract)
    evidence["identities"]["run-1"] = contract["identity"]
    evidence["trials"]["t-1"]["rank_map"][0]["device"] = "a1"
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


EVERY_KIND = (
    pytest.param("gate", GATE, "serving", id="gate"),
    pytest.param("trial", "t-1", "", id="trial"),
    pytest.param("rank", "t-1~0", "", id="rank"),
    pytest.param("candidate", "t-1", "", id="candidate"),
    pytest.param("identity", "/hardware/devices/a0/type", "networking", id="identity key"),
    pytest.param("contract", "/gates/throughput/floor/because", "", id="contract field"),
)


@pytest.mark.parametrize(("kind", "name", "team"), EVERY_KIND)
def test_a_thread_is_anchored_to_an_item_by_its_digest(people: Cast, kind: str, name: str, team: str) -> None:
    planned(people)
    publish(people, about(kind, name))
    (row,) = threads(people)
    assert (row.anchor.kind, row.anchor.name, row.team, row.revision) == (kind, name, team, 1)
    assert row.item_sha256 == row.before.digest
    assert (row.place, row.after) == ("SAME", row.before)


CHANGES = (
    pytest.param("gate", GATE, {"tokens": 200000}, "CHANGED", id="another reading"),
    pytest.param("gate", GATE, {"note": "another owner"}, "SAME", id="the same outcome"),
    pytest.param("trial", "t-1", {"tokens": 200000}, "CHANGED", id="another measurement"),
    pytest.param("rank", "t-1~0", {"tokens": 200000}, "SAME", id="a rank in its place"),
    pytest.param("candidate", "t-1", {"trial": "t-2"}, "SAME", id="beside another one"),
    pytest.param("identity", "/hardware/devices/a0/type", {"device": "accel-40g"}, "CHANGED", id="another device"),
    pytest.param("contract", "/owner", {"note": "another owner"}, "CHANGED", id="another owner"),
    pytest.param("contract", "/gates/failure_domain/node_share", {}, "GONE", id="a gate that is declared no more"),
)


@pytest.mark.parametrize(("kind", "name", "changes", "place"), CHANGES)
def test_a_thread_is_placed_on_the_next_revision(
    people: Cast, kind: str, name: str, changes: dict[str, Any], place: str
) -> None:
    gone = {"failure": True} if place == "GONE" else {}
    first = planned(people, pair=pair(**gone))
    publish(people, about(kind, name))
    planned(people, pair=pair(**changes), decision=first.decision)
    (row,) = threads(people)
    assert (row.place, row.revision) == (place, 1)


def test_a_changed_item_is_shown_before_and_after(people: Cast) -> None:
    first = planned(people, pair=pair())
    publish(people, about("identity", "/hardware/devices/a0/type"))
    planned(people, pair=pair(device="accel-40g"), decision=first.decision)
    (row,) = threads(people)
    assert (row.before.value, row.after and row.after.value) == ("accel-80g", "accel-40g")


def test_a_rank_that_moved_is_changed(people: Cast) -> None:
    first = planned(people, pair=pair())
    publish(people, about("rank", "t-1~0"))
    planned(people, pair=with_rank_elsewhere(), decision=first.decision)
    (row,) = threads(people)
    assert (row.place, row.after and row.after.value["device"]) == ("CHANGED", "a1")


def test_a_blocking_thread_blocks_the_requirement_of_its_team_alone(people: Cast) -> None:
    revision = approved(people)
    publish(people, about(is_blocking=True))
    blocked = requirement(people, "serving")
    assert (blocked.status, blocked.owed_by) == ("UNSATISFIED", ("Bob",))
    assert blocked.because == (
        "Thread 1 of Bob on throughput floor of t-1 blocks until Bob or the team's lead resolves it."
    )
    assert blocked.since == Thread.objects.get().opened_at
    assert requirement(people, "networking").status == "SATISFIED"
    with pytest.raises(ConflictError, match="Waiting on serving"):
        activate(people, revision)


def test_it_blocks_on_later_revisions_too_also_where_its_item_is_gone(people: Cast) -> None:
    first = planned(people, pair=pair(failure=True))
    publish(people, about("contract", "/gates/failure_domain/node_share", team="networking", is_blocking=True))
    planned(people, pair=pair(), decision=first.decision)
    assert (threads(people)[0].place, requirement(people, "networking").status) == ("GONE", "UNSATISFIED")


def test_a_thread_that_does_not_block_keeps_no_requirement_open(people: Cast) -> None:
    approved(people)
    publish(people, about())
    assert requirement(people, "serving").status == "SATISFIED"


def test_a_team_that_owes_nothing_is_blocked_all_the_same(db: None) -> None:
    people = board()
    planned(people)
    publish(people, about("trial", "t-1", team="capacity", is_blocking=True))
    assert requirement(people, "capacity").status == "UNSATISFIED"


def test_its_opener_resolves_it_without_a_reason(people: Cast) -> None:
    approved(people)
    publish(people, about(is_blocking=True))
    thread_resolve(**at(people, thread=1))
    entry = last_entry(people)
    assert requirement(people, "serving").status == "SATISFIED"
    assert (entry["action"], entry["team"], entry["reason"]) == ("thread.resolved", "serving", None)
    assert entry["payload"] == {"thread": 1, "blocking": True, "opener": people.bob.token}


def test_the_lead_of_the_blocked_team_resolves_it_with_a_reason(people: Cast) -> None:
    planned(people)
    publish(people, about(is_blocking=True), who=people.carol)
    make_lead(people.dave)
    with pytest.raises(InvalidRequestError, match="reason: expected 1 to 4000 characters"):
        thread_resolve(**at(people, people.dave, thread=1))
    thread_resolve(**at(people, people.dave, thread=1, reason="Answered by r1's notes."))
    (row,) = threads(people)
    assert (row.resolved_by, row.resolved_because, row.blocks) == ("Dave", "Answered by r1's notes.", False)


@pytest.mark.parametrize(
    ("who", "lead", "message"),
    [
        pytest.param("dave", "", "Only its opener resolves a blocking thread, or the lead of serving", id="a member"),
        pytest.param("alice", "", "Only its opener resolves a blocking thread", id="the author"),
        pytest.param("carol", "carol", "Only its opener resolves a blocking thread", id="the lead of another team"),
        pytest.param("audrey", "", "Your role is auditor", id="the auditor"),
    ],
)
def test_nobody_else_resolves_a_blocking_thread_and_the_attempt_is_an_entry(
    people: Cast, who: str, lead: str, message: str
) -> None:
    planned(people)
    publish(people, about(is_blocking=True))
    if lead:
        make_lead(getattr(people, lead))
    with pytest.raises(NotAllowedError, match=message):
        thread_resolve(**at(people, getattr(people, who), thread=1, reason="It is in the way."))
    assert (last_entry(people)["action"], threads(people)[0].blocks) == ("thread.resolution_refused", True)


def test_a_lead_who_is_an_author_lifts_no_block(people: Cast) -> None:
    first = planned(people, pair=pair())
    publish(people, about(is_blocking=True))
    make_lead(people.dave)
    planned(people, pair=pair(note="dave's"), decision=first.decision, actor=as_author(people.dave))
    with pytest.raises(NotAllowedError, match="Its authors lift no block that others set"):
        thread_resolve(**at(people, people.dave, thread=1, reason="Done."))


def as_author(person: Person) -> Person:
    person.memberships.update(role="author")
    return person


def test_a_token_resolves_no_blocking_thread(people: Cast) -> None:
    planned(people)
    publish(people, about(is_blocking=True))
    with pytest.raises(NotAllowedError, match="An API token resolves no blocking thread"):
        thread_resolve(**at(people, thread=1, trace=Trace("req-1", Authentication("token"))))


def test_anybody_who_comments_resolves_what_does_not_block(people: Cast) -> None:
    planned(people)
    publish(people, about())
    assert thread_resolve(**at(people, people.alice, thread=1)) == thread_resolve(**at(people, people.dave, thread=1))
    assert threads(people)[0].resolved_by == "Alice"


def test_what_is_in_force_is_objected_to_not_blocked(people: Cast) -> None:
    activate(people, approved(people))
    with pytest.raises(InvalidRequestError, match="only what is under review is blocked"):
        publish(people, about(is_blocking=True))
    assert publish(people, about())[0].number == 1


def test_signing_is_not_undone_by_a_thread(people: Cast) -> None:
    """A thread never decides whether something was reviewed."""
    signed = sign(people, planned(people))
    publish(people, about(is_blocking=True), who=people.dave)
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert [(row.id, row.status) for row in page.signoffs] == [(signed.pk, "CURRENT")]
