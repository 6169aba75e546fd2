"""What fills a contract in beside typing: files of tools, known models, sets, earlier contracts; and where it goes."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.canonical import file_sha256
from planner.contract_builder.draft import draft_from
from planner.intake import read_contract
from reviews.models import Decision, Draft, Revision
from tests.reviews.factories import Cast, example_pair
from tests.web.conftest import Visit
from tests.web.contract_drafts import CONFIG, TOPO, begin, send, shown, tree_of


@pytest.fixture
def alice(people: Cast, visit: Visit) -> Client:
    return visit(people.alice)


def test_fields_of_a_config_say_where_they_were_read(alice: Client) -> None:
    draft = begin(alice)
    upload = SimpleUploadedFile("config.json", json.dumps(CONFIG).encode())
    assert send(alice, draft, "model", "model-files", config=upload).status_code == 302
    page = shown(alice, draft, "model")
    assert "from config.json /num_hidden_layers" in page
    assert tree_of(draft)["identity"]["model"]["attention"] == "gqa"
    send(alice, draft, "model", typed={"/identity/model/layers": "31"})
    assert "from config.json /num_hidden_layers" not in shown(alice, draft, "model")


def test_a_known_model_names_its_source_and_replaces_the_shape_before(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "model", "known-model", known_model="openai/gpt-oss-120b")
    send(alice, draft, "model", "known-model", known_model="Qwen/Qwen3-32B", typed={"/identity/model/revision": "r1"})
    model = tree_of(draft)["identity"]["model"]
    assert (model["name"], model["layers"], model["revision"]) == ("Qwen/Qwen3-32B", 64, "r1")
    assert not {"experts", "attention_widths"} & set(model)
    assert "aiconfigurator at 095f58a5" in shown(alice, draft, "model")


def test_hardware_comes_from_a_file_for_a_class_of_nodes_and_the_rest_is_asked(alice: Client) -> None:
    draft = begin(alice)
    upload = SimpleUploadedFile("topo.txt", TOPO)
    send(alice, draft, "hardware", "hardware-files", topology=upload, copies="2", node_names="alpha, beta")
    hardware = tree_of(draft)["identity"]["hardware"]
    assert ([*hardware["nodes"]], len(hardware["devices"])) == (["alpha", "beta"], 12)
    page = shown(alice, draft, "hardware")
    assert "Which model of accelerator?" in page
    kind = "/identity/hardware/devices/<id>/type"
    send(alice, draft, "hardware", typed={f"answer:{kind}": "a-40g", f"for:{kind}": [*hardware["devices"]]})
    assert {device["type"] for device in tree_of(draft)["identity"]["hardware"]["devices"].values()} == {"a-40g"}
    assert "Which model of accelerator?" not in shown(alice, draft, "hardware")


def test_an_evidence_set_is_added_with_its_reasons(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "evidence", "evidence-set:core")
    entries = tree_of(draft)["evidence_required"]
    assert entries["device_memory"]["because"] == "Every device has its own peak; the worst one decides."
    assert "Add the fabric set" in shown(alice, draft, "evidence")


def test_what_closed_entries_need_is_counted_on_them_and_not_listed_again(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "hardware", "hardware-files", topology=SimpleUploadedFile("topo.txt", TOPO), copies="2")
    page = shown(alice, draft, "hardware")
    assert "/identity/hardware/devices/node-0-gpu0/type" not in page
    assert "2 needed" in page


def test_a_clone_shows_what_was_changed_and_whose_it_is(alice: Client, worked: Decision) -> None:
    digest = file_sha256(example_pair().contract)
    assert "D-0001" in alice.get("/w/lab/contracts/").content.decode()
    draft = begin(alice, act="clone", contract=digest)
    assert "No field differs." in shown(alice, draft, "review")
    send(alice, draft, "hardware", typed={"/identity/hardware/nodes/node-a/sockets": "4"})
    send(alice, draft, "limits", typed={"/gates/ttft/saturated_p95/max_ms": "450"})
    page = shown(alice, draft, "review")
    assert "owned by Networking" in page
    assert "owned by Serving" in page
    assert "/identity/hardware/nodes/node-a/sockets" in page
    assert draft_from(bytes(Draft.objects.get(pk=draft.pk).body)).based_on == digest


def test_an_unfinished_file_goes_on_and_what_is_no_contract_is_refused(alice: Client) -> None:
    draft = begin(alice, act="upload", document_text='{"schema": "topogate.contract/v1", "slot": "a/b", "odd": 1}')
    assert "/odd" in shown(alice, draft, "review")
    answer = alice.post("/w/lab/contracts/", {"act": "upload", "document_text": '{"a": 1, "a": 2}'})
    assert (answer.status_code, "json/duplicate_key" in answer.content.decode()) == (422, True)
    answer = alice.post("/w/lab/contracts/", {"act": "upload"})
    assert (answer.status_code, "a contract as a file or text" in answer.content.decode()) == (422, True)
    assert Draft.objects.count() == 1


def test_a_finished_contract_is_handed_to_a_new_decision_byte_for_byte(alice: Client, people: Cast) -> None:
    draft = begin(alice, act="upload", document=SimpleUploadedFile("c.json", example_pair().contract))
    href = f"/w/lab/decisions/new?contract_draft={draft.pk}"
    review = shown(alice, draft, "review")
    # Nothing is stored under its digests yet, so they lead nowhere.
    assert (href in review, "/digests/" in review) == (True, False)
    assert f"contract of your draft {draft.pk}" in alice.get(href).content.decode()
    evidence = SimpleUploadedFile("e.json", example_pair().evidence)
    answer = alice.post(href, {"act": "submit", "title": "By form", "files": evidence})
    assert answer.status_code == 302
    made = Revision.objects.get()
    assert made.contract.file_sha256 == file_sha256(alice.get(f"/w/lab/contracts/{draft.pk}/contract.json").content)
    assert made.contract.content_id == read_contract(example_pair().contract).content_id


def test_nobody_hands_over_the_draft_of_another(alice: Client, people: Cast, visit: Visit) -> None:
    draft = begin(alice)
    assert visit(people.bob).get(f"/w/lab/decisions/new?contract_draft={draft.pk}").status_code == 404


@pytest.mark.parametrize(
    ("step", "act", "fields", "said"),
    [
        ("model", "model-files", {"config_text": "{"}, "json/syntax"),
        ("model", "model-files", {}, "a config.json, or its text"),
        ("model", "known-model", {"known_model": "nobody/knows"}, "a model of the list"),
        ("hardware", "hardware-files", {"topology_text": "hello"}, "hardware/format"),
        ("hardware", "hardware-files", {"topology_text": "x", "copies": "many"}, "a whole number"),
        ("hardware", "node-class", {"class_nodes": "0"}, "a whole number from 1 to 1,024"),
        ("hardware", "node-class", {"class_memory_bytes": "plenty"}, "a whole number of bytes</b>"),
        ("limits", "limit", {"limit_gate": "rank_count"}, "a gate that takes limits"),
        ("service", "save", {"/nothing": "1"}, "a field of a contract"),
        ("workload", "add:/nothing|x", {}, "a field of a contract"),
    ],
)
def test_what_is_not_taken_says_why_and_changes_nothing(
    step: str, act: str, fields: dict[str, str], said: str, alice: Client
) -> None:
    draft = begin(alice)
    answer = send(alice, draft, step, act, typed=fields)
    assert (answer.status_code, said in answer.content.decode()) == (422, True)
    assert Draft.objects.get(pk=draft.pk).version == 1


def test_every_number_of_a_class_of_nodes_that_is_none_is_named(alice: Client) -> None:
    draft = begin(alice)
    wrong = {"class_nodes": "two", "class_memory_bytes": "plenty", "class_link_bytes_per_s_one_way": "fast"}
    page = send(alice, draft, "hardware", "node-class", typed=wrong).content.decode()
    said = re.findall(r'<p class="where">(class_\w+)</p><p class="small">Expected <b>([^<]+)</b>. Found (\w+)\.', page)
    assert said == [
        ("class_nodes", "a whole number", "two"),
        ("class_memory_bytes", "a whole number of bytes", "plenty"),
        ("class_link_bytes_per_s_one_way", "a whole number of bytes per second", "fast"),
    ]
