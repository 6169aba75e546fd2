"""Validity for other tools: one document by decision and by slot, of now, with a version that says what moved."""

import json
from datetime import timedelta
from typing import Any

import jsonschema  # type: ignore[import-untyped] # it ships no types
import pytest
from pytest_django.fixtures import Settings

from planner.schema import document_schema
from reviews.models import AuditEntry, Decision, Person, Revision, Waiver
from reviews.services.identity_reports import identity_report
from tests.api.asking import Caller, problem, token_of
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.rules.board import board, countersign, propose
from tests.reviews.rules.test_rule_10_activation import activate
from tests.reviews.rules.test_rule_11_validity import SLOT, in_force, limited, live, pass_time
from tests.reviews.rules.test_rule_18_waivers import body as waiver
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

EMERGENCY = {"trial": "t-1", "incident": "INC-7", "failing_gates": ["throughput"], "hours": 24}


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


@pytest.fixture
def tool(people: Cast) -> Caller:
    return Caller(token_of(people, people.bob, "read"), "lab")


def read(tool: Caller, path: str = f"validity?slot={SLOT}") -> dict[str, Any]:
    """A validity after it was held against its schema."""
    answer = tool.get(path)
    found: dict[str, Any] = answer.json()
    jsonschema.validate(found, document_schema("validity"))
    return found


def report(people: Cast, tree: dict[str, Any]) -> None:
    identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree)


def test_what_is_in_force_is_told_with_everything_it_is_bound_to(people: Cast, tool: Caller) -> None:
    revision = in_force(people)
    found = read(tool)
    told = found["decision"]
    assert (found["holds"], found["because"]) == (
        True,
        "D-0001 r1 (tp1-pp1-ep1-dp1) is in force without an end.",
    )
    assert (told["number"], told["state"], told["revision"], told["newest_revision"]) == (1, "EFFECTIVE", 1, 1)
    assert (told["subject"], told["plan"]) == (revision.planned.subject, revision.planned.plan.plan_id)
    assert told["contract"] == {
        "content_id": revision.contract.content_id,
        "file_sha256": revision.contract.blob_id,
    }
    assert {name: told["in_force"][name] for name in ("kind", "trial", "topology", "rollback", "valid_until")} == {
        "kind": "review",
        "trial": "t-1",
        "topology": "tp1-pp1-ep1-dp1",
        "rollback": "none",
        "valid_until": None,
    }
    assert told["in_force"]["rank_map_digest"] == revision.planned.basis.rank_map_digest
    assert (found["identity"]["matches"], found["observations"]["breaches"], told["waivers"]) == (None, 0, [])
    assert tool.get(found["links"]["plan"]).status_code == 200
    assert read(tool, found["links"]["self"]) | {"as_of": ""} == found | {"as_of": ""}


def test_sign_offs_are_named_by_team_meaning_and_entry_and_nobody_by_name(people: Cast, tool: Caller) -> None:
    in_force(people)
    found = read(tool)
    entries = AuditEntry.objects.filter(action="signoff.given").values_list("team", "seq")
    assert {(row["team"], row["seq"]) for row in found["decision"]["signoffs"]} == set(entries)
    assert {(row["meaning"], row["status"], row["revision"]) for row in found["decision"]["signoffs"]} == {
        ("approve", "CURRENT", 1)
    }
    text = json.dumps(found)
    assert [
        person.login for person in Person.objects.all() if person.display_name in text or person.token in text
    ] == []


def test_what_has_not_moved_is_not_sent_again_and_what_has_is(people: Cast, tool: Caller) -> None:
    revision = in_force(people)
    version = tool.get(f"validity?slot={SLOT}").headers["ETag"]
    again = tool.get(f"validity?slot={SLOT}", headers={"If-None-Match": version})
    assert (again.status_code, again.content, again.headers["Cache-Control"]) == (304, b"", "private, no-cache")
    report(people, live(revision, model__revision="r2"))
    moved = tool.get(f"validity?slot={SLOT}", headers={"If-None-Match": version})
    assert (moved.status_code, moved.json()["holds"]) == (200, False)


def test_a_machine_that_differs_is_told_with_the_keys_and_their_team(people: Cast, tool: Caller) -> None:
    revision = in_force(people)
    report(people, live(revision, model__revision="r2"))
    found = read(tool)
    assert found["because"].endswith("UTC. Not as decided on the whole slot: /model/revision (serving).")
    assert {name: found["identity"][name] for name in ("matches", "hosts", "hosts_differing")} == {
        "matches": False,
        "hosts": 1,
        "hosts_differing": 1,
    }
    assert found["identity"]["differences"] == [{"key": "/model/revision", "how": "differs", "team": "serving"}]


def test_a_report_that_says_the_same_again_moves_nothing(people: Cast, tool: Caller) -> None:
    tree = live(in_force(people))
    report(people, tree)
    version = tool.get(f"validity?slot={SLOT}").headers["ETag"]
    report(people, tree)
    assert tool.get(f"validity?slot={SLOT}", headers={"If-None-Match": version}).status_code == 304


def test_a_host_that_stopped_reporting_counts_for_nothing(people: Cast, tool: Caller, settings: Settings) -> None:
    report(people, live(in_force(people)))
    settings.IDENTITY_FRESH_SECONDS = 0.0
    found = read(tool)["identity"]
    assert (found["matches"], found["hosts"], found["last_report_at"] is not None) == (None, 0, True)


def test_a_report_from_before_it_was_put_into_force_says_nothing_of_it(people: Cast, tool: Caller) -> None:
    report(people, live(in_force(people)))
    assert read(tool)["identity"]["matches"] is True
    in_force(people, pair=documents(tokens=170_000))
    found = read(tool)
    assert (found["decision"]["number"], found["identity"]["matches"], found["identity"]["hosts"]) == (2, None, 0)
    assert read(tool, "decisions/1/validity")["decision"]["state"] == "SUPERSEDED"


def test_time_alone_ends_it_at_once(people: Cast, tool: Caller) -> None:
    in_force(people, pair=limited(decision_expires_after_s=86400))
    pass_time(days=2)
    found = read(tool)
    assert (found["holds"], found["decision"]["state"], Decision.objects.get().state) == (False, "EXPIRED", "EFFECTIVE")


def test_an_emergency_and_its_gates_come_before_what_it_overrides(people: Cast, tool: Caller) -> None:
    in_force(people)
    planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "emergency", "ivan", EMERGENCY, number=2), "bob")
    found = read(tool)
    assert (found["holds"], found["decision"]["number"], found["decision"]["in_force"]["emergency"]) == (
        True,
        2,
        {"incident": "INC-7", "failing_gates": ["throughput"]},
    )
    assert read(tool, "decisions/1/validity")["holds"] is True


def test_a_waiver_is_told_and_its_end_ends_the_decision(people: Cast, tool: Caller) -> None:
    waived(people)
    (row,) = read(tool)["decision"]["waivers"]
    assert (row["trial"], row["gate"], row["holds"]) == ("t-1", "throughput", True)
    with lifted():
        for one in Waiver.objects.all():
            past = {name: getattr(one, name) - timedelta(days=60) for name in ("granted_at", "ends_at")}
            Waiver.objects.filter(pk=one.pk).update(**past)
    found = read(tool)
    assert (found["holds"], found["decision"]["waivers"][0]["holds"]) == (False, False)
    assert found["because"].endswith("Waiver lapsed: throughput of t-1.")


def waived(people: Cast) -> Revision:
    revision = planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "waiver", "bob", waiver()), "erin")
    sign(people, revision, people.dave)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision, people.bob)
    return revision


def test_what_was_never_in_force_says_so(people: Cast, tool: Caller) -> None:
    planned(people)
    found = read(tool)
    assert (found["holds"], found["decision"]["in_force"], found["decision"]["signoffs"]) == (False, None, [])
    assert found["because"].endswith("It was never in force.")


def test_a_decision_under_review_again_speaks_of_what_it_had_in_force(people: Cast, tool: Caller) -> None:
    revision = in_force(people)
    report(people, live(revision, model__revision="r2"))
    planned(people, pair=documents(tokens=170_000), decision=revision.decision)
    told = read(tool)["decision"]
    assert (told["state"], told["revision"], told["newest_revision"]) == ("IN_REVIEW", 1, 2)


def test_a_slot_that_nobody_decided_is_not_found_in_words(tool: Caller) -> None:
    found = problem(tool.get("validity?slot=chat/none"))
    assert (found["status"], found["detail"]) == (404, "There is no decision for chat/none in lab.")


def test_a_slot_has_to_be_named(tool: Caller) -> None:
    assert [row["code"] for row in problem(tool.get("validity"))["problems"]] == ["request/slot"]
