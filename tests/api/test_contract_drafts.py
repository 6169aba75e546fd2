"""Drafts of contracts over the API: begun, written, filled in from files, read as a document; and two clients."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.intake import read_contract
from reviews.models import Draft
from tests.api.asking import API, Caller, caller, codes
from tests.reviews.factories import Cast, documents, submitted

pytestmark = pytest.mark.django_db

CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
TOPOLOGY = "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n"


def begin(alice: Caller, headers: dict[str, str] | None = None, **parts: Any) -> Any:
    return alice.post("contract-drafts", {"document": documents().contract, **parts}, headers)


def change(alice: Caller, number: int, *made: dict[str, Any], version: str = "") -> Any:
    headers = {"If-Match": version} if version else None
    return alice.post(f"contract-drafts/{number}/changes", {"changes": json.dumps({"changes": made}).encode()}, headers)


def test_a_contract_is_written_without_a_browser(alice: Caller) -> None:
    begun = begin(alice)
    number = begun.json()["id"]
    assert (begun.status_code, begun["ETag"], begun.json()["problems"]) == (201, '"v1"', [])
    wrong = change(alice, number, {"do": "set", "at": "/identity/model/layers", "value": "many"}).json()
    assert wrong["content_id"] is None
    assert [(one["code"], one["pointer"], one["is_lacking"]) for one in wrong["problems"]] == [
        ("document/type", "/identity/model/layers", False)
    ]
    lacking = change(alice, number, {"do": "remove", "at": "/identity/model/layers"}).json()
    assert [one["is_lacking"] for one in lacking["problems"]] == [True]
    right = change(alice, number, {"do": "set", "at": "/identity/model/layers", "value": 33}).json()
    raw = alice.get(f"contract-drafts/{number}/document").content
    assert read_contract(raw).content_id == right["content_id"]
    assert right["document"]["identity"]["model"]["layers"] == 33


def test_changes_are_made_all_or_none_and_name_their_place(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    refused = change(
        alice, number, {"do": "set", "at": "/owner", "value": "x"}, {"do": "set", "at": "/colour", "value": 1}
    )
    assert (refused.status_code, codes(refused)) == (422, [("request", "request/change", "/changes/1")])
    assert alice.get(f"contract-drafts/{number}").json()["version"] == 1


def test_files_fill_the_model_and_the_hardware_in(alice: Caller) -> None:
    number = alice.post("contract-drafts").json()["id"]
    sent = {
        "config": SimpleUploadedFile("config.json", json.dumps(CONFIG).encode()),
        "topology": SimpleUploadedFile("topo.txt", TOPOLOGY.encode()),
        "copies": "2",
        "node_names": "n1 n2",
    }
    state = alice.post(f"contract-drafts/{number}/files", sent).json()
    identity = state["document"]["identity"]
    assert (identity["model"]["layers"], list(identity["hardware"]["nodes"])) == (32, ["n1", "n2"])
    assert state["origins"]["/identity/model/layers"] == "config.json /num_hidden_layers"
    assert any(one["pointer"].endswith("/devices/<id>/type") and one["needed"] for one in state["questions"])
    refused = alice.post(f"contract-drafts/{number}/files", {"config": SimpleUploadedFile("config.json", b"[1]")})
    assert refused.status_code == 422


def test_a_stored_contract_is_cloned(alice: Caller, people: Cast) -> None:
    sha256 = submitted(people).contract.file_sha256
    assert alice.post("contract-drafts", {"contract_sha256": sha256}).json()["based_on"] == sha256


def test_the_same_request_under_the_same_key_begins_one_draft(alice: Caller) -> None:
    key = {"Idempotency-Key": "run-7"}
    first, again = begin(alice, key), begin(alice, key)
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert alice.post("contract-drafts", headers=key).status_code == 409
    assert Draft.objects.count() == 1


def test_of_two_clients_one_is_refused(alice: Caller) -> None:
    number = begin(alice).json()["id"]
    change(alice, number, {"do": "set", "at": "/owner", "value": "one"}, version='"v1"')
    late = change(alice, number, {"do": "set", "at": "/owner", "value": "two"}, version='"v1"')
    assert late.status_code == 409
    assert alice.get(f"contract-drafts/{number}").json()["document"]["owner"] == "one"


def test_a_draft_is_its_owners_alone_and_can_be_deleted(alice: Caller, people: Cast) -> None:
    number = begin(alice).json()["id"]
    carol = caller(people, people.carol, "read")
    assert carol.get(f"contract-drafts/{number}").status_code == 404
    assert [row["id"] for row in alice.get("contract-drafts").json()["drafts"]] == [number]
    headers = {"Authorization": f"Bearer {alice.token}"}
    assert Client().delete(f"{API}/workspaces/lab/contract-drafts/{number}", headers=headers).status_code == 204
    assert not Draft.objects.exists()
