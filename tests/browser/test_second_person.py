"""An emergency that one person proposes and another finds in the inbox, in a real browser."""

import pytest
from playwright.sync_api import expect

from reviews.models import Decision
from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews import waiting
from tests.reviews.factories import Cast
from tests.reviews.rules.board import board, someone

pytestmark = pytest.mark.browser


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """A workspace in which everybody is whom acts of two persons take."""
    return board()


def test_who_can_countersign_finds_it_and_its_proposer_sees_that_it_was_done(people: Cast, visit: Open) -> None:
    waiting.emergency(people)
    proposer = visit(someone("ivan"), "/w/lab/decisions/1/release/")
    expect(proposer.get_by_text("Waits for a second person: Bob or Dave.")).to_be_visible()
    second = visit(people.bob, "/w/lab/")
    assert faults(second) == []
    second.locator("#seconds").get_by_role("link", name="Countersign").click()
    expect(second.locator("[id^=proposal-]")).to_be_in_viewport()
    second.evaluate("scrollTo(0, 0)")  # what the bar half covers is too small a target
    assert faults(second) == []
    second.get_by_role("button", name="Countersign and carry out").click()
    expect(second.get_by_role("heading", name="Emergency INC-7")).to_be_visible()
    assert Decision.objects.get().state == "EMERGENCY"
    proposer.reload()
    expect(proposer.get_by_text("Ivan and Bob, ").first).to_be_visible()
    second.goto("/w/lab/")
    expect(second.locator("#seconds")).to_have_count(0)
