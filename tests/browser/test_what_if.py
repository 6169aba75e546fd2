"""Asking what if without a script, following a flip and a pointer: each one click, each an address to share."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser

PAGE = "/w/lab/decisions/1/what-if/"
TAIL = "/gates/ttft/saturated_p95/max_ms"


@pytest.mark.parametrize("script", [True, False])
def test_several_overrides_are_asked_one_after_the_other(script: bool, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, PAGE, script=script)
    page.get_by_label("Value", exact=True).select_option(TAIL)
    page.get_by_label("Is taken to be").fill("400")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="tp4-pp2-ep2-dp1 drops out and nothing is selected.")).to_be_visible()
    page.get_by_label("Gate, limit or other part").select_option("/gates/link_utilization")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="tp8-pp1-ep2-dp1 wins instead of tp4-pp2-ep2-dp1.")).to_be_visible()
    expect(page).to_have_url(
        re.compile(re.escape(f"{PAGE}?set={TAIL}=400&without=/gates/link_utilization#answer") + "$")
    )
    page.get_by_role("link", name="Take out link_utilization").click()
    expect(page.get_by_role("heading", name="tp4-pp2-ep2-dp1 drops out and nothing is selected.")).to_be_visible()


def test_a_wrong_value_is_kept_and_its_field_says_why(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, f"{PAGE}?set={TAIL}=fast")
    field = page.get_by_label("Other value of ttft saturated_p95 max_ms")
    expect(field).to_have_value("fast")
    expect(field).to_have_accessible_description('Expected a value in JSON. Found "fast".')
    field.fill("400")
    field.press("Enter")
    expect(page.locator("#answer")).to_be_visible()


def test_a_flip_is_one_click_from_its_what_if(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, "/w/lab/decisions/1/")
    page.get_by_role("link", name=re.compile("What if: tp8-pp1-ep2-dp1 wins")).click()
    expect(page.get_by_role("heading", name="tp8-pp1-ep2-dp1 wins instead of tp4-pp2-ep2-dp1.")).to_be_visible()


def test_a_pointer_of_an_opened_cell_is_one_click_from_its_line(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, "/w/lab/decisions/1/?cell=t-base-16~ttft~saturated_p95", width=390)
    page.get_by_role("link", name="/trials/t-base-16/windows/sat-2/load/ttft_ms/p95").click()
    expect(page.locator("#here")).to_be_in_viewport()
    expect(page.locator("#here")).to_contain_text('"p95": 420,')
    page.get_by_role("link", name="Next: p99").click()
    expect(page.locator("#here")).to_contain_text('"p99": 486,')
    page.get_by_role("button", name="Copy pointer").click()
    expect(page.locator("#said")).to_have_text("Copied pointer.")
    assert page.evaluate("navigator.clipboard.readText()").endswith("/ttft_ms/p99")
