"""Text from outside stays text on every page: no element, no script, no dialog, no refusal by the policy."""

import json

import pytest

from planner.canonical import content_id
from reviews.models import Decision
from tests.browser.conftest import Open
from tests.reviews.factories import Cast, Pair, contract_tree, evidence_tree, planned, sign

pytestmark = pytest.mark.browser
HOSTILE = (
    "<script>window.hostile=1</script>",
    '"><img src=x onerror=window.hostile=1>',
    "</script><svg onload=window.hostile=1>",
    "'-window.hostile=1-'{{7*7}}%{x}<extra></extra>",
    "</textarea><details open ontoggle=window.hostile=1>",
)
PAGES = ("1/", "1/?cell=t-1~throughput~floor", "1/map/", "1/history/", "new?decision=1")


@pytest.fixture
def decision(people: Cast) -> Decision:
    """A decision whose every free text is hostile."""
    contract = contract_tree(slot=HOSTILE[0][:128])
    contract["owner"] = HOSTILE[1]
    contract["identity"]["model"]["name"] = HOSTILE[2]
    for limits in contract["gates"].values():
        for limit in limits.values():
            limit["because"] = " ".join(HOSTILE)
    evidence = evidence_tree(contract)
    evidence["contract_content_id"] = content_id(contract)
    people.alice.display_name = HOSTILE[3]
    people.alice.save(update_fields=["display_name"])
    revision = planned(people, pair=Pair(json.dumps(contract).encode(), json.dumps(evidence).encode()))
    decision = revision.decision
    decision.title = " ".join(HOSTILE)[:200]
    decision.save(update_fields=["title"])
    sign(people, revision, statement=" ".join(HOSTILE))
    return decision


def test_hostile_text_stays_text(decision: Decision, people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/")
    found = []
    for path in [
        *(f"/w/lab/decisions/{path}" for path in PAGES),
        "/w/lab/",
        "/w/lab/audit/",
        "/w/lab/?q=" + HOSTILE[1],
    ]:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        if page.evaluate(
            "window.hostile !== undefined || document.querySelectorAll('[onerror], [onload], [ontoggle]').length"
        ):
            found.append(path)
    assert found == []
    assert "<img src=x" in (page.locator("#f-q").get_attribute("value") or "")
