"""A log is read whole, in its order, however many pages it takes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reviews import log_pages
from reviews.audit import Act, append
from reviews.log_pages import log_entries, log_rows
from reviews.models import AuditEntry
from tests.reviews.factories import Cast

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rows", [1, 2, 3, 1000])
def test_pages_of_any_size_give_the_same_log(people: Cast, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    append(people.workspace, Act(action="test.noted", payload={"note": 1}))
    expected = list(AuditEntry.objects.filter(workspace=people.workspace).order_by("seq"))
    monkeypatch.setattr(log_pages, "ROWS", rows)
    entries = AuditEntry.objects.filter(workspace=people.workspace)
    assert list(log_entries(entries)) == expected
    assert list(log_rows(entries, "pk")) == [(entry.pk,) for entry in expected]


def test_no_statement_takes_more_than_a_page(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_pages, "ROWS", 2)
    with CaptureQueriesContext(connection) as queries:
        rows = list(log_rows(AuditEntry.objects.filter(workspace=people.workspace), "data", "payload__data"))
    assert len(queries) == len(rows) // 2 + 1
    assert all("LIMIT 2" in query["sql"] for query in queries)
