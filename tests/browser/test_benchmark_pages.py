"""The benchmark page in a browser: nothing that axe finds, no sideways scroll, commands that can be copied."""

import pytest

from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser

PAGE = "/w/lab/decisions/1/benchmark/"
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


def test_nothing_is_cut_or_out_of_reach(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    page = visit(people.bob, PAGE)
    page.evaluate(OPEN_ALL)
    assert faults(page) == []
    name = "vllm bench serve command of saturated"
    copied = page.get_by_role("button", name=f"Copy {name}").get_attribute("data-copy")
    assert copied == page.get_by_role("group", name=name, exact=True).inner_text()
