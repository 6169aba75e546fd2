"""Production beside what was qualified, over the API: values of one metric page by page, and findings."""

import pytest

from tests.api.asking import caller, codes
from tests.queries import cost
from tests.reviews.factories import Cast
from tests.reviews.observing import DRIFTED, FULL, memory, minutes_ago, observed_cast, take
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
HERE = "decisions/1"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


def test_values_come_in_pages_the_worst_first(people: Cast) -> None:
    take(people, memory(0), memory(3, FULL), memory(5, DRIFTED))
    reader = caller(people, people.audrey, "read")
    first = reader.get(f"{HERE}/observations", {"limit": 2}).json()
    assert (first["metric"], first["metrics"], first["total"]) == ("device_used_bytes", ["device_used_bytes"], 3)
    assert [(one["rank"], one["device"], one["state"]) for one in first["values"]] == [
        (3, "a3", "BREACH"),
        (5, "a5", "DRIFT"),
    ]
    assert first["values"][0]["limit_at"].startswith("/gates/memory_headroom/")
    last = reader.get(first["next"]).json()
    assert ([one["rank"] for one in last["values"]], last["next"]) == ([0], None)


def test_values_are_kept_by_what_is_asked_for(people: Cast) -> None:
    take(people, memory(0), memory(3, FULL))
    reader = caller(people, people.audrey, "read")
    for query, ranks in (
        ({"state": "BREACH"}, [3]),
        ({"rank": "0"}, [0]),
        ({"rank": "9"}, []),
        ({"span": "hour"}, [3, 0]),
    ):
        found = reader.get(f"{HERE}/observations", query).json()
        assert [one["rank"] for one in found["values"]] == ranks, query


def test_findings_are_open_or_closed(people: Cast) -> None:
    take(people, memory(0), memory(3, FULL))
    reader = caller(people, people.audrey, "read")
    (finding,) = reader.get(f"{HERE}/findings").json()["findings"]
    assert (finding["state"], finding["rank"], finding["node"], finding["closed_at"]) == ("BREACH", 3, "node-a", None)
    assert reader.get(f"{HERE}/findings", {"open": "false"}).json()["total"] == 0


def test_what_is_wrong_in_the_address_is_named(people: Cast) -> None:
    take(people)
    answer = caller(people, people.audrey, "read").get(f"{HERE}/observations", {"metric": "speed", "page": "0"})
    expected = [("request", "request/query", "metric"), ("request", "request/query", "page")]
    assert (answer.status_code, codes(answer)) == (422, expected)


def test_nothing_is_there_before_something_was_reported(people: Cast) -> None:
    assert caller(people, people.audrey, "read").get(f"{HERE}/observations").status_code == 404


def test_a_read_costs_the_same_for_one_rank_and_for_all(people: Cast) -> None:
    reader = caller(people, people.audrey, "read")
    path = f"/api/v1/workspaces/lab/{HERE}/observations"
    take(people, memory(3, FULL))
    reader.get(path)
    before = cost(reader, path)
    take(people, *(memory(rank, FULL) for rank in range(16)), source="another", started_at=minutes_ago(9))
    assert cost(reader, path) == before
