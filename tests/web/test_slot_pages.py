"""Pages of slots: the list with its files, the calendar, shared evidence, and one slot."""

import csv
import io
import re

import pytest

from reviews.clock import utc_text
from reviews.models import Decision
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import board
from tests.reviews.slots import EMERGENCY, PRICED, STALE, WAIVED, WITHDRAWN, every_kind
from tests.stage import Maker
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db

LIST, ONE = "/w/lab/slots/", "/w/lab/slots/one?slot="


@pytest.fixture(scope="module")
def casting() -> Maker:
    def filled() -> Cast:
        people = board()
        every_kind(people)
        return people

    return filled


def text(people: Cast, visit: Visit, path: str) -> str:
    answer = visit(people.bob).get(path)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def row_of(page: str, slot: str) -> str:
    """The row of a slot, as text without tags."""
    found = next(part for part in page.split('<tr class="tbl-row">') if f">{slot}</a>" in part)
    return " ".join(re.sub(r"<[^>]+>", " ", found.split("</tr>")[0]).split())


def test_a_row_says_what_holds_on_what_at_what_price_until_when(people: Cast, visit: Visit) -> None:
    row = row_of(text(people, visit, LIST), PRICED)
    assert "Effective D-0001 tp4-pp1-ep2-dp2 16 devices accel-80g 48.00 USD/h 35,040 USD a month" in row
    assert "in 13 d Ends soon Not reported since it is in force Not observed" in row
    assert "owner serving-platform" in row


def test_a_price_that_is_not_declared_is_never_zero(people: Cast, visit: Visit) -> None:
    row = row_of(text(people, visit, LIST), WAIVED)
    assert ("Cost not declared" in row, "USD" in row, "no end declared" in row) == (True, False, True)


def test_a_slot_in_which_nothing_holds_says_why(people: Cast, visit: Visit) -> None:
    page = text(people, visit, LIST)
    assert "Withdrawn D-0007 None was ever in force: D-0007 is withdrawn since" in row_of(page, WITHDRAWN)
    stale = row_of(page, STALE)
    assert "No decision holds: D-0003 is stale since" in stale
    assert "It may still run. 1 device accel-80g 2.50 USD/h 1,825 USD a month Differs 2 keys, just now" in stale


def test_totals_stand_above_the_list(people: Cast, visit: Visit) -> None:
    page = text(people, visit, LIST)
    figures = page.split('class="card figures"')[1].split("</dl>")[0]
    said = " ".join(re.sub(r"<[^>]+>", " ", figures).split())
    assert "In force 4 of 7 slots 1 more may still run Devices charged 19 19 accel-80g Cost 48.00 USD/h" in said
    assert "35,040 USD a month of 730 h, 3 slots not declared Ends soon 3 within 14 days" in said


def test_filters_stay_in_every_view_and_in_the_files(people: Cast, visit: Visit) -> None:
    page = text(people, visit, f"{LIST}?state=STALE&show=shared")
    assert 'href="/w/lab/slots/?state=STALE">Slots</a>' in page
    assert 'href="/w/lab/slots/?state=STALE&amp;show=ends">Ends</a>' in page
    assert 'href="/w/lab/slots.csv?state=STALE">CSV</a>' in text(people, visit, f"{LIST}?state=STALE")


def test_the_files_have_every_slot_with_whole_values(people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get("/w/lab/slots.csv?q=own/")
    rows = {row["slot"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    assert len(rows) == 6
    stale = rows[STALE]
    assert (stale["holds"], stale["state"], stale["devices"], stale["usd_per_month"]) == (
        "standing",
        "STALE",
        "1",
        "1825",
    )
    assert stale["state_since"] == utc_text(Decision.objects.get(slot=STALE).state_since)
    assert stale["differing_keys"] == "/model/revision /stack/engine/version"
    assert (rows[WITHDRAWN]["devices"], rows[WITHDRAWN]["breaches"]) == ("", "")
    (whole,) = visit(people.audrey).get(f"/w/lab/slots.json?q={PRICED}").json()
    assert (whole["device_types"], whole["usd_per_hour"], whole["unpriced"]) == ("16 accel-80g", 48, "")


def test_the_files_of_what_ends_have_every_month(people: Cast, visit: Visit) -> None:
    page = text(people, visit, f"{LIST}?show=ends&q=own/&month=2026-12")
    assert 'href="/w/lab/slots.csv?q=own/&amp;show=ends">CSV</a>' in page
    answer = visit(people.audrey).get("/w/lab/slots.csv?show=ends&q=own/")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="lab-slot-ends.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    emergency = next(row for row in rows if row["kind"] == "emergency")
    assert (emergency["slot"], emergency["name"], emergency["by_evidence"]) == (EMERGENCY, "INC-7", "False")
    assert visit(people.audrey).get("/w/lab/slots.json?show=ends&q=own/").json()[0]["at"] == rows[0]["at"]


def test_the_files_of_shared_evidence_have_every_use(
    people: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.web.slots.MOST_USES", 1)
    assert "and 3 more slots" in text(people, visit, f"{LIST}?show=shared")
    rows = visit(people.audrey).get("/w/lab/slots.json?show=shared").json()
    assert len({row["slot"] for row in rows}) == len(rows) == rows[0]["slots"] == 4
    stale = next(row for row in rows if row["slot"] == STALE)
    assert (stale["decision"], stale["revision"], stale["state"], stale["trial"], stale["put_into_force"]) == (
        *("D-0003", 1, "STALE", "t-1"),
        True,
    )


def test_the_calendar_shows_ends_by_day_and_what_follows(people: Cast, visit: Visit) -> None:
    page = text(people, visit, f"{LIST}?show=ends")
    assert "Emergency runs out" in page
    assert "For INC-7. It is revoked then, unless its review is done." in page
    assert len(re.findall(r'class="cal-a[^"]*" href="[?#]', page)) >= 1


def test_shared_evidence_leads_to_the_trial_in_each_document(people: Cast, visit: Visit) -> None:
    page = text(people, visit, f"{LIST}?show=shared")
    assert "4 slots" in page
    assert 'href="/w/lab/decisions/3/documents/evidence/?revision=1&amp;at=/trials/t-1#here">t-1</a>' in page
    assert '<a href="/w/lab/decisions/3/?revision=1">D-0003 r1</a>' in page


def test_the_page_of_a_slot_says_everything_of_it(people: Cast, visit: Visit) -> None:
    page = text(people, visit, ONE + PRICED)
    assert '<h1 class="slot-title">chat/eu-north</h1>' in page
    for said in ("Selected by the plan", "tp4-pp1-ep2-dp2", "48.00 USD/h", "No host has reported", "Not observed"):
        assert said in page
    assert 'href="/w/lab/decisions/1/map/?revision=1&amp;trial=t-node-replicas"' in page
    assert 'href="/w/lab/decisions/1/documents/evidence/?revision=1&amp;at=/trials/t-node-replicas#here"' in page
    assert 'href="/w/lab/decisions/1/record.md"' in page
    assert 'href="/w/lab/decisions/1/requalification/"' in page
    assert "topogate check --slot chat/eu-north --identity live.json --server http://testserver --workspace lab" in page


def test_rejected_alternatives_stand_with_their_measurements_and_links_to_cells(people: Cast, visit: Visit) -> None:
    page = text(people, visit, ONE + PRICED).split('id="alternatives"')[1]
    assert "Not selected" in page
    assert "−81.8 %" in page
    assert 'href="/w/lab/decisions/1/?revision=1&amp;cell=t-stages-apart~failure_domain~node_share#cell"' in page


def test_a_stale_slot_names_the_key_and_its_owner_first(people: Cast, visit: Visit) -> None:
    page = text(people, visit, ONE + STALE)
    strip = page.split('class="strips"')[1].split("</div></div>")[0]
    assert "<b>No decision holds.</b> D-0003 is stale since" in strip
    assert "/model/revision differs (Serving), and 1 more." in strip
    assert "No longer in force" in page


def test_a_candidate_put_into_force_past_its_gates_is_not_called_selected(people: Cast, visit: Visit) -> None:
    waived, emergency = (text(people, visit, ONE + slot) for slot in (WAIVED, EMERGENCY))
    assert ("Put into force under waivers" in waived, "It does not pass throughput." in waived) == (True, True)
    assert "Put into force in an emergency" in emergency
    assert "<b>An emergency is in force.</b> For INC-7." in emergency


def test_a_slot_without_anything_in_force_has_its_decisions(people: Cast, visit: Visit) -> None:
    page = text(people, visit, ONE + WITHDRAWN)
    assert ("What it takes" in page, "Decisions on this slot" in page) == (False, True)


@pytest.mark.parametrize("slot", ["a&b=c/ü?#", "<script>alert(1)</script>"])
def test_slots_of_any_name_have_links_that_lead_to_them(slot: str, people: Cast, visit: Visit) -> None:
    planned(people, pair=documents(slot=slot))
    page = text(people, visit, LIST)
    hrefs = [href.replace("&amp;", "&") for href in re.findall(r'href="(/w/lab/slots/one\?slot=[^"]+)"', page)]
    titles = [re.findall(r"<title>(.*?) ·", text(people, visit, href))[0] for href in hrefs]
    escaped = slot.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert (escaped in titles, len(titles)) == (True, 8)


def test_decision_and_inbox_lead_to_the_slot(people: Cast, visit: Visit) -> None:
    link = f'href="{ONE}chat/eu-north">chat/eu-north</a>'
    assert link in text(people, visit, "/w/lab/decisions/1/")
    assert link in text(people, visit, "/w/lab/")
