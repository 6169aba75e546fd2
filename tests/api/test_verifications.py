"""Verifying a log over the API."""

from typing import Any

import pytest

from reviews.services.verification_runs import verification_run
from reviews.transparency.keys import new_key
from tests.api.asking import caller, problem
from tests.reviews.factories import Cast, planned


@pytest.fixture(autouse=True)
def key(settings: Any) -> None:
    """A key for this test alone."""
    settings.LOG_SIGNING_KEY = new_key()


def test_a_token_that_reads_asks_and_follows(people: Cast) -> None:
    planned(people)
    auditor = caller(people, people.audrey, "read")
    asked = auditor.post("verifications")
    value = asked.json()
    assert (asked.status_code, asked.headers["Location"], value["outcome"]) == (202, value["url"], None)
    assert auditor.post("verifications").json()["id"] == value["id"]
    verification_run(value["id"])
    found = auditor.get(value["url"]).json()
    assert (found["state"], found["outcome"], found["bad_seq"]) == ("done", "verified", None)
    assert (found["headline"].startswith("VERIFIED: "), found["entries_done"]) == (True, found["entries_total"])
    assert auditor.get("verifications").json()["verifications"] == [found]


def test_nothing_is_sent_with_it(people: Cast) -> None:
    auditor = caller(people, people.audrey, "read")
    refused = problem(auditor.post("verifications", {"decision": "1"}))
    assert (refused["status"], refused["problems"][0]["pointer"]) == (422, "decision")
    assert problem(auditor.raw("verifications", b"{}", "application/json"))["status"] == 415
    assert auditor.raw("verifications", b"", "").status_code == 202
