"""Acts over the API: with a login and a recent proof, by the persons that the rules name, and never by a token."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from planner.canonical import content_id
from planner.times import time_text
from reviews.models import Decision, Delegation, Person, Policy, Proposal, SignOff, Waiver
from tests.api.asking import API, caller, codes, problem
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.logins import log_in
from tests.reviews.rules.board import BOARD, board, someone
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.stage import Maker

pytestmark = pytest.mark.django_db
SPACE = f"{API}/workspaces/lab"
HERE = f"{SPACE}/decisions/1"
SIGNED = {"team": "serving", "meaning": "approve", "statement": "The margins hold.", "rollback": "none"}
WHY = {"reason": "The pilot depends on it."}


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def browser(who: str, *, age_s: float = 0) -> Client:
    """A browser in which somebody of the board proved who they are so many seconds ago."""
    return log_in(Client(), someone(who), age_s=age_s)


def post(who: str | Client, path: str, sent: dict[str, Any] | None = None, match: str | None = None) -> Any:
    """Send parts; values that are no text become JSON files."""
    client = browser(who) if isinstance(who, str) else who
    parts = {
        name: value if isinstance(value, str) else SimpleUploadedFile("body.json", json.dumps(value).encode())
        for name, value in (sent or {}).items()
    }
    return client.post(path, parts, headers={} if match is None else {"If-Match": f'"{match}"'})


def confirmed(who: str) -> Any:
    return post(who, f"{SPACE}/proposals/{Proposal.objects.latest('pk').pk}/confirmation")


def change(**changes: Any) -> dict[str, Any]:
    return WHY | {"policy": BOARD | {"max_age_s": 3600} | changes}


def test_two_admins_change_the_policy(people: Cast) -> None:
    ada = browser("ada")
    read = ada.get(f"{SPACE}/policy")
    assert (read.json()["version"], read.headers["ETag"]) == (1, f'"{content_id(BOARD)}"')
    assert ada.get(f"{SPACE}/policy", headers={"If-None-Match": read.headers["ETag"]}).status_code == 304
    made = post(ada, f"{SPACE}/proposals", change(), match=content_id(BOARD))
    assert (made.status_code, made.json()["state"], made.json()["decision"]) == (201, "open", None)
    assert [row["id"] for row in ada.get(f"{SPACE}/proposals").json()["proposals"]] == [made.json()["id"]]
    assert problem(confirmed("ada"))["detail"] == "You proposed this. It takes a second person."
    done = confirmed("abel")
    assert (done.status_code, done.json()["state"], Policy.objects.count()) == (200, "carried_out", 2)
    assert ada.get(f"{SPACE}/proposals").json()["proposals"] == []
    assert ada.get(made.headers["Location"]).json()["state"] == "carried_out"


def test_a_change_of_another_version_is_a_conflict(people: Cast) -> None:
    refused = post("ada", f"{SPACE}/proposals", change(), match="sha256:" + "00" * 32)
    assert problem(refused)["detail"] == "The policy moved: its newest version is 1. Propose a change of that one."


@pytest.mark.parametrize("who", ["bob", "alice", "audrey"])
def test_only_admins_propose_a_policy(who: str, people: Cast) -> None:
    assert "needs the role admin" in problem(post(who, f"{SPACE}/proposals", change()))["detail"]


def waiver() -> dict[str, Any]:
    ends = time_text(timezone.now() + timedelta(days=9))
    return WHY | {"kind": "waiver", "body": {"trial": "t-1", "gate": "throughput", "ends_at": ends}}


def test_a_waiver_takes_the_owner_and_the_team_of_waivers(people: Cast) -> None:
    revision = planned(people, pair=documents(floor=600))
    made = post("bob", f"{HERE}/proposals", waiver(), match=revision.planned.subject)
    assert (made.status_code, made.json()["team"], made.json()["decision"]) == (201, "serving", 1)
    assert len(browser("audrey").get(f"{HERE}/proposals").json()["proposals"]) == 1
    assert problem(confirmed("carol"))["detail"] == "This takes a member of capacity."
    assert confirmed("erin").json()["state"] == "carried_out"
    assert Waiver.objects.get().gate == "throughput"


def test_what_was_seen_of_an_earlier_revision_is_not_proposed(people: Cast) -> None:
    first = planned(people, pair=documents(floor=600))
    planned(people, pair=documents(floor=600, tokens=163000), decision=first.decision)
    refused = post("bob", f"{HERE}/proposals", waiver(), match=first.planned.subject)
    assert "D-0001 moved since" in problem(refused)["detail"]


def test_an_emergency_a_revocation_and_a_way_back(people: Cast) -> None:
    activate(people, approved(people))
    planned(people, pair=documents(floor=600))
    body = {"trial": "t-1", "incident": "INC-7", "failing_gates": ["throughput"], "hours": 24}
    second = f"{SPACE}/decisions/2"
    assert post("ivan", f"{second}/proposals", WHY | {"kind": "emergency", "body": body}).status_code == 201
    assert confirmed("bob").status_code == 200
    assert Decision.objects.get(number=2).state == "EMERGENCY"
    signed = SignOff.objects.filter(team__slug="serving").latest("pk")
    sign(people, signed.revision, people.dave, meaning="object", statement="It fails.")
    assert Decision.objects.get(number=1).state == "CONTESTED"
    assert post("erin", f"{HERE}/proposals", WHY | {"kind": "revocation"}).status_code == 201
    assert confirmed("ivan").status_code == 200
    assert Decision.objects.get(number=1).state == "REVOKED"
    refused = post("bob", f"{second}/proposals", WHY | {"kind": "rollback", "body": {"to": 1}})
    assert problem(refused)["detail"] == "D-0002 is emergency, not in force."


@pytest.mark.parametrize(
    ("sent", "code", "pointer"),
    [
        pytest.param({"kind": "crown"}, "request/kind", "kind", id="no such kind"),
        pytest.param({"kind": "policy", "body": {}}, "request/kind", "kind", id="a policy is the workspace's"),
        pytest.param({"kind": "waiver"}, "request/missing_part", "body", id="no body"),
        pytest.param({"kind": "waiver", "body": {"trial": 1}}, "request/body", "body", id="another type"),
        pytest.param({"kind": "rollback", "body": {"to": 10**30}}, "request/body", "body", id="beyond any number"),
        pytest.param({"kind": "rollback", "body": {"to": True}}, "request/body", "body", id="a boolean"),
        pytest.param({"kind": "revocation", "body": {"a": 1}}, "request/body", "body", id="an unknown member"),
        pytest.param({"kind": "revocation", "who": "me"}, "request/unknown_part", "who", id="an unknown part"),
    ],
)
def test_what_is_sent_wrongly_is_named(sent: dict[str, Any], code: str, pointer: str, people: Cast) -> None:
    planned(people)
    who = "erin" if sent["kind"] == "revocation" else "bob"  # who may not is told that, not what is wrong
    assert codes(post(who, f"{HERE}/proposals", WHY | sent)) == [("request", code, pointer)]


def test_a_proposal_is_taken_back_by_who_made_it(people: Cast) -> None:
    made = post("ada", f"{SPACE}/proposals", change())
    back = made.json()["url"] + "/withdrawal"
    assert problem(post("abel", back, WHY))["status"] == 403
    assert post("ada", back, WHY).json()["state"] == "withdrawn"


def test_an_old_proof_confirms_nothing(people: Cast) -> None:
    post("ada", f"{SPACE}/proposals", change())
    refused = post(browser("abel", age_s=301), f"{SPACE}/proposals/{Proposal.objects.get().pk}/confirmation")
    assert (problem(refused)["type"], refused.status_code) == ("urn:topogate:problem:proof_needed", 403)
    assert Policy.objects.count() == 1


def test_a_token_proposes_and_confirms_nothing(people: Cast) -> None:
    post("ada", f"{SPACE}/proposals", change())
    who = caller(people, people.alice, "submit")
    confirm = who.post(f"proposals/{Proposal.objects.get().pk}/confirmation")
    assert problem(confirm)["detail"] == "An API token does not do this. It takes a person who logged in."
    assert Policy.objects.count() == 1


def test_a_seat_is_lent_and_taken_back(people: Cast) -> None:
    now = timezone.now()
    times = {"starts_at": time_text(now), "ends_at": time_text(now + timedelta(days=7))}
    made = post("bob", f"{SPACE}/delegations", WHY | times | {"team": "serving", "taker": "erin"})
    assert (made.status_code, made.json()["delegations"][0]["taker"]) == (201, "Erin")
    ended = post("bob", f"{SPACE}/delegations/{Delegation.objects.get().pk}/end")
    assert ended.json()["delegations"][0]["ended_at"] is not None
    refused = post("bob", f"{SPACE}/delegations", WHY | {"team": "serving", "taker": "erin", "starts_at": "soon"})
    assert codes(refused) == [("request", "request/time", "starts_at"), ("request", "request/time", "ends_at")]


def test_another_review_is_asked_for_and_a_plan_reproduced(people: Cast) -> None:
    sign(people, planned(people))
    asked = post("alice", f"{HERE}/re-reviews", WHY | {"teams": "serving, networking"}).json()
    assert [row["status"] for row in asked["signoffs"]] == ["VOID"]
    again = post("bob", f"{HERE}/revisions/1/reproductions")
    assert (again.status_code, again.json()["same"]) == (201, True)
    for who, why in (("alice", "You are an author of this decision."), ("audrey", "Auditors write nothing")):
        assert why in problem(post(who, f"{HERE}/revisions/1/reproductions"))["detail"]


@pytest.mark.parametrize(
    ("act", "meaning", "who", "state"),
    [
        ("withdrawal", "approve", "alice", "WITHDRAWN"),
        ("rejection", "reject", "dave", "REJECTED"),
        ("closing", "approve", "dave", "CLOSED"),
    ],
)
def test_a_review_is_ended(act: str, meaning: str, who: str, state: str, people: Cast) -> None:
    revision = planned(people, pair=documents(floor=600))
    sign(people, revision, meaning=meaning)
    sign(people, revision, people.carol, team="networking", meaning=meaning)
    stranger: Person = people.erin if hasattr(people, "erin") else people.audrey
    assert post(log_in(Client(), stranger), f"{HERE}/{act}", WHY).status_code == 403
    assert post(who, f"{HERE}/{act}", WHY).json()["state"] == state


def test_a_decision_is_put_into_force_as_it_was_seen_and_its_evidence_retracted(people: Cast) -> None:
    revision = approved(people)
    sent = {"statement": "Rolled out.", "rollback": "none"}
    assert problem(post("dave", f"{HERE}/activation", sent))["status"] == 409
    done = post("dave", f"{HERE}/activation", sent, match=revision.planned.subject).json()
    assert (done["state"], done["activation"]["trial"]) == ("EFFECTIVE", "t-1")
    faulty = {"content_id": revision.evidence.content_id, "reason": "The clock was wrong."}
    assert post("bob", f"{SPACE}/retractions", faulty).json()["decisions"] == [1]
    assert Decision.objects.get().state == "CONTESTED"


def test_a_session_needs_the_token_of_its_page(people: Cast) -> None:
    ada = log_in(Client(enforce_csrf_checks=True), someone("ada"))
    assert post(ada, f"{SPACE}/proposals", change()).status_code == 403
    assert not Proposal.objects.exists()


ACTS_BY_TWO = ("waiver", "emergency", "lift_objection", "revocation", "rollback")
TIMES = {"starts_at": "2026-09-20T00:00:00Z", "ends_at": "2026-09-21T00:00:00Z"}
ACTS: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    "decisions/1/signoffs": (SIGNED, {"alice": 403, "dave": 409}),
    "decisions/1/activation": ({"statement": "Now.", "rollback": "none"}, {"alice": 403, "dave": 409}),
    "decisions/1/rejection": (WHY, {"alice": 403, "dave": 409}),
    "decisions/1/closing": (WHY, {"alice": 403, "dave": 409}),
    "decisions/1/withdrawal": (WHY, {"alice": 200, "dave": 403}),
    "decisions/1/re-reviews": (WHY | {"teams": "networking"}, {"alice": 200, "dave": 403}),
    "decisions/1/revisions/1/reproductions": ({}, {"alice": 403, "dave": 201}),
    "decisions/1/proposals": (WHY | {"kind": "revocation"}, {"alice": 403, "dave": 403, "erin": 409}),
    "proposals": (change(), {"alice": 403, "dave": 403}),
    "delegations": (WHY | TIMES | {"team": "serving", "taker": "erin"}, {"alice": 403, "dave": 422}),
    "retractions": (WHY | {"content_id": "sha256:" + "00" * 32}, {"alice": 422, "dave": 422}),
}
"""Address -> what is sent, and what the author and a member of serving are answered; an auditor may do none of it."""


@pytest.mark.parametrize("path", ACTS)
def test_every_act_answers_every_role_as_written_down(path: str, people: Cast) -> None:
    planned(people)
    sent, expected = ACTS[path]
    strangers = {"nobody": Client(), "charlie": browser("charlie")}
    assert {who: post(client, f"{SPACE}/{path}", sent).status_code for who, client in strangers.items()} == {
        "nobody": 401,
        "charlie": 404,
    }
    expected = {"audrey": 403, "dave": expected["dave"]} | expected
    assert {who: post(who, f"{SPACE}/{path}", sent).status_code for who in expected} == expected


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        *(("decisions/1/proposals", {"kind": kind, "body": ["?"], "reason": ""}) for kind in ACTS_BY_TWO),
        ("proposals", {"policy": ["?"], "reason": ""}),
        ("decisions/1/re-reviews", {"teams": "nobody", "reason": ""}),
        ("decisions/1/activation", {"statement": "", "rollback": "?"}),
        ("decisions/1/signoffs", {"team": "serving", "meaning": "?", "statement": ""}),
        ("delegations", TIMES | {"team": "serving", "taker": "?", "reason": ""}),
    ],
)
def test_who_may_not_is_told_so_whatever_is_wrong_with_what_they_sent(
    path: str, sent: dict[str, Any], people: Cast
) -> None:
    planned(people)
    for who in ("audrey", "ada"):
        refused = post(who, f"{SPACE}/{path}", sent)
        if (who, path) != ("ada", "proposals"):
            assert (who, problem(refused)["status"]) == (who, 403)


@pytest.mark.parametrize("wrong", ["as it is", 'W/"sha256:1"', '"sha256:1", "sha256:2"', '"sha256:1"'])
@pytest.mark.parametrize("kind", ["waiver", "rollback"])
def test_what_no_revision_is_passes_for_no_condition(kind: str, wrong: str, people: Cast) -> None:
    planned(people, pair=documents(floor=600))
    sent = waiver() if kind == "waiver" else WHY | {"kind": "rollback", "body": {"to": 1}}
    parts = sent | {"body": SimpleUploadedFile("body.json", json.dumps(sent["body"]).encode())}
    refused = browser("bob").post(f"{HERE}/proposals", parts, headers={"If-Match": wrong})
    assert problem(refused)["status"] == 409
    assert not Proposal.objects.exists()


def test_an_act_in_force_names_what_was_read(people: Cast) -> None:
    approved(people)
    sent = {"statement": "Rolled out.", "rollback": "none"}
    assert (
        "It is not said which revision of D-0001 was read"
        in problem(post("dave", f"{HERE}/activation", sent))["detail"]
    )
    refused = post("dave", f"{HERE}/activation", sent, match="sha256:" + "00" * 32)
    assert "belongs to no revision of D-0001" in problem(refused)["detail"]
