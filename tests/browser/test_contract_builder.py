"""The contract builder in a browser: checked while somebody types, by keyboard, on a phone."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from planner.contract_builder.draft import ContractDraft, continued
from planner.contract_builder.edits import entry_added, fields_set
from reviews.models import Draft
from reviews.services.contract_drafts import contract_draft_create
from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser

STEPS = ("hardware", "limits", "review")


def begun(people: Cast, draft: ContractDraft | None = None) -> Draft:
    return contract_draft_create(actor=people.alice, workspace=people.workspace, draft=draft or ContractDraft())


def address(draft: Draft, step: str) -> str:
    return f"/w/lab/contracts/{draft.pk}/{step}/"


def test_what_is_typed_is_judged_at_once_and_not_saved(people: Cast, visit: Open) -> None:
    draft = begun(people)
    page = visit(people.alice, address(draft, "model"))
    layers = page.get_by_label("Layers", exact=True)
    layers.press_sequentially("many")
    expect(page.get_by_text('Expected an integer of at least 1. Found "many" (text).')).to_be_visible()
    expect(page.locator("#live")).to_contain_text('"layers": "many"')
    expect(page.locator("#live")).to_contain_text("Not saved yet")
    expect(layers).to_be_focused()
    layers.fill("48")
    expect(page.get_by_text('Found "many"')).to_have_count(0)
    expect(page.locator("#live")).to_contain_text('"layers": 48')
    assert Draft.objects.get().version == 1
    layers.press("Enter")
    expect(page.locator("#live")).to_contain_text("Version 2, saved")


def test_a_choice_that_decides_shows_what_it_asks_for_and_keeps_what_was_typed(people: Cast, visit: Open) -> None:
    page = visit(people.alice, address(begun(people), "model"))
    page.get_by_label("Name", exact=True).fill("own/moe")
    expect(page.get_by_label("Experts per token")).to_have_count(0)
    page.get_by_label("Architecture").focus()
    page.get_by_label("Architecture").select_option("moe")
    expect(page.get_by_label("Experts per token")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("own/moe")
    expect(page.get_by_label("Architecture")).to_be_focused()


def test_a_limit_is_added_and_written_by_keyboard_alone(people: Cast, visit: Open) -> None:
    tree = entry_added(ContractDraft().tree, "/identity/workload/load_points", "saturated")
    page = visit(people.alice, address(begun(people, ContractDraft(tree=tree)), "limits"))
    page.get_by_label("Gate", exact=True).focus()
    page.keyboard.type("ttft")
    page.keyboard.press("Tab")
    page.keyboard.type("p95")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="p95")).to_be_in_viewport()
    page.get_by_label("Because").fill("People wait.")
    page.get_by_label("Load point").select_option("saturated")
    page.get_by_label("Statistic").select_option("p95")
    page.get_by_label("At most").fill("0.5 s")
    expect(page.locator("#live")).to_contain_text('"max_ms": 500')


def test_no_step_has_a_fault(people: Cast, visit: Open) -> None:
    wrong = fields_set(ContractDraft().tree, {"/identity/model/layers": ["many"], "/gates/ttft/p95/max_ms": ["soon"]})
    whole = continued(example_pair().contract)
    drafts = [begun(people, draft) for draft in (ContractDraft(tree=wrong), whole, replace(whole, revises=1))]
    page = visit(people.alice, "/w/lab/contracts/")
    found = {"list": faults(page)}
    for draft in drafts:
        for step in STEPS:
            page.goto(address(draft, step))
            found[f"{draft.pk} {step}"] = faults(page)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_what_changed_shows_both_sides_on_a_phone(people: Cast, visit: Open) -> None:
    pair = example_pair()
    stored = planned(people, pair=pair).contract.blob_id
    base = continued(pair.contract, based_on=stored)
    draft = begun(people, replace(base, tree=fields_set(base.tree, {"/identity/model/layers": ["12"]})))
    page = visit(people.alice, address(draft, "review"), width=390)
    box = page.get_by_role("group", name="Changes of identity/model")
    expect(box).to_contain_text("12")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0
