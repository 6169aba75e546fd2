"""The list of entries: every filter, turning pages, and what a download keeps of both."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reviews.audit import Act, append
from reviews.models import AuditEntry
from reviews.selectors import log
from reviews.selectors.log import EntryRow
from reviews.selectors.log_filters import EntryFilter
from reviews.web.audit_rows import ACTIONS
from reviews.web.event_rows import event_text
from tests.queries import cost
from tests.reviews.acts import ACTS
from tests.reviews.factories import Cast, documents, planned, sign
from tests.web.conftest import Visit

pytestmark = pytest.mark.both_databases


@pytest.fixture
def filled(people: Cast) -> Cast:
    """Two revisions, a sign-off, and an entry with letters beyond ASCII."""
    first = planned(people)
    sign(people, first)
    planned(people, pair=documents(tokens=170_000), decision=first.decision)
    refusal = Act(action="signoff.refused", actor=people.carol.token, reason='Büro "7\\8": Nothing was READ.')
    append(people.workspace, refusal)
    return people


FILTERS = [
    ("?actor=bob-lab", {"signoff.given"}),
    ("?actor=CARO", {"signoff.refused"}),
    ("?actor=nobody", set()),
    ("?action=refused", {"signoff.refused"}),
    ("?decision=1&revision=r2&actor=alice", {"revision.created"}),
    ("?revision=1&action=signoff.", {"signoff.given"}),
    ("?revision=x", set()),
    ("?text=nothing+was+read", {"signoff.refused"}),
    ("?text=B%C3%BCro+%227%5C8%22", {"signoff.refused"}),
    ("?text=b%C3%BCro", {"signoff.refused"}),
    ("?text=absent", set()),
    ("?since=2000-01-01&until=2000-01-02", set()),
    ("?since=2000-01-01&until=9999-12-31&action=signoff.", {"signoff.given", "signoff.refused"}),
    ("?since=9999-12-31", set()),
]


def test_every_filter(filled: Cast, visit: Visit) -> None:
    who = visit(filled.audrey)
    found = {
        query: {row["action"] for row in who.get(f"/w/lab/audit/entries.json{query}").json()} for query, _ in FILTERS
    }
    assert found == dict(FILTERS)
    system = who.get("/w/lab/audit/entries.json?actor=system").json()
    assert {row["who"] for row in system} == {"system"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?since=yesterday", "since: expected a day as YYYY-MM-DD, found yesterday"),
        ("?since=20260101", "since: expected a day as YYYY-MM-DD, found 20260101"),
        ("?until=2026-W01-1", "until: expected a day as YYYY-MM-DD, found 2026-W01-1"),
        ("?until=2026-13-01", "until: expected a day as YYYY-MM-DD, found 2026-13-01"),
        (f"?text={'a' * 201}", "text: expected at most 200 characters, found 201"),
    ],
)
def test_a_filter_that_cannot_be_read_is_named(query: str, said: str, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get(f"/w/lab/audit/{query}")
    assert (answer.status_code, said in answer.content.decode()) == (422, True)


def test_filters_are_kept_in_every_link(filled: Cast, visit: Visit) -> None:
    for _ in range(60):
        append(filled.workspace, Act(action="signoff.refused", reason="full"))
    page = visit(filled.audrey).get("/w/lab/audit/?action=refused&text=full&since=2000-01-01").content.decode()
    kept = "action=refused&amp;since=2000-01-01&amp;text=full"
    head = AuditEntry.objects.count() - 1
    assert f'href="?{kept}&amp;before={head - 49}">Older' in page
    for suffix in ("csv", "json"):
        assert f'href="/w/lab/audit/entries.{suffix}?{kept}"' in page
    assert '<option value="refused" selected>' in page
    older = visit(filled.audrey).get(f"/w/lab/audit/?{kept.replace('&amp;', '&')}&before={head - 49}").content.decode()
    assert f'href="?{kept}&amp;after={head - 50}">Newer' in older
    assert f'href="?{kept}">Newest' in older


def test_an_action_that_the_list_does_not_offer_stays_chosen(people: Cast, visit: Visit) -> None:
    page = visit(people.audrey).get("/w/lab/audit/?action=policy.set").content.decode()
    assert "<option selected>policy.set</option>" in page


def test_every_action_that_is_written_can_be_chosen() -> None:
    beginnings = tuple(value for value, _ in ACTIONS if value.endswith("."))
    written = {action for act in ACTS.values() for actions in act.writes for action in actions}
    assert {action for action in written if not action.startswith(beginnings)} == set()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("roster.role_set", "Role author given to Bob by Dave"),
        ("roster.seat_given", "Seat for serving given to Bob by Dave"),
        ("roster.seat_taken", "Seat for serving taken from Bob by Dave"),
        ("roster.removed", "Bob removed from the workspace by Dave"),
        ("roster.account_closed", "Account of Bob closed by Dave"),
        ("roster.account_opened", "Account of Bob opened by Dave"),
        ("roster.link_made", "Link for a password made for Bob by Dave"),
        ("roster.link_used", "Bob set a password with a link"),
        ("roster.refused", "Refused: change of people by Dave"),
        ("person.erased", "Bob erased by Dave"),
    ],
)
def test_an_entry_about_somebody_says_about_whom(action: str, said: str) -> None:
    fields: dict[str, Any] = dict.fromkeys(("meaning", "reason", "subject", "sha256", "prev", "payload_sha256"), "")
    fields |= {"seq": 7, "at": datetime(2026, 11, 30, tzinfo=UTC), "decision": None, "revision": None}
    row = EntryRow(action=action, who="Dave", about="Bob", team="serving", payload={"role": "author"}, **fields)
    assert event_text(row) == said


def test_pages_turn_both_ways(filled: Cast) -> None:
    asked: dict[str, Any] = {"actor": filled.audrey, "workspace": filled.workspace, "page_size": 4}
    everything = log.audit_rows(actor=filled.audrey, workspace=filled.workspace, page_size=500).rows
    first = log.audit_rows(**asked)
    second = log.audit_rows(**asked, older_than=first.older_than)
    back = log.audit_rows(**asked, newer_than=second.newer_than)
    assert (first.newer_than, second.rows, back.rows) == (None, everything[4:8], everything[:4])
    assert (back.older_than, back.newer_than) == (first.older_than, None)
    oldest = log.audit_rows(**asked, older_than=2)
    up = log.audit_rows(**asked, newer_than=1)
    assert ([row.seq for row in oldest.rows], oldest.older_than) == ([1, 0], None)
    assert ([row.seq for row in up.rows], up.older_than, up.newer_than) == ([5, 4, 3, 2], 2, 5)


def test_a_text_is_looked_for_in_so_many_entries_at_a_time(filled: Cast) -> None:
    wanted = EntryFilter(text="policy.set")
    asked: dict[str, Any] = {"actor": filled.audrey, "workspace": filled.workspace, "wanted": wanted}
    held = AuditEntry.objects.count()
    newest = log.audit_rows(**asked, look_at=5)
    assert (newest.rows, newest.older_than, newest.looked_from) == ((), held - 5, held - 5)
    assert [row.seq for row in log.audit_rows(**asked, look_at=5, older_than=4).rows] == [1]
    assert [row.seq for row in log.audit_rows(**asked, look_at=None).rows] == [1]
    upwards = log.audit_rows(**asked, look_at=5, newer_than=0)
    assert ([row.seq for row in upwards.rows], upwards.newer_than, upwards.looked_from) == ([1], 5, 1)


def test_the_list_takes_as_many_queries_whatever_is_in_it(people: Cast, visit: Visit) -> None:
    who = visit(people.audrey)
    before = cost(who, "/w/lab/audit/?actor=bob&text=margins")
    sign(people, planned(people))
    assert cost(who, "/w/lab/audit/?actor=bob&text=margins") <= before + 1
    assert cost(who, "/w/lab/audit/") <= before + 1
