"""Clicks in a real browser: a second one is no second act; of two people at once one reads what the other one did."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from playwright.sync_api import Locator, Page, expect

from reviews.audit import workspace_write
from reviews.models import Activation, AuditEntry, Decision, Reproduction
from tests.browser.conftest import Open
from tests.reviews.drafts import begun
from tests.reviews.factories import Cast, planned
from tests.reviews.rules.test_rule_10_activation import approved

pytestmark = pytest.mark.browser
RELEASE = "/w/lab/decisions/1/release/"
AT_ONCE = """([act, at]) => setTimeout(
    () => document.querySelector(`#${act} form`).requestSubmit(), at - Date.now())"""


@contextmanager
def busy(people: Cast) -> Iterator[None]:
    """Let every act of the workspace wait, so that a second click comes while the first is being done."""
    begins, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with workspace_write(people.workspace.pk):
            begins.set()
            ends.wait()
        connection.close()

    holding = threading.Thread(target=hold)
    holding.start()
    begins.wait()
    try:
        yield
    finally:
        ends.set()
        holding.join()


def clicked_twice(button: Locator, people: Cast) -> None:
    """Click, and click again once the first request is on its way; a mouse does not wait for where a click leads."""
    button.scroll_into_view_if_needed()
    page, box = button.page, button.bounding_box()
    assert box
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    with busy(people):
        with page.expect_request(lambda request: request.method == "POST"):
            page.mouse.click(*place)
        page.wait_for_timeout(500)
        page.mouse.click(*place)
        page.wait_for_timeout(500)


def refusals() -> int:
    return AuditEntry.objects.filter(action__endswith="refused").count()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_second_click_is_no_second_act(script: bool, people: Cast, visit: Open) -> None:
    planned(people)
    page = visit(people.bob, RELEASE, script=script)
    page.locator("#reproduce summary").click()
    clicked_twice(page.get_by_role("button", name="Plan again"), people)
    expect(page.locator("#reproduce details")).not_to_have_attribute("open", "")
    assert (Reproduction.objects.count(), refusals()) == (1, 0)


def test_a_second_click_ends_a_review_once(people: Cast, visit: Open) -> None:
    planned(people)
    page = visit(people.alice, RELEASE)
    page.locator("#withdraw summary").click()
    page.locator("#withdraw textarea").fill("Not needed any more.")
    clicked_twice(page.get_by_role("button", name="Withdraw the decision"), people)
    expect(page.locator("main")).to_contain_text("Withdrawn")
    assert (Decision.objects.get().state, refusals()) == ("WITHDRAWN", 0)


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_second_click_takes_one_step_of_the_builder(script: bool, people: Cast, visit: Open) -> None:
    draft = begun(people)
    page = visit(people.alice, f"/w/lab/evidence/drafts/{draft.pk}/trials/", script=script)
    page.locator("#new").fill("tp2")
    clicked_twice(page.locator("#do-new"), people)
    expect(page.locator("main")).to_contain_text("tp2")
    expect(page.locator("main")).not_to_contain_text("Not saved")
    draft.refresh_from_db()
    assert (draft.version, refusals()) == (2, 0)


def test_of_two_who_put_it_into_force_one_reads_who_did(people: Cast, visit: Open) -> None:
    approved(people)
    pages = [visit(person, RELEASE) for person in (people.bob, people.dave)]
    for page in pages:
        page.locator("#activate textarea").fill("Rolled out.")
    at = pages[0].evaluate("Date.now() + 1500")
    for page in pages:
        page.evaluate(AT_ONCE, ["activate", at])
    for page in pages:
        expect(page.locator("main")).to_contain_text("was put into force")
        page.wait_for_load_state()
    told = [page for page in pages if problem(page).count()]
    assert (len(told), Activation.objects.count(), refusals()) == (1, 1, 1)
    expect(problem(told[0])).to_have_text(
        re.compile("D-0001 is effective, not in review. (Bob|Dave) put it into force")
    )


def problem(page: Page) -> Locator:
    return page.get_by_role("alert")
