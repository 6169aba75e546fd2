"""Drafts of evidence over the API: begun, filled, decided on, made into a document; whose they are, and two clients."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.canonical import file_sha256
from reviews.models import Draft, StoredDocument
from tests.api.asking import API, Caller, caller, codes, problem
from tests.reviews.drafts import ANSWERS, added, begun, made, tool_file
from tests.reviews.factories import Cast, documents, submitted

pytestmark = pytest.mark.django_db


def begin(alice: Caller, **parts: Any) -> Any:
    return alice.post("evidence-drafts", {"contract": documents().contract, "name": "May", **parts})


def changes(alice: Caller, number: int, *made: dict[str, Any], version: str = "") -> Any:
    headers = {"If-Match": version} if version else None
    return alice.post(f"evidence-drafts/{number}/changes", {"changes": json.dumps({"changes": made}).encode()}, headers)


def send(alice: Caller, number: int, *files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(name, raw) for name, raw in files]
    return alice.post(f"evidence-drafts/{number}/files", {"files": sent})


def delete(who: Caller, path: str, version: str = "") -> Any:
    headers = {"Authorization": f"Bearer {who.token}", **({"If-Match": version} if version else {})}
    return Client().delete(f"{API}/workspaces/{who.workspace}/{path}", headers=headers)


def test_from_files_to_a_document_and_on_to_a_decision(alice: Caller, people: Cast) -> None:
    started = begin(alice)
    number = started.json()["id"]
    assert (started.status_code, started["ETag"]) == (201, '"v1"')
    name, raw = tool_file(tensor_parallel_size=1)
    sent = send(alice, number, (name, raw), ("notes.txt", b"a walk in the park\n")).json()
    assert [(one["name"], one["outcome"]) for one in sent["files"]] == [(name, "read"), ("notes.txt", "unknown")]
    said = changes(alice, number, *({"do": "answer", "at": at, "value": value} for at, value in ANSWERS.items()))
    assert said.json()["state"]["open"] == []
    finished = alice.post(f"evidence-drafts/{number}/evidence")
    assert (finished.status_code, finished.json()["attachments"]) == (201, [file_sha256(raw)])
    evidence = alice.get(finished["Location"]).content
    assert file_sha256(evidence) == finished.json()["file_sha256"]
    kept = alice.get(f"attachments/{file_sha256(raw)}")
    assert b"".join(kept.streaming_content) == raw
    assert alice.submit(evidence=evidence).status_code == 201


def test_the_same_request_under_the_same_key_begins_one_draft(alice: Caller) -> None:
    def keyed(name: str) -> Any:
        sent = {"contract": documents().contract, "name": name}
        return alice.post("evidence-drafts", sent, {"Idempotency-Key": "run-7"})

    first, again, other = keyed("May"), keyed("May"), keyed("June")
    assert (first.status_code, again.status_code, again.json()["id"]) == (201, 201, first.json()["id"])
    assert (other.status_code, Draft.objects.get().name) == (409, "May")


def test_the_state_has_values_with_unit_and_place(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    send(alice, number, tool_file())
    (file,) = alice.get(f"evidence-drafts/{number}").json()["files"]
    values = {one["name"]: one for one in file["reading"]["runs"][0]["values"]}
    rate = values["output_tokens_per_s"]
    assert (rate["unit"], rate["place"]["pointer"]) == ("tokens/s", "/output_throughput")


def test_a_draft_of_a_stored_contract(alice: Caller, people: Cast) -> None:
    stored = submitted(people).contract
    started = alice.post("evidence-drafts", {"contract_sha256": stored.file_sha256})
    assert (started.status_code, started.json()["contract"]) == (201, stored.content_id)


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        pytest.param({}, [("contract", "request/missing_part", "")], id="no contract"),
        pytest.param({"contract": b"{}", "extra": "1"}, [("request", "request/unknown_part", "extra")], id="more"),
        pytest.param(
            {"contract": b"{}", "hide_hosts": "maybe"}, [("request", "request/encoding", "hide_hosts")], id="a switch"
        ),
    ],
)
def test_what_begins_no_draft_is_refused_with_all_that_is_wrong(
    parts: dict[str, Any], found: list[tuple[str, str, str]], alice: Caller
) -> None:
    assert codes(alice.post("evidence-drafts", parts)) == found


def test_a_contract_that_is_none_is_refused_with_pointers(alice: Caller) -> None:
    refused = begin(alice, contract=b'{"schema": "topogate.contract/v1"}')
    assert refused.status_code == 422
    assert ("contract", "document/missing_field", "/slot") in codes(refused)
    assert Draft.objects.count() == 0


def test_two_clients_do_not_overwrite_each_other(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    first = changes(alice, number, {"do": "new_trial", "trial": "tp2"}, version='"v1"')
    assert (first.status_code, first["ETag"]) == (200, '"v2"')
    late = changes(alice, number, {"do": "new_trial", "trial": "tp4"}, version='"v1"')
    assert (problem(late)["status"], problem(late)["moved"]) == (409, ["draft"])
    assert list(alice.get(f"evidence-drafts/{number}").json()["draft"]["trials"]) == ["tp2"]
    assert delete(alice, f"evidence-drafts/{number}", '"v1"').status_code == 409


@pytest.mark.parametrize(
    "tag", ["v" + "9" * 5000, "v1_0", "v+1", "v \u0661", "v", "9" * 5000], ids=lambda tag: f"{tag[:6]} {len(tag)}"
)
def test_what_no_version_is_builds_on_none(tag: str, alice: Caller) -> None:
    number = begin(alice).json()["id"]
    refused = problem(changes(alice, number, {"do": "new_trial", "trial": "tp2"}, version=f'"{tag}"'))
    assert (refused["status"], refused["moved"]) == (409, ["draft"])


def test_the_same_file_again_changes_nothing(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    first = send(alice, number, tool_file()).json()
    again = send(alice, number, tool_file("other name.json")).json()
    assert (again["version"], again["files"][0]["outcome"]) == (first["version"], "again")


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        pytest.param(b"{", "", id="no JSON"),
        pytest.param(b'{"changes": ' + b"[" * 5000, "", id="nested too deep"),
        pytest.param(b'{"changes": [], "changes": []}', "/changes", id="a key twice"),
        pytest.param(
            b'{"changes": [{"do": "answer", "at": "/a", "value": 1%s}]}' % (b"0" * 400),
            "/changes/0/value",
            id="an integer that no document holds",
        ),
        pytest.param(b'{"changes": []}', "/changes", id="none"),
        pytest.param(b'{"changes": [{"do": "fly"}]}', "/changes/0/do", id="unknown"),
        pytest.param(b'{"changes": [{"do": "move_run", "run": 1, "trial": "a"}]}', "/changes/0/run", id="type"),
        pytest.param(b'{"changes": [{"do": "new_trial", "trial": "a", "x": 1}]}', "/changes/0", id="member"),
    ],
)
def test_changes_that_are_none_are_refused_with_their_place(raw: bytes, pointer: str, alice: Caller) -> None:
    number = begin(alice).json()["id"]
    refused = alice.post(f"evidence-drafts/{number}/changes", {"changes": raw})
    assert codes(refused) == [("request", "request/change", pointer)]


def test_a_draft_that_is_not_complete_says_what_is_open(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    send(alice, number, tool_file())
    refused = alice.post(f"evidence-drafts/{number}/evidence")
    assert refused.status_code == 422
    assert ("request", "builder/unanswered", "/provenance/collected_by") in codes(refused)
    assert StoredDocument.objects.count() == 0


def test_files_and_drafts_are_deleted(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    send(alice, number, tool_file())
    after = delete(alice, f"evidence-drafts/{number}/files/{file_sha256(tool_file()[1])}")
    assert (after.status_code, after.json()["files"]) == (200, [])
    assert delete(alice, f"evidence-drafts/{number}").status_code == 204
    assert alice.get(f"evidence-drafts/{number}").status_code == 404


def test_a_client_that_has_the_version_gets_no_body(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    answer = alice.get(f"evidence-drafts/{number}", headers={"If-None-Match": '"v1"'})
    assert (answer.status_code, answer.content) == (304, b"")


def test_a_draft_is_its_owners_alone(alice: Caller, people: Cast) -> None:
    number = begin(alice).json()["id"]
    bob, reader = caller(people, people.bob, "read"), caller(people, people.alice, "read")
    assert bob.get(f"evidence-drafts/{number}").status_code == 404
    assert bob.get("evidence-drafts").json() == {"drafts": []}
    assert [row["id"] for row in alice.get("evidence-drafts").json()["drafts"]] == [number]
    assert begin(reader).status_code == 403
    assert Client().get(f"{API}/workspaces/lab/evidence-drafts").status_code == 401


def test_every_member_reads_what_was_made(alice: Caller, people: Cast) -> None:
    document = made(people)
    bob = caller(people, people.bob, "read")
    assert bob.get(f"evidence/{document.file_sha256}").status_code == 200
    assert bob.get(f"evidence/sha256:{'0' * 64}").status_code == 404
    assert bob.get(f"attachments/sha256:{'0' * 64}").status_code == 404


def test_files_of_another_persons_draft_are_refused(alice: Caller, people: Cast) -> None:
    draft = begun(people)
    added(people, draft, tool_file())
    carol = caller(people, people.carol, "read")
    assert delete(carol, f"evidence-drafts/{draft.pk}").status_code == 403
    assert Draft.objects.count() == 1
