"""The benchmark page in a browser: nothing that axe finds, no sideways scroll, commands that can be copied."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # the package has no types

from tests.browser.conftest import Open
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser

PAGE = "/w/lab/decisions/1/benchmark/"
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_nothing_is_cut_or_out_of_reach(theme: str, width: int, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    page = visit(people.bob, PAGE, theme=theme, width=width)
    page.evaluate(OPEN_ALL)
    result = Axe().run(page)
    assert [(rule["id"], rule["nodes"][0]["target"]) for rule in result.response["violations"]] == []
    assert page.evaluate(OVER) == 0
    name = "vllm bench serve command of saturated"
    copied = page.get_by_role("button", name=f"Copy {name}").get_attribute("data-copy")
    assert copied == page.get_by_role("group", name=name, exact=True).inner_text()
