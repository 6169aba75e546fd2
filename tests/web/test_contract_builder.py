"""The contract builder as somebody without JSON uses it: every step is a form, and nothing typed is lost."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from planner.canonical import file_sha256
from planner.contract_builder.draft import draft_from
from planner.contract_builder.steps import STEPS
from planner.intake import read_contract
from reviews.models import AuditEntry, Decision, Draft, Revision
from tests.queries import cost
from tests.reviews.factories import Cast, last_entry
from tests.shared import ROOT
from tests.web.conftest import Visit, example_pair

TOPO = (ROOT / "tests/data/hardware/nvidia_6gpu_bridged.txt").read_bytes()
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def alice(people: Cast, visit: Visit) -> Client:
    return visit(people.alice)


def begin(client: Client, **fields: Any) -> Draft:
    answer = client.post("/w/lab/contracts/", {"act": "empty", **fields})
    assert answer.status_code == 302, answer.content.decode()
    return Draft.objects.order_by("-pk")[0]


def send(client: Client, draft: Draft, step: str, act: str = "save", **fields: Any) -> Any:
    sent = {
        "act": act,
        "version": fields.pop("version", Draft.objects.get(pk=draft.pk).version),
        **fields.pop("typed", {}),
    }
    return client.post(f"/w/lab/contracts/{draft.pk}/{step}/", {**sent, **fields})


def tree_of(draft: Draft) -> dict[str, Any]:
    return draft_from(bytes(Draft.objects.get(pk=draft.pk).body)).tree


def shown(client: Client, draft: Draft, step: str, query: str = "") -> str:
    answer = client.get(f"/w/lab/contracts/{draft.pk}/{step}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_contract_is_written_from_nothing_to_accepted(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "service", typed={"/slot": "chat/eu-west", "/owner": "serving"})
    send(alice, draft, "model", "model-files", config_text=json.dumps(CONFIG))
    send(
        alice,
        draft,
        "model",
        typed={
            "/identity/model/name": "own/llama-8b",
            "/identity/model/revision": "r1",
            "/identity/precision/kv_cache": "bf16",
        },
    )
    send(
        alice,
        draft,
        "workload",
        "add:/identity/workload/load_points|saturated",
        typed={"/identity/workload/name": "chat"},
    )
    send(
        alice,
        draft,
        "workload",
        typed={
            "/identity/workload/load_points/saturated/arrival": "closed",
            "/identity/workload/load_points/saturated/concurrent_requests": "64",
        },
    )
    send(
        alice, draft, "stack", typed={"/identity/stack/engine/name": "vllm", "/identity/stack/engine/version": "0.33.0"}
    )
    send(
        alice,
        draft,
        "hardware",
        "node-class",
        class_nodes="2",
        class_devices="8",
        class_type="accel-80g",
        class_memory_bytes="80 GiB",
    )
    send(alice, draft, "limits", "limit", limit_gate="ttft", limit_id="saturated_p95")
    send(
        alice,
        draft,
        "limits",
        typed={
            "/gates/ttft/saturated_p95/because": "The page shows a waiting state from half a second on.",
            "/gates/ttft/saturated_p95/load_point": "saturated",
            "/gates/ttft/saturated_p95/statistic": "p95",
            "/gates/ttft/saturated_p95/max_ms": "500",
        },
    )
    send(alice, draft, "selection", typed={"/selection/preset": "highest_throughput"})
    page = shown(alice, draft, "review")
    assert "accepted as it stands" in page
    raw = alice.get(f"/w/lab/contracts/{draft.pk}/contract.json").content
    document = read_contract(raw)
    assert document.content_id in page
    assert document.record.identity.model.layers == 32
    assert len(document.record.identity.hardware.devices) == 16
    assert document.record.gates["ttft"]["saturated_p95"]["max_ms"] == 500


def test_the_document_beside_the_form_is_what_is_stored(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "service", typed={"/slot": "a & b"})
    page = shown(alice, draft, "service")
    lines = re.findall(r'<div class="source-l[^>]*><span class="source-n">\d+</span><code>([^<]*)</code>', page)
    raw = alice.get(f"/w/lab/contracts/{draft.pk}/contract.json").content.decode()
    assert [line.replace("&quot;", '"').replace("&amp;", "&") for line in lines] == raw.splitlines()


@pytest.mark.parametrize("step", [step.id for step in STEPS])
def test_every_step_shows_an_empty_and_a_full_contract(step: str, alice: Client) -> None:
    empty = begin(alice)
    full = begin(alice, act="upload", document=SimpleUploadedFile("c.json", example_pair().contract))
    for draft in (empty, full):
        page = shown(alice, draft, step)
        assert 'aria-current="step"' in page
        assert "None" not in re.findall(r'value="([^"]*)"', page)


def test_checking_shows_what_would_be_stored_and_stores_nothing(alice: Client) -> None:
    draft = begin(alice)
    entries = AuditEntry.objects.count()
    answer = send(alice, draft, "model", "check", typed={"/identity/model/layers": "many"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Expected an integer &gt;= 1. Found &quot;many&quot; (text)." in page
    assert "Not saved yet" in page
    assert (Draft.objects.get(pk=draft.pk).version, AuditEntry.objects.count()) == (1, entries)


def test_a_value_that_does_not_fit_is_saved_and_named_at_its_field(alice: Client) -> None:
    draft = begin(alice)
    assert send(alice, draft, "model", typed={"/identity/model/layers": "many"}).status_code == 302
    page = shown(alice, draft, "model")
    assert 'value="many" aria' not in page
    assert re.search(r'input-bad"[^>]*aria-invalid="true"[^>]*value="many"', page)
    assert "1 wrong" in page


def test_what_a_button_leads_to(alice: Client) -> None:
    draft = begin(alice)
    at = f"/w/lab/contracts/{draft.pk}"
    assert send(alice, draft, "service", "next")["Location"] == f"{at}/model/"
    assert send(alice, draft, "model", "back")["Location"] == f"{at}/service/"
    assert send(alice, draft, "model", "go:limits")["Location"] == f"{at}/limits/"
    assert send(alice, draft, "limits", "limit", limit_gate="ttft")["Location"].startswith(
        f"{at}/limits/?open=%2Fgates%2Fttft%2Flimit-1#p"
    )


def test_two_tabs_do_not_overwrite_one_another(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "service", typed={"/slot": "first/tab"}, version=1)
    answer = send(alice, draft, "service", typed={"/slot": "second/tab"}, version=1)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert tree_of(draft)["slot"] == "first/tab"
    assert 'value="second/tab"' in page, "what was typed is kept"
    assert "&quot;first/tab&quot;" in page, "and set beside what is stored"
    assert last_entry_action(draft) == "draft.refused"
    assert 'name="version" value="2"' in page
    assert send(alice, draft, "service", typed={"/slot": "second/tab"}, version=2).status_code == 302
    assert tree_of(draft)["slot"] == "second/tab"


def last_entry_action(draft: Draft) -> str:
    return AuditEntry.objects.filter(workspace=draft.workspace).order_by("-seq")[0].action


def test_the_same_form_twice_is_one_version(alice: Client) -> None:
    draft = begin(alice)
    for _ in range(2):
        assert send(alice, draft, "service", typed={"/slot": "a/b"}, version=1).status_code == 302
    assert Draft.objects.get(pk=draft.pk).version == 2


def test_saving_is_an_entry_of_the_log_without_the_contract(alice: Client, people: Cast) -> None:
    draft = begin(alice)
    send(alice, draft, "service", typed={"/slot": "chat/secret", "/owner": "somebody"})
    entry = last_entry(people)
    assert (entry["action"], entry["payload"]["version"]) == ("draft.changed", 2)
    assert "somebody" not in json.dumps(entry)


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


@pytest.mark.parametrize(
    ("step", "act", "fields", "said"),
    [
        ("model", "model-files", {"config_text": "{"}, "json/syntax"),
        ("model", "model-files", {}, "a config.json, or its text"),
        ("model", "known-model", {"known_model": "nobody/knows"}, "a model of the list"),
        ("hardware", "hardware-files", {"topology_text": "hello"}, "hardware/format"),
        ("hardware", "hardware-files", {"topology_text": "x", "copies": "many"}, "a whole number"),
        ("hardware", "node-class", {"class_nodes": "0"}, "a whole number from 1 to 1,024"),
        ("hardware", "node-class", {"class_memory_bytes": "plenty"}, "a whole number of bytes"),
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


def test_a_long_collection_opens_one_entry_and_leaves_the_others_alone(alice: Client) -> None:
    draft = begin(alice, act="upload", document=SimpleUploadedFile("c.json", example_pair().contract))
    before = tree_of(draft)["identity"]["hardware"]["devices"]
    answer = send(alice, draft, "hardware", "open:/identity/hardware/devices/b3")
    page = alice.get(answer["Location"]).content.decode()
    assert 'name="/identity/hardware/devices/b3/type"' in page
    assert 'name="/identity/hardware/devices/a0/type"' not in page
    send(alice, draft, "hardware", typed={"/identity/hardware/devices/b3/type": "accel-40g"})
    after = tree_of(draft)["identity"]["hardware"]["devices"]
    assert {name for name in after if after[name] != before[name]} == {"b3"}


def test_an_entry_is_added_by_typing_its_id_and_removed_by_a_button(alice: Client) -> None:
    draft = begin(alice)
    points = "/identity/workload/load_points"
    send(alice, draft, "workload", typed={f"key:{points}": "peak"})
    assert tree_of(draft)["identity"]["workload"] == {"load_points": {"peak": {}}}
    send(alice, draft, "workload", f"remove:{points}/peak")
    assert tree_of(draft)["identity"]["workload"] == {}
    kv = "/identity/stack/kv"
    send(alice, draft, "stack", typed={f"key:{kv}": "block_tokens", f"value:{kv}": "16"})
    assert tree_of(draft)["identity"]["stack"]["kv"] == {"block_tokens": 16}


def test_the_order_of_keys_is_built_by_buttons(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "selection", "add:/selection/keys|0")
    send(alice, draft, "selection", "add:/selection/keys|1", typed={"/selection/keys/0/key": "ttft"})
    send(alice, draft, "selection", "up:/selection/keys/1", typed={"/selection/keys/1/key": "topology"})
    assert tree_of(draft)["selection"]["keys"] == [{"key": "topology"}, {"key": "ttft"}]


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


def test_a_problem_without_a_field_can_be_taken_out(alice: Client) -> None:
    raw = '{"schema": "topogate.contract/v1", "identity": {"model": {"depth": 3}}}'
    draft = begin(alice, act="upload", document_text=raw)
    page = shown(alice, draft, "model")
    assert "remove:/identity/model/depth" in page
    send(alice, draft, "model", "remove:/identity/model/depth")
    assert tree_of(draft)["identity"]["model"] == {}


def test_a_draft_is_deleted(alice: Client) -> None:
    draft = begin(alice)
    answer = send(alice, draft, "review", "delete")
    assert (answer["Location"], Draft.objects.count()) == ("/w/lab/contracts/", 0)


def test_a_draft_is_nobody_elses(alice: Client, people: Cast, visit: Visit) -> None:
    draft = begin(alice)
    for name, arguments in (("contract-draft", ["lab", draft.pk, "model"]), ("contract-draft-json", ["lab", draft.pk])):
        assert visit(people.bob).get(reverse(name, args=arguments)).status_code == 404
        assert visit(people.charlie).get(reverse(name, args=arguments)).status_code == 404
    assert alice.get(f"/w/lab/contracts/{draft.pk}/nonsense/").status_code == 404


def test_who_may_not_submit_reads_why_and_begins_nothing(people: Cast, visit: Visit) -> None:
    bob = visit(people.bob)
    assert "Submitting needs the role author." in bob.get("/w/lab/contracts/").content.decode()
    assert bob.post("/w/lab/contracts/", {"act": "empty"}).status_code == 403
    assert Draft.objects.count() == 0


def test_a_finished_contract_is_handed_to_a_new_decision_byte_for_byte(alice: Client, people: Cast) -> None:
    draft = begin(alice, act="upload", document=SimpleUploadedFile("c.json", example_pair().contract))
    href = f"/w/lab/decisions/new?contract_draft={draft.pk}"
    assert href in shown(alice, draft, "review")
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


def test_a_page_costs_the_same_queries_whatever_it_shows(alice: Client) -> None:
    empty = begin(alice)
    full = begin(alice, act="upload", document=SimpleUploadedFile("c.json", example_pair().contract))
    at = "/w/lab/contracts/{}/limits/"
    assert cost(alice, at.format(empty.pk)) == cost(alice, at.format(full.pk))


def test_what_closed_entries_need_is_counted_on_them_and_not_listed_again(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "hardware", "hardware-files", topology=SimpleUploadedFile("topo.txt", TOPO), copies="2")
    page = shown(alice, draft, "hardware")
    assert "/identity/hardware/devices/node-0-gpu0/type" not in page
    assert "2 needed" in page
