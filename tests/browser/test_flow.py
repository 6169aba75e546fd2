"""From upload to sign-off in the browser; planning runs in the test, in place of a worker."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from reviews.models import JobState, PlanJob, Revision, SignOff
from reviews.services.jobs import job_run
from tests.browser.conftest import Open
from tests.reviews.factories import Cast, documents, open_all, planned, submitted
from tests.shared import ROOT

pytestmark = pytest.mark.browser
WORKED = ROOT / "examples" / "worked"


def test_upload_plan_sign(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/decisions/new")
    page.fill("#title", "Chat on two nodes")
    page.set_input_files("#files", [WORKED / "evidence.json", WORKED / "contract.json"])
    expect(page.locator("#chosen li")).to_have_count(2)
    page.get_by_role("button", name="Submit for review").click()
    expect(page.locator("#progress")).to_contain_text("Planning r1")
    job_run(PlanJob.objects.get().pk)
    expect(page.locator(".banner-name")).to_have_text("tp4-pp2-ep2-dp1")

    open_all(Revision.objects.get(), people.bob, "serving", leave=1)
    signer = visit(people.bob, "/w/lab/decisions/1/")
    signer.get_by_role("button", name="Open next").click()
    expect(signer.locator("#opening")).to_contain_text("Opened 12 of 12 items")
    signer.get_by_label("Approve for serving").check()
    signer.get_by_label("Statement").fill("Memory and tails read.")
    signer.get_by_role("button", name="Sign for serving").click()
    expect(signer.locator("#requirements")).to_contain_text("Bob approved r1")
    assert SignOff.objects.get().statement == "Memory and tails read."


def test_problems_are_shown_in_place_and_the_files_stay_chosen(people: Cast, visit: Open, tmp_path: Path) -> None:
    broken = tmp_path / "contract.json"
    broken.write_text('{"schema": "topogate.contract/v1",\n "slot": 7}')
    page = visit(people.alice, "/w/lab/decisions/new")
    page.set_input_files("#files", [broken, WORKED / "evidence.json"])
    page.get_by_role("button", name="Check, store nothing").click()
    expect(page.locator("#h-problems")).to_be_focused()
    expect(page.locator("#answer")).to_contain_text("contract contract.json line 2 · /slot")
    assert page.evaluate("document.getElementById('files').files.length") == 2


def test_what_is_wrong_with_a_field_is_said_at_the_field_and_goes_when_it_is_mended(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/decisions/new")
    page.set_input_files("#files", [WORKED / "contract.json", WORKED / "evidence.json"])
    page.fill("#as_of", "2999-01-01T00:00:00Z")
    page.get_by_role("button", name="Submit for review").click()
    expect(page.locator("#title")).to_have_accessible_description(re.compile("Found nothing"))
    expect(page.locator("#as_of")).to_have_accessible_description(re.compile("a time not after now"))
    page.fill("#as_of", "")
    page.get_by_role("button", name="Check, store nothing").click()
    expect(page.locator("#h-trials")).to_have_text("3 trials, no problem")
    expect(page.locator("#title-bad, #as-of-bad")).to_have_count(0)


def test_a_check_shows_the_trials_in_place(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/decisions/new")
    page.set_input_files("#files", [WORKED / "contract.json", WORKED / "evidence.json"])
    page.get_by_role("button", name="Check, store nothing").click()
    expect(page.locator("#h-trials")).to_have_text("3 trials, no problem")


def test_dropped_files_are_taken(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/decisions/new")
    transfer = page.evaluate_handle(
        "() => { const data = new DataTransfer(); data.items.add(new File(['{}'], 'a.json')); return data; }"
    )
    page.locator("[data-drop]").dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.locator("#chosen li")).to_have_text("a.json, 1 KiB")
    assert page.evaluate("document.getElementById('files').files.length") == 1


def test_progress_counts_candidates_without_a_reload(people: Cast, visit: Open) -> None:
    revision = submitted(people)
    page = visit(people.alice, "/w/lab/decisions/1/")
    page.evaluate("window.stays = true")
    expect(page.locator("[data-live=text]")).to_have_text("Waiting for a worker.")
    PlanJob.objects.filter(pk=revision.job_id).update(state=JobState.FAILED, error_detail="It broke.", attempts=1)
    expect(page.locator("#stopped")).to_contain_text("It broke. After 1 attempt. Nothing was decided.")


def test_a_moved_decision_keeps_the_statement(people: Cast, visit: Open) -> None:
    decision = planned(people).decision
    page = visit(people.bob, "/w/lab/decisions/1/")
    page.get_by_label("Request changes").check()
    page.get_by_label("Statement").fill("Please measure again.")
    planned(people, pair=documents(tokens=200_000), decision=decision)
    page.get_by_role("button", name="Sign for serving").click()
    expect(page.get_by_role("alert").first).to_contain_text("This decision moved while you read it.")
    expect(page.get_by_label("Statement")).to_have_value("Please measure again.")


def test_the_theme_is_switched_in_place_and_kept_by_the_server(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/decisions/new")
    page.fill("#title", "Chat on two nodes")
    page.fill("#contract", '{"schema": "topogate.contract/v1"}')
    with page.expect_response("**/theme"):
        page.get_by_role("button", name="Switch light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    expect(page.locator("#title")).to_have_value("Chat on two nodes")
    expect(page.locator("#contract")).to_have_value('{"schema": "topogate.contract/v1"}')
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Switch light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_without_script_the_theme_is_switched_by_the_server(people: Cast, visit: Open) -> None:
    page = visit(people.bob, "/w/lab/", script=False)
    page.get_by_role("button", name="Switch light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
