"""Submitting by the API: a revision and its address, the same twice, everything that is wrong at once."""

import json
from typing import Any

import pytest

from reviews.models import AuditEntry, Decision, Revision
from reviews.services.jobs import job_run
from tests.api.asking import Caller, codes, parts, problem
from tests.reviews.factories import AS_OF, Cast, documents, last_entry, planned, submitted

pytestmark = pytest.mark.both_databases


def test_submission_answers_with_the_revision_and_where_it_is(alice: Caller, people: Cast) -> None:
    answer = alice.submit(as_of=AS_OF)
    value = answer.json()
    assert answer.status_code == 201
    assert (
        answer.headers["Location"] == value["url"] == "http://testserver/api/v1/workspaces/lab/decisions/1/revisions/1"
    )
    assert (value["decision"], value["revision"], value["state"], value["plan"]) == (1, 1, "queued", None)
    assert value["as_of"] == AS_OF
    assert value["page"] == "http://testserver/w/lab/decisions/1/?revision=1"
    assert alice.get(value["url"]).json() == value


def test_the_log_says_that_a_token_did_it(alice: Caller, people: Cast) -> None:
    alice.submit()
    entry = last_entry(people)
    assert (entry["action"], entry["auth_method"], entry["actor"]) == ("revision.created", "token", people.alice.token)


def test_documents_are_stored_byte_for_byte(alice: Caller, people: Cast) -> None:
    pair = documents()
    spaced = b"\n  " + pair.contract + b"\n\n"
    value = alice.submit(contract=spaced).json()
    assert alice.get(value["contract"]["url"]).content == spaced
    assert alice.get(value["evidence"]["url"]).content == pair.evidence


def test_the_same_submission_under_the_same_key_is_one_revision(alice: Caller, people: Cast) -> None:
    first = alice.submit(headers={"Idempotency-Key": "run-17"})
    again = alice.submit(headers={"Idempotency-Key": "run-17"})
    assert again.json() == first.json()
    assert Revision.objects.count() == 1


def test_another_submission_under_the_same_key_is_a_conflict(alice: Caller, people: Cast) -> None:
    alice.submit(headers={"Idempotency-Key": "run-17"})
    refused = alice.submit(title="Another", headers={"Idempotency-Key": "run-17"})
    assert problem(refused) == {
        "type": "urn:topogate:problem:conflict",
        "title": "The request does not fit the present state",
        "status": 409,
        "detail": "This idempotency key belongs to another submission. Send a new key with new content.",
        "instance": "/api/v1/workspaces/lab/decisions",
        "problems": [],
        "moved": [],
    }
    assert Revision.objects.count() == 1


def test_everything_wrong_with_documents_and_request_is_said_at_once(alice: Caller, people: Cast) -> None:
    contract = json.loads(documents().contract)
    contract["owner"] = 7
    evidence = json.loads(documents().evidence)
    evidence["scope"] = "x" * 300
    refused = alice.submit(
        contract=json.dumps(contract).encode(),
        evidence=json.dumps(evidence).encode(),
        title="",
        as_of="yesterday",
        headers={"Idempotency-Key": "k" * 200},
    )
    assert refused.status_code == 422
    assert codes(refused)[:4] == [
        ("request", "request/title", "title"),
        ("request", "request/as_of", "as_of"),
        ("request", "request/idempotency_key", "idempotency_key"),
        ("contract", "document/type", "/owner"),
    ]
    assert ("evidence", "document/length", "/scope") in codes(refused)
    assert not Decision.objects.exists()


def test_a_problem_says_what_was_expected_and_where(alice: Caller, people: Cast) -> None:
    refused = alice.submit(evidence=b'{"schema": "topogate.evidence/v1",\n  "scope": NaN}')
    found = [item for item in problem(refused)["problems"] if item["code"] == "json/constant"]
    assert [(item["document"], item["line"], item["column"]) for item in found] == [("evidence", 2, 3)]


def test_a_refused_submission_is_in_the_log_and_nothing_else_is_kept(alice: Caller, people: Cast) -> None:
    before = AuditEntry.objects.count()
    alice.submit(evidence=b"{")
    assert AuditEntry.objects.count() == before + 1
    assert last_entry(people)["action"] == "submission.refused"
    assert not Decision.objects.exists()


def test_new_evidence_alone_makes_the_next_revision_of_the_same_contract(alice: Caller, people: Cast) -> None:
    first = alice.submit().json()
    job_run(Revision.objects.get().job_id)
    answer = alice.post("decisions/1/revisions", {"evidence": documents(tokens=200000).evidence})
    second = answer.json()
    assert answer.status_code == 201
    assert (second["decision"], second["revision"]) == (1, 2)
    assert second["contract"]["content_id"] == first["contract"]["content_id"]
    assert second["evidence"]["content_id"] != first["evidence"]["content_id"]


def test_evidence_for_another_contract_is_refused_for_a_revision(alice: Caller, people: Cast) -> None:
    alice.submit()
    job_run(Revision.objects.get().job_id)
    refused = alice.post("decisions/1/revisions", {"evidence": documents(floor=900).evidence})
    assert codes(refused) == [("evidence", "document/other_contract", "/contract_content_id")]


def test_a_withdrawn_decision_takes_no_revision(alice: Caller, people: Cast) -> None:
    planned(people)
    Decision.objects.update(state="WITHDRAWN")
    refused = alice.post("decisions/1/revisions", {"evidence": documents(tokens=200000).evidence})
    assert (refused.status_code, problem(refused)["type"]) == (409, "urn:topogate:problem:conflict")


def test_a_dry_run_finds_the_same_and_leaves_nothing(alice: Caller, people: Cast) -> None:
    before = AuditEntry.objects.count()
    pair = documents()
    sound = alice.post("validate", {"contract": pair.contract, "evidence": pair.evidence})
    wrong = alice.post("validate", {"contract": pair.contract, "evidence": b"[]"})
    assert (sound.status_code, sound.json()) == (200, {"ok": True, "problems": []})
    assert wrong.json()["ok"] is False
    assert wrong.json()["problems"] == problem(alice.submit(evidence=b"[]"))["problems"]
    assert AuditEntry.objects.count() == before + 1
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param({}, [("contract", "request/missing_part"), ("evidence", "request/missing_part")], id="nothing"),
        pytest.param(parts(evidence=None), [("evidence", "request/missing_part")], id="no evidence"),
        pytest.param(parts(evidence="{}"), [("evidence", "request/not_a_file")], id="a document as a text field"),
        pytest.param(parts(state="EFFECTIVE"), [("request", "request/unknown_part")], id="a field that is not taken"),
        pytest.param(parts(title=b"t"), [("request", "request/unknown_part")], id="a title as a file"),
        pytest.param(parts(title=["a", "b"]), [("request", "request/repeated_part")], id="two titles"),
    ],
)
def test_parts_that_do_not_fit_are_named(
    sent: dict[str, object], expected: list[tuple[str, str]], alice: Caller, people: Cast
) -> None:
    refused = alice.post("decisions", sent)
    assert refused.status_code == 422
    assert [(document, code) for document, code, _ in codes(refused)] == expected


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        pytest.param("decisions", parts(evidence=None), 422, id="no evidence"),
        pytest.param("decisions/1/revisions", {}, 422, id="neither document of a revision"),
        pytest.param("decisions", {f"f{at}": b"{}" for at in range(201)}, 413, id="too many files"),
    ],
)
def test_parts_that_are_refused_leave_an_entry_and_nothing_else(
    path: str, sent: dict[str, object], status: int, alice: Caller, people: Cast
) -> None:
    alice.submit()
    before = AuditEntry.objects.count(), Revision.objects.count()
    assert alice.post(path, sent).status_code == status
    assert (AuditEntry.objects.count(), Revision.objects.count()) == (before[0] + 1, before[1])
    entry = last_entry(people)
    assert (entry["action"], entry["actor"], entry["auth_method"]) == (
        "submission.refused",
        people.alice.token,
        "token",
    )
    assert entry["decision"] == (1 if path.endswith("revisions") else None)


def test_a_dry_run_of_wrong_parts_leaves_no_entry(alice: Caller, people: Cast) -> None:
    before = AuditEntry.objects.count()
    assert alice.post("validate", parts(evidence=None)).status_code == 422
    assert AuditEntry.objects.count() == before


def revised(caller: Caller, evidence: bytes, if_match: str) -> Any:
    return caller.post("decisions/1/revisions", {"evidence": evidence}, {"If-Match": if_match})


def test_a_revision_of_what_was_read_is_taken(alice: Caller, people: Cast) -> None:
    planned(people)
    etag = alice.get("decisions/1/revisions/1")["ETag"]
    assert revised(alice, documents(tokens=200_000).evidence, etag).status_code == 201


@pytest.mark.parametrize("if_match", ['"{old}"', '"sha256:0"', 'W/"{new}"', "{old}", '""'])
def test_a_revision_of_what_was_replaced_is_a_conflict(if_match: str, alice: Caller, people: Cast) -> None:
    old = planned(people).planned.subject
    new = planned(people, pair=documents(tokens=200_000), decision=Decision.objects.get()).planned.subject
    refused = revised(alice, documents(tokens=210_000).evidence, if_match.format(old=old, new=new))
    assert (refused.status_code, Revision.objects.count()) == (409, 2)
    assert f"its newest revision is r2 with {new}" in refused.json()["detail"]
    assert last_entry(people)["action"] == "submission.refused"


def test_nothing_is_built_on_a_revision_without_a_subject(alice: Caller, people: Cast) -> None:
    submitted(people)
    refused = revised(alice, documents(tokens=200_000).evidence, '"sha256:0"')
    assert (refused.status_code, "no subject yet" in refused.json()["detail"]) == (409, True)


def test_whatever_there_is_may_be_replaced(alice: Caller, people: Cast) -> None:
    submitted(people)
    assert revised(alice, documents(tokens=200_000).evidence, "*").status_code == 201


def test_the_same_submission_again_meets_no_conflict(alice: Caller, people: Cast) -> None:
    subject = planned(people).planned.subject
    headers = {"If-Match": f'"{subject}"', "Idempotency-Key": "run-18"}
    for _ in range(2):
        answer = alice.post("decisions/1/revisions", {"evidence": documents(tokens=200_000).evidence}, headers)
        assert (answer.status_code, answer.json()["revision"]) == (201, 2)
