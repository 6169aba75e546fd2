"""Whether a slot runs what is in force, by API."""

import json
from typing import Any

import pytest

from reviews.models import AuditEntry, Decision, IdentityReport
from tests.api.asking import Caller, token_of
from tests.reviews.factories import Cast
from tests.reviews.rules.test_rule_11_validity import SLOT, in_force, live

pytestmark = pytest.mark.django_db


def sent(tree: Any, slot: str = SLOT) -> dict[str, Any]:
    return {"slot": slot, "identity": json.dumps(tree).encode()}


def test_a_token_that_may_only_read_checks_a_slot(people: Cast) -> None:
    revision = in_force(people)
    answer = Caller(token_of(people, people.bob, "read"), "lab").post("check", sent({"identity": live(revision)}))
    found = answer.json()
    assert (answer.status_code, found["matches"], found["decision"], found["state"]) == (200, True, 1, "EFFECTIVE")
    assert (found["subject"], found["trial"], found["differences"]) == (revision.planned.subject, "t-1", [])
    assert not AuditEntry.objects.filter(action__startswith="identity.").exists()


def test_the_first_difference_comes_first_with_its_team(people: Cast) -> None:
    tree = live(in_force(people), model__revision="r2", placement=None)
    found = Caller(token_of(people, people.bob, "read"), "lab").post("check", sent(tree)).json()
    assert found["matches"] is False
    assert found["because"] == ("D-0001 r1 (tp1-pp1-ep1-dp1): /model/revision: decided r1, found r2. Owned by serving.")
    assert [(row["key"], row["how"], row["team"]) for row in found["differences"]] == [
        ("/model/revision", "differs", "serving"),
        ("/placement/rank_map_digest", "missing", "networking"),
    ]


def test_a_report_is_an_entry_and_turns_the_decision_stale(people: Cast) -> None:
    tree = live(in_force(people), model__revision="r2")
    answer = Caller(token_of(people, people.alice, "submit"), "lab").post("identity-reports", sent(tree))
    found = answer.json()
    assert (answer.status_code, found["matches"], found["state"]) == (200, False, "STALE")
    assert (Decision.objects.get().state, IdentityReport.objects.count()) == ("STALE", 1)


def test_a_token_that_reports_is_made_by_a_member_and_reports_and_does_nothing_else(people: Cast) -> None:
    tree = live(in_force(people))
    who = Caller(token_of(people, people.bob, "report"), "lab")
    assert who.post("identity-reports", sent(tree)).status_code == 200
    assert who.get("decisions").status_code == 200
    refused = who.submit()
    assert (refused.status_code, refused.json()["detail"]) == (403, "This token has no scope submit.")


def test_a_token_that_reads_reports_nothing(people: Cast) -> None:
    tree = live(in_force(people))
    answer = Caller(token_of(people, people.bob, "read"), "lab").post("identity-reports", sent(tree))
    assert (answer.status_code, answer.json()["detail"]) == (403, "This token has no scope report.")
    assert not IdentityReport.objects.exists()


@pytest.mark.parametrize("tree", [{"a": 1}, {"identity": {"a": 1}}, {"host": "node-a"}], ids=["any", "within", "host"])
def test_an_object_without_a_section_of_an_identity_ends_nothing(people: Cast, tree: dict[str, Any]) -> None:
    in_force(people)
    answer = Caller(token_of(people, people.alice, "submit"), "lab").post("identity-reports", sent(tree))
    (problem,) = answer.json()["problems"]
    assert (answer.status_code, problem["code"]) == (422, "request/identity")
    assert problem["expected"] == (
        "an identity with one of hardware, model, placement, precision, stack, telemetry, workload"
    )
    assert (Decision.objects.get().state, IdentityReport.objects.count()) == ("EFFECTIVE", 0)


@pytest.mark.parametrize(
    ("parts", "problems"),
    [
        pytest.param({}, ["request/slot", "request/missing_part"], id="nothing"),
        pytest.param({"slot": SLOT, "identity": b"[1]"}, ["request/identity"], id="an array"),
        pytest.param({"slot": SLOT, "identity": b"{"}, ["request/identity"], id="no JSON"),
        pytest.param({"slot": SLOT, "identity": b"{}"}, ["request/identity"], id="an empty object"),
        pytest.param({"slot": SLOT, "identity": b'{"a": 1}'}, ["request/identity"], id="no section of an identity"),
        pytest.param(
            {"slot": SLOT, "identity": b'{"identity": {"a": {"b": 1}}}'}, ["request/identity"], id="no section within"
        ),
        pytest.param(
            {"slot": SLOT, "identity": b'{"schema": "topogate.contract/v1", "identity": {"model": {}}}'},
            ["request/identity"],
            id="a contract",
        ),
        pytest.param({"slot": f"{SLOT}\0", "identity": b'{"model": {}}'}, ["request/slot"], id="a sign of no text"),
        pytest.param(
            {"slot": SLOT, "identity": b'{"model": ' + b'{"x":' * 500 + b"1" + b"}" * 501},
            ["request/identity"],
            id="nested without end",
        ),
        pytest.param(
            {"slot": SLOT, "identity": b'{"model": {}}', "extra": "x"}, ["request/unknown_part"], id="another part"
        ),
    ],
)
@pytest.mark.parametrize("path", ["check", "identity-reports"])
def test_what_is_wrong_is_named(people: Cast, path: str, parts: dict[str, Any], problems: list[str]) -> None:
    answer = Caller(token_of(people, people.bob, "report"), "lab").post(path, parts)
    assert (answer.status_code, [row["code"] for row in answer.json()["problems"]]) == (422, problems)
