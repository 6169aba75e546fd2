"""Rules 12 and 17: another review on request, and reproducing a plan."""

from typing import Any

import pytest

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, TamperedError
from reviews.models import Blob, Membership, Reproduction, Revision
from reviews.selectors.log import history_rows
from reviews.services.people import Trace
from reviews.services.re_reviews import re_review_ask
from reviews.services.reproductions import revision_reproduce
from tests.plugins.append_only import lifted
from tests.reviews.factories import PROVEN, Cast, last_entry, planned, sign, statuses
from tests.reviews.rules.test_rule_03_carry import pair

pytestmark = pytest.mark.django_db

TRACE = Trace("req-5", PROVEN)


def ask(people: Cast, who: str = "alice", **changes: Any) -> Any:
    request: dict[str, Any] = {
        "actor": getattr(people, who),
        "workspace": people.workspace,
        "number": 1,
        "teams": ["serving"],
    }
    return re_review_ask(**(request | {"reason": "The driver changed.", "trace": TRACE} | changes))


def test_another_review_voids_carried_signoffs_too(people: Cast) -> None:
    first = planned(people, pair=pair())
    sign(people, first)
    second = planned(people, pair=pair(note="another owner"), decision=first.decision)
    assert statuses(people) == [("CARRIED", "", ())]
    ask(people)
    assert statuses(people) == [("VOID", "RE_REVIEW_REQUESTED", ())]
    assert (last_entry(people)["action"], last_entry(people)["payload"]) == ("re_review.asked", {"teams": ["serving"]})
    sign(people, second)
    assert statuses(people)[0] == ("CURRENT", "", ())


def test_a_request_stands_in_the_timeline_with_who_asked_whom_and_why(people: Cast) -> None:
    sign(people, planned(people))
    ask(people)
    newest = history_rows(actor=people.bob, workspace=people.workspace, number=1)[0]
    assert (newest.action, newest.who, newest.reason) == ("re_review.asked", "Alice", "The driver changed.")
    assert newest.payload == {"teams": ["serving"]}


def test_the_same_request_again_changes_nothing_until_somebody_signed(people: Cast) -> None:
    revision = planned(people)
    first = ask(people, teams=["serving", "networking"])
    assert ask(people, teams=["serving", "networking"]) == first
    sign(people, revision)
    assert ask(people, teams=["serving"]) != first[1:]
    assert statuses(people) == [("VOID", "RE_REVIEW_REQUESTED", ())]


def test_an_author_who_only_reads_now_asks_for_nothing(people: Cast) -> None:
    planned(people)
    Membership.objects.filter(person=people.alice).update(role="auditor")
    with pytest.raises(NotAllowedError, match="Your role is auditor"):
        ask(people)


def test_a_team_asks_itself_and_nobody_else_asks(people: Cast) -> None:
    planned(people)
    assert ask(people, "bob")[0].team.slug == "serving"
    with pytest.raises(NotAllowedError, match="by an author of the decision, or by the team itself"):
        ask(people, "carol")
    with pytest.raises(InvalidRequestError, match="teams: expected teams of the policy"):
        ask(people, teams=["finance"])


def reproduce(people: Cast, who: str = "bob") -> Reproduction:
    actor = getattr(people, who)
    return revision_reproduce(actor=actor, workspace=people.workspace, number=1, revision=1, trace=TRACE)


def test_a_reproduction_by_somebody_else_is_an_entry(people: Cast) -> None:
    revision = planned(people)
    made = reproduce(people)
    assert (made.is_same, made.plan_id) == (True, revision.planned.plan.plan_id)
    entry = last_entry(people)
    assert (entry["action"], entry["reason"]) == ("revision.reproduced", "Reproduced, same plan id.")


def test_an_author_reproduces_nothing(people: Cast) -> None:
    planned(people)
    with pytest.raises(NotAllowedError, match="Somebody else reproduces it"):
        reproduce(people, "alice")
    assert last_entry(people)["action"] == "reproduction.refused"


def test_an_auditor_writes_no_reproduction_and_is_told_how_to_plan_again(people: Cast) -> None:
    planned(people)
    with pytest.raises(NotAllowedError, match="Auditors write nothing: plan the downloaded files with `topogate plan`"):
        reproduce(people, "audrey")
    assert (last_entry(people)["action"], Reproduction.objects.count()) == ("reproduction.refused", 0)


def test_changed_bytes_are_not_reproduced(people: Cast) -> None:
    revision = planned(people)
    with lifted():
        Blob.objects.filter(pk=revision.evidence.blob_id).update(data=b"{}")
    with pytest.raises(TamperedError, match="The stored evidence is not what was uploaded"):
        reproduce(people)


def test_another_planner_version_reproduces_nothing(people: Cast) -> None:
    revision = planned(people)
    with lifted():
        Revision.objects.filter(pk=revision.pk).update(planner_version="0.9.0")
    with pytest.raises(ConflictError, match=r"was planned by planner 0.9.0"):
        reproduce(people)
