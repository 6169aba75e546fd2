"""The evidence builder in a browser: a real drop of several files, answers without a reload, two tabs, every theme."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reviews.models import Draft, DraftFile
from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews.drafts import added, begun, tool_file
from tests.reviews.factories import Cast

pytestmark = pytest.mark.browser
OUTSIDE = """[...document.querySelectorAll("main *")]
    .filter((one) => one.checkVisibility({ contentVisibilityAuto: true }) && !one.closest(".scroll, .seg, .source"))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`)"""
"""What reaches beyond the right edge of a phone, but for what may scroll by itself."""
TABS = ("", "trials/", "questions/?all=yes", "coverage/")


def tab(draft: Draft, name: str = "") -> str:
    return f"/w/lab/evidence/drafts/{draft.pk}/{name}"


def drop(page: Page, *files: Path) -> None:
    """Drop files from outside the browser, as its own input does."""
    frame = page.locator("[data-drop]").first
    box = frame.bounding_box()
    assert box
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": box["x"] + box["width"] / 4, "y": box["y"] + box["height"] / 2}
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


@pytest.fixture
def draft(people: Cast) -> Draft:
    """A draft of alice's without a file."""
    return begun(people)


def test_several_files_are_dropped_and_read(draft: Draft, people: Cast, visit: Open, tmp_path: Path) -> None:
    files = []
    for name, raw in (tool_file(), tool_file("c4.json", max_concurrency=4), ("notes.txt", b"a walk in the park\n")):
        (tmp_path / name).write_bytes(raw)
        files.append(tmp_path / name)
    page = visit(people.alice, tab(draft))
    page.evaluate("globalThis.stays = true")
    drop(page, *files)
    expect(page.locator("#chosen li")).to_have_count(3)
    page.get_by_role("button", name="Add files").click()
    expect(page.locator("#h-files")).to_have_text("3 files")
    expect(page.locator(".strips")).to_contain_text("notes.txt is not taken.")
    expect(page.locator("#builder-rail")).to_contain_text("1 trial")
    assert page.evaluate("globalThis.stays")
    assert sorted(DraftFile.objects.values_list("name", flat=True)) == ["c16.json", "c4.json", "notes.txt"]

    drop(page, files[0])
    page.get_by_role("button", name="Add files").click()
    expect(page.locator(".strips")).to_contain_text("In the draft already.")


def test_answers_move_the_meter_without_a_reload(draft: Draft, people: Cast, visit: Open) -> None:
    added(people, draft, tool_file(tensor_parallel_size=1))
    page = visit(people.alice, tab(draft, "questions/"))
    page.evaluate("globalThis.stays = true")
    open_before = page.locator("#builder-rail .tally").inner_text()
    page.get_by_label("Who or which program collected the evidence?").fill("pilot team")
    page.locator("#save-g0").click()
    expect(page.locator("#builder-rail .tally")).not_to_have_text(open_before, use_inner_text=True)
    expect(page.get_by_label("Who or which program collected the evidence?")).to_have_value("pilot team")
    expect(page.locator("#save-g0")).to_be_focused()
    assert page.evaluate("globalThis.stays")


def test_the_second_of_two_tabs_is_told_and_keeps_what_was_typed(draft: Draft, people: Cast, visit: Open) -> None:
    added(people, draft, tool_file())
    first, second = (visit(people.alice, tab(draft, "trials/")) for _ in range(2))
    first.fill("#new", "tp2")
    first.locator("#do-new").click()
    expect(first.locator("#t-tp2")).to_be_visible()
    second.set_viewport_size({"width": 1280, "height": 240})
    second.fill("#new", "tp4")
    second.locator("#do-new").click()
    expect(second.get_by_role("alert")).to_contain_text("This draft was changed in another tab")
    expect(second.get_by_role("alert")).to_be_in_viewport()
    expect(second.locator("#new")).to_have_value("tp4")
    expect(second.locator("#t-tp2")).to_be_visible()
    second.locator("#do-new").click()
    expect(second.locator("#t-tp4")).to_be_visible()


def test_every_tab_can_be_read_by_everybody(draft: Draft, people: Cast, visit: Open) -> None:
    added(people, draft, tool_file(), tool_file("c4.json", max_concurrency=4), ("notes.txt", b"a walk\n"))
    page = visit(people.alice, "/w/lab/evidence/drafts/")
    found = {}
    for address in ("/w/lab/evidence/drafts/", *(tab(draft, name) for name in TABS)):
        page.goto(address)
        wrong = faults(page)
        page.set_viewport_size({"width": 390, "height": 800})
        wrong += page.evaluate(OUTSIDE)
        page.set_viewport_size({"width": 1440, "height": 900})
        if wrong:
            found[address] = wrong
    assert found == {}
