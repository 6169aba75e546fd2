"""Every page: no axe violation in light and dark, no sideways scroll on any screen, no refusal by the policy."""

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from reviews.models import Attachment, Checkpoint, ObservationFeed, Revision, SignOff, Verification
from reviews.services.exports import export_request
from reviews.services.verification_runs import verification_run
from reviews.services.verifications import verification_request
from reviews.transparency.keys import new_key
from tests.browser.conftest import Open
from tests.browser.looking import OVER, faults
from tests.reviews.drafts import made
from tests.reviews.factories import Cast, documents, example_pair, planned, sign, submitted
from tests.reviews.late_ranks import LOG, RAS, TRACE, diagnosed
from tests.reviews.launched import launched, stale
from tests.reviews.observing import DRIFTED, FULL, memory, take
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.reviews.slots import ending, in_force

pytestmark = pytest.mark.browser

D = "/w/lab/decisions/"
PARTS = 3
"""How many tests share the pages, so that processes can."""
PAGES = [
    ("home", "/w/lab/"),
    ("new", f"{D}new"),
    ("selected", f"{D}1/"),
    ("an opened failing cell", f"{D}1/?cell=t-one-node~memory_headroom~worst_rank"),
    ("candidates as rows", f"{D}1/?rows=candidates&cell=t-wide-16~link_utilization~inter_node"),
    ("inconclusive", f"{D}2/?passing=1"),
    ("an older revision", f"{D}3/?revision=1"),
    ("planning", f"{D}4/"),
    ("map", f"{D}1/map/?rank=5"),
    ("a lost node", f"{D}1/map/?lost=node-b&colour=dp"),
    ("a map without metrics", f"{D}2/map/"),
    ("maps side by side", f"{D}1/map/compare/?trial=t-base-16&with=t-one-node&lost=node:node-b"),
    ("stress", f"{D}1/stress/"),
    ("a what-if", f"{D}1/what-if/?set=/gates/ttft/saturated_p95/max_ms=400&without=/gates/link_utilization"),
    ("a refused what-if", f"{D}1/what-if/?set=/gates/ttft/saturated_p95/max_ms=fast&reading=t-9:ttft.single_p95=1"),
    ("observations", f"{D}{{observed}}/observations/"),
    ("nothing observed", f"{D}1/observations/"),
    ("diagnoses", f"{D}1/slowest/"),
    ("a diagnosis", f"{D}1/slowest/1/"),
    ("a place of the evidence", f"{D}1/documents/evidence/?at=/trials/t-base-16/windows/sat-2/load/ttft_ms/p95"),
    ("a pointer to nothing", f"{D}1/documents/contract/?at=/gates/nope"),
    ("slots", "/w/lab/slots/"),
    ("what ends", "/w/lab/slots/?show=ends"),
    ("shared evidence", "/w/lab/slots/?show=shared"),
    ("a slot", "/w/lab/slots/one?slot=own/ends-soon"),
    ("a slot where nothing holds", "/w/lab/slots/one?slot=chat/eu-west"),
    ("history", f"{D}3/history/"),
    ("live identity", f"{D}1/identity/"),
    ("audit", "/w/lab/audit/"),
    ("checkpoints", "/w/lab/audit/checkpoints/"),
    ("a checkpoint", "/w/lab/audit/checkpoints/{checkpoint}/"),
    ("verifications", "/w/lab/audit/verifications/"),
    ("a verification", "/w/lab/audit/verifications/{verification}/"),
    ("exports", "/w/lab/audit/exports/"),
    ("entry", "/w/lab/audit/5/"),
    ("digest", "/w/lab/digests/{digest}/"),
    ("a withdrawal", f"{D}1/signoffs/{{signoff}}/withdraw"),
    ("release", f"{D}1/release/"),
    ("policy", "/w/lab/settings/policy"),
    ("delegations", "/w/lab/settings/delegations"),
    ("people", "/w/lab/people/"),
    ("a member", "/w/lab/people/bob-lab/"),
    ("account", "/account/"),
    ("another password", "/account/password"),
    ("a confirmation", "/account/confirm"),
    ("tokens", "/w/lab/settings/tokens"),
    ("threads", f"{D}1/threads/"),
    ("an evidence document", "/w/lab/evidence/{evidence}/"),
    ("a line of a file behind evidence", "/w/lab/attachments/{attachment}/?line=1"),
    ("a launch", f"{D}5/launch/?for=lws"),
    ("nothing to launch", f"{D}1/launch/"),
    ("what has to be measured again", f"{D}6/requalification/"),
    ("not found", f"{D}99/"),
]


@pytest.fixture
def filled(people: Cast, settings: Settings) -> Cast:
    """A workspace in which every state of a page can be seen."""
    first = planned(people, pair=example_pair())
    sign(people, first)
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    diagnosed(people, ("trace.csv", TRACE), ("engine.log", LOG), ("ras.json", RAS), note="Tokens stalled.")
    moved = planned(people, pair=documents())
    sign(people, moved, people.carol, team="networking", meaning="request_changes")
    planned(people, pair=documents(tokens=200_000), decision=moved.decision)
    submitted(people, pair=documents(slot="own/waiting"))
    launched(people)
    stale(people)
    made(people)
    for slot in ("own/ends-soon", "own/as-soon"):
        in_force(people, ending(slot, 5))
    activate(people, approved(people, pair=example_pair()))
    take(people, memory(0), memory(3, FULL), memory(5, DRIFTED))
    settings.LOG_SIGNING_KEY = new_key()
    asked = verification_request(actor=people.audrey, workspace=people.workspace)
    verification_run(asked.pk)
    export_request(actor=people.audrey, workspace=people.workspace, decision=1)
    return people


def address(path: str) -> str:
    attachment = Attachment.objects.get()
    return (
        path.replace("{observed}", str(ObservationFeed.objects.get().revision.decision.number))
        .replace("{digest}", Revision.objects.order_by("pk")[0].contract.content_id)
        .replace("{signoff}", str(SignOff.objects.order_by("pk")[0].pk))
        .replace("{evidence}", attachment.document.file_sha256)
        .replace("{attachment}", attachment.sha256)
        .replace("{checkpoint}", str(Checkpoint.objects.order_by("size")[0].size))
        .replace("{verification}", str(Verification.objects.order_by("pk")[0].pk))
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_no_page_has_a_fault(part: int, filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, "/w/lab/")
    found = {}
    for name, path in PAGES[part::PARTS]:
        page.goto(address(path))
        page.wait_for_load_state("networkidle")
        if wrong := faults(page):
            found[name] = wrong
    assert found == {}


def test_the_login_has_no_fault(people: Cast, visit: Open) -> None:
    assert faults(visit(None, "/login")) == []


CUT = "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length"
"""Counts the tables of a page that do not show their last columns."""


@pytest.mark.parametrize("query", ["", "?cell=t-one-node~memory_headroom~worst_rank", "?passing=1"])
def test_no_table_of_a_decision_is_cut_on_a_small_desktop(query: str, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, f"{D}1/{query}", width=1280)
    assert page.evaluate(CUT) == 0


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_table_under_the_rank_map_is_cut_on_a_desktop(width: int, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, f"{D}1/map/", width=width)
    assert page.evaluate(CUT.replace("'.scroll'", "'.map-cols-rest .scroll'")) == 0


def test_print_hides_controls_and_is_light(filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, f"{D}1/", theme="dark")
    page.emulate_media(media="print")
    expect(page.locator(".topbar")).to_be_hidden()
    expect(page.locator("html")).to_have_css("color-scheme", "light")


@pytest.mark.parametrize("query", ["", "?rows=candidates"])
def test_a_printed_decision_is_no_wider_than_its_paper(query: str, filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, f"{D}1/{query}", width=720)
    page.emulate_media(media="print")
    assert page.evaluate(OVER) == 0
    assert page.evaluate(CUT) == 0


def test_the_skip_link_leads_to_the_content(filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, f"{D}1/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
