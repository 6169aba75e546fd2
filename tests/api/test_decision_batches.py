"""Batches of observations over the API: who sent what, and the bytes while they are kept."""

import pytest

from reviews.models import ObservationFile
from tests.api.asking import Caller, token_of
from tests.reviews.factories import Cast
from tests.reviews.observing import FULL, encoded, memory, observed_cast, take
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

BATCHES = "decisions/1/observations/batches"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


@pytest.fixture
def reader(people: Cast) -> Caller:
    return Caller(token_of(people, people.audrey, "read"), "lab")


def test_who_sent_what_is_listed_in_pages_the_last_first(people: Cast, reader: Caller) -> None:
    take(people, memory(3, FULL), source="first")
    take(people, memory(0), source="second")
    page = reader.get(BATCHES, {"limit": "1"}).json()
    (row,) = page["batches"]
    assert (page["total"], row["source"], row["person"], row["breaches"], row["has_bytes"]) == (
        2,
        "second",
        "Bob",
        0,
        True,
    )
    last = reader.get(page["next"]).json()
    assert [(one["source"], one["breaches"]) for one in last["batches"]] == [("first", 1)]
    assert last["next"] is None


def test_a_batch_is_given_back_as_it_was_sent(people: Cast, reader: Caller) -> None:
    raw = encoded(memory(3, FULL))
    sent = Caller(token_of(people, people.bob, "report"), "lab").post("observations", {"observations": raw}).json()
    answer = reader.get(f"{BATCHES}/{sent['sha256']}")
    assert (answer.status_code, answer.content) == (200, raw)
    assert (answer.headers["Content-Type"], answer.headers["Content-Disposition"]) == ("application/json", "attachment")


def test_bytes_that_are_kept_no_more_are_not_found(people: Cast, reader: Caller) -> None:
    sha256 = take(people, memory(3)).batch.sha256
    ObservationFile.objects.all().delete()
    assert [row["has_bytes"] for row in reader.get(BATCHES).json()["batches"]] == [False]
    assert reader.get(f"{BATCHES}/{sha256}").status_code == 404


@pytest.mark.parametrize("name", ["sha256:" + "00" * 32, "a%00b"], ids=["unknown", "no text that is stored"])
def test_a_batch_that_there_is_not_is_not_found(name: str, people: Cast, reader: Caller) -> None:
    take(people, memory(3))
    assert reader.get(f"{BATCHES}/{name}").status_code == 404
