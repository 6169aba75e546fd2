"""Reports of production by API: taken, refused by name, answered with what is out of its envelope."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.models import AuditEntry, ObservationBatch
from tests.api.asking import Caller, token_of
from tests.reviews.factories import Cast, last_entry
from tests.reviews.observing import DCGM, FULL, a_tree, encoded, memory, observed_cast
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


@pytest.fixture
def collector(people: Cast) -> Caller:
    return Caller(token_of(people, people.alice, "submit"), "lab")


def scrapes(**fields: Any) -> dict[str, Any]:
    tree = a_tree()
    said = {name: tree[name] for name in ("slot", "subject", "source", "started_at", "ended_at")}
    return {**said, "scrapes": [SimpleUploadedFile("dcgm.txt", DCGM)], "rank": ["node-a/0=0", "node-a/1=1"], **fields}


def test_a_batch_is_answered_with_what_is_out_of_its_envelope(people: Cast, collector: Caller) -> None:
    raw = encoded(memory(0, FULL), memory(1))
    answer = collector.post("observations", {"observations": raw})
    found = answer.json()
    assert (answer.status_code, found["is_new"], found["is_judged"], found["values"]) == (201, True, True, 2)
    assert (found["decision"], found["breaches"], found["open_breaches"], found["open_drifts"]) == (1, 1, 1, 0)
    assert [(one["rank"], one["node"], one["state"], one["team"]) for one in found["findings"]] == [
        (0, "node-a", "BREACH", "serving")
    ]
    again = collector.post("observations", {"observations": raw})
    assert (again.status_code, again.json()["is_new"], again.json()["sha256"]) == (200, False, found["sha256"])


def test_scrapes_are_taken_with_what_they_do_not_say(people: Cast, collector: Caller) -> None:
    answer = collector.post("observations", scrapes())
    found = answer.json()
    assert (answer.status_code, found["values"], found["left_out"], found["breaches"]) == (201, 2, [], 1)
    assert [(one["rank"], one["value"]) for one in found["findings"]] == [(1, float(FULL))]


def test_what_nobody_placed_is_left_out_and_told(people: Cast, collector: Caller) -> None:
    found = collector.post("observations", scrapes(rank=["0=0"])).json()
    assert (found["values"], found["left_out"]) == (
        1,
        ["device 1: which rank it is was not said (--rank 1=RANK)"],
    )


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"rank": ["0=x"]}, "observations/mapping", id="a mapping that is none"),
        pytest.param({"rank": ["0=16"]}, "observations/unknown", id="a rank that there is not"),
        pytest.param({"slot": "chat/mars"}, "observations/slot", id="another slot"),
        pytest.param({"ended_at": "2026-11-01T00:00:00Z"}, "observations/time", id="a span that is none"),
        pytest.param({"scrapes": [SimpleUploadedFile("x", b"\0\0")]}, "import/encoding", id="no text"),
    ],
)
def test_scrapes_that_are_refused(people: Cast, collector: Caller, changes: dict[str, Any], code: str) -> None:
    answer = collector.post("observations", scrapes(**changes))
    assert (answer.status_code, answer.json()["problems"][0]["code"]) == (422, code)
    assert (last_entry(people)["action"], ObservationBatch.objects.count()) == ("observations.refused", 0)


@pytest.mark.parametrize(
    ("parts", "problems"),
    [
        pytest.param({}, ["request/missing_part"], id="nothing"),
        pytest.param({"observations": b"{}", "slot": "a"}, ["request/unknown_part"], id="a field beside a batch"),
        pytest.param({"scrapes": b"x"}, ["request/missing_part"] * 5, id="scrapes without what they do not say"),
    ],
)
def test_parts_that_are_wrong_are_named(collector: Caller, parts: dict[str, Any], problems: list[str]) -> None:
    answer = collector.post("observations", parts)
    assert (answer.status_code, [one["code"] for one in answer.json()["problems"]]) == (422, problems)


def test_a_token_that_may_only_read_reports_nothing(people: Cast) -> None:
    reader = Caller(token_of(people, people.bob, "read"), "lab")
    assert reader.post("observations", {"observations": encoded()}).status_code == 403


def test_a_report_in_another_workspace_is_not_found(people: Cast) -> None:
    stranger = Caller(token_of(people, people.alice, "submit"), "elsewhere")
    assert stranger.post("observations", {"observations": encoded()}).status_code == 404


def test_a_batch_that_is_too_large_is_refused_before_it_is_read(people: Cast, collector: Caller, settings: Any) -> None:
    settings.OBSERVATION_BYTES = 100
    answer = collector.post("observations", {"observations": b"[" * 101})
    assert answer.status_code == 413
    assert [(one["code"], one["expected"], one["found"]) for one in answer.json()["problems"]] == [
        ("observations/size", "at most 100 bytes", "101 bytes")
    ]
    assert AuditEntry.objects.filter(action="observations.refused").count() == 1


def test_every_problem_of_a_batch_is_named(people: Cast, collector: Caller) -> None:
    raw = encoded(memory(99), started_at="2098-12-31T23:50:00Z", ended_at="2099-01-01T00:00:00Z")
    answer = collector.post("observations", {"observations": raw})
    assert [one["code"] for one in answer.json()["problems"]] == ["observations/future", "observations/unknown"]
