"""Diagnoses over the API: sent as files, read page by page, with the bytes that were kept."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.models import Decision
from tests.api.asking import Caller, caller, codes
from tests.reviews.factories import Cast
from tests.reviews.late_ranks import LOG, TRACE, diagnosed, late_decision

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
HERE = "decisions/1/diagnoses"


@pytest.fixture(name="decision")
def decision_fixture(people: Cast) -> Decision:
    return late_decision(people)


def sent(**more: Any) -> dict[str, Any]:
    files = [SimpleUploadedFile("trace.csv", TRACE), SimpleUploadedFile("engine.log", LOG)]
    return {"files": files, **more}


def test_a_diagnosis_is_made_of_files_and_read_again(decision: Decision, people: Cast) -> None:
    made = caller(people, people.alice, "submit").post(HERE, sent(note="Tokens stalled."))
    assert made.status_code == 201
    value = made.json()
    assert (value["number"], value["trial"], value["revision"]) == (1, "t-moved", 1)
    assert (value["pattern"], value["points_at"]) == ("one_rank", "rank 1, node-a a1")
    assert value["diagnosis"]["reporter"]["rank"] == 0
    reader = caller(people, people.audrey, "read")
    assert reader.get(made.headers["Location"]).json() == value
    raw = reader.get(value["files"][0]["url"])
    assert (b"".join(raw), raw.headers["ETag"]) == (TRACE, f'"{value["files"][0]["sha256"]}"')


def test_diagnoses_come_in_pages_newest_first(decision: Decision, people: Cast) -> None:
    for note in ("At noon.", "At one.", "At two."):
        diagnosed(people, note=note)
    reader = caller(people, people.audrey, "read")
    first = reader.get(HERE, {"limit": 2}).json()
    assert [one["number"] for one in first["diagnoses"]] == [3, 2]
    last = reader.get(first["next"]).json()
    assert ([one["number"] for one in last["diagnoses"]], last["next"]) == ([1], None)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({}, [("request", "request/diagnosis_file", "files")], id="nothing"),
        pytest.param({"other": "x"}, [("request", "request/unknown_part", "other")], id="another part"),
        pytest.param({"with_evidence": "yes"}, [("request", "request/encoding", "with_evidence")], id="no boolean"),
        pytest.param({"files": b"all is well"}, [("request", "request/diagnosis_file", "files.json")], id="of no use"),
    ],
)
def test_what_is_wrong_is_named(
    parts: dict[str, Any], expected: list[tuple[str, str, str]], decision: Decision, people: Cast
) -> None:
    answer = caller(people, people.alice, "submit").post(HERE, parts)
    assert (answer.status_code, codes(answer)) == (422, expected)


def test_a_token_that_reads_makes_none(decision: Decision, people: Cast) -> None:
    who: Caller = caller(people, people.bob, "read")
    assert who.post(HERE, sent()).status_code == 403
    assert who.get(f"{HERE}/1").status_code == 404
