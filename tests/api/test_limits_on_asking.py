"""How often one may ask."""

from collections.abc import Iterator

import pytest
from django.core.cache import caches

from reviews.api.throttles import CallerThrottle
from tests.api.asking import Caller, caller, problem
from tests.reviews.factories import Cast

pytestmark = pytest.mark.both_databases


@pytest.fixture(autouse=True)
def rates(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two of a kind in a minute."""
    monkeypatch.setattr(CallerThrottle, "THROTTLE_RATES", {"read": "2/min", "submit": "2/min", "report": "2/min"})
    yield
    caches["process"].clear()


def test_one_request_too_many_is_told_when_to_come_back(bob: Caller) -> None:
    assert [bob.get("decisions").status_code for _ in range(2)] == [200, 200]
    refused = bob.get("decisions")
    assert problem(refused)["type"] == "urn:topogate:problem:too_many_requests"
    assert 0 < int(refused.headers["Retry-After"]) <= 60


def test_reads_and_submissions_are_counted_apart(alice: Caller) -> None:
    assert [alice.get("decisions").status_code for _ in range(3)] == [200, 200, 429]
    assert [alice.post("validate").status_code for _ in range(3)] == [422, 422, 429]


def test_reports_of_hosts_have_a_rate_of_their_own(alice: Caller) -> None:
    assert [alice.post("identity-reports").status_code for _ in range(3)] == [422, 422, 429]
    assert alice.post("validate").status_code == 422
    assert [alice.get("identity-reports").status_code for _ in range(3)] == [422, 422, 429]


def test_every_token_is_counted_by_itself(bob: Caller, people: Cast) -> None:
    assert [bob.get("decisions").status_code for _ in range(3)] == [200, 200, 429]
    assert caller(people, people.bob, "read").get("decisions").status_code == 200


def test_a_header_gives_nobody_another_address(people: Cast) -> None:
    nobody = Caller("", "lab")
    statuses = [
        nobody.get("/api/v1/openapi.json", headers={"X-Forwarded-For": f"10.0.0.{at}"}).status_code for at in range(3)
    ]
    assert statuses == [200, 200, 429]
