"""The contract builder as somebody without JSON uses it: every step is a form, and nothing typed is lost."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from planner.contract_builder.steps import STEPS
from planner.intake import read_contract
from reviews.models import AuditEntry, Draft
from tests.queries import cost
from tests.reviews.factories import Cast, example_pair, last_entry
from tests.web.conftest import Visit
from tests.web.contract_drafts import begin, send, shown, tree_of, written


@pytest.fixture
def alice(people: Cast, visit: Visit) -> Client:
    return visit(people.alice)


def test_a_contract_is_written_from_nothing_to_accepted(alice: Client) -> None:
    draft = written(alice)
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
    assert "Expected an integer of at least 1. Found &quot;many&quot; (text)." in page
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


def test_a_list_of_load_points_is_not_told_how_an_id_is_written(alice: Client) -> None:
    draft = begin(alice)
    send(alice, draft, "workload", "add:/identity/workload/load_points|saturated")
    send(alice, draft, "limits", "limit", limit_gate="ttft", limit_id="p95")
    page = shown(alice, draft, "limits")
    assert ("an id: 1 to 64" in page, "Still needed: a number" in page) == (False, True)


def test_needs_say_what_they_mean_and_the_document_counts_its_lines(alice: Client) -> None:
    page = shown(alice, begin(alice), "needs")
    assert "Devices must be dedicated. No gate holds it; teams judge it." in page
    assert "1 lines of" not in page


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


def test_a_page_costs_the_same_queries_whatever_it_shows(alice: Client) -> None:
    empty = begin(alice)
    full = begin(alice, act="upload", document=SimpleUploadedFile("c.json", example_pair().contract))
    at = "/w/lab/contracts/{}/limits/"
    assert cost(alice, at.format(empty.pk)) == cost(alice, at.format(full.pk))
