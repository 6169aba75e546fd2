"""Files that are held against a decision on the page: read, answered, not kept; what is wrong stands at its field."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.models import AuditEntry, Blob, HostReport
from tests.planner.documents import changed
from tests.reviews.factories import Cast, contract_tree, example_pair, planned
from tests.reviews.hosts import RANKS, report, running, with_engine
from tests.reviews.launched import EXAMPLE, launched
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db

PAGE = "/w/lab/decisions/1/requalification/"


def file(tree: Any, name: str = "file.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, tree if isinstance(tree, bytes) else json.dumps(tree).encode())


def send(people: Cast, visit: Visit, **sent: Any) -> Any:
    """Send the form as somebody who only reads."""
    return visit(people.audrey).post(PAGE, sent)


def page(answer: Any, name: str = "") -> str:
    text = re.sub(r"\s+", " ", answer.content.decode())
    return text.split(f' id="h-{name}"')[1].split("</section>")[0] if name else text


def at_field(answer: Any, name: str) -> str:
    """What is wrong at a field, as text."""
    found = re.search(rf'id="f-{name}-bad".*?</div></div>', page(answer))
    return re.sub(r"<[^>]+>", " ", found.group()) if found else ""


def test_a_newer_contract_is_held_against_what_is_decided(people: Cast, visit: Visit) -> None:
    launched(people)
    newer = changed(json.loads(example_pair(EXAMPLE).contract), ("/identity/model/revision", "r9"))
    answer = send(people, visit, contract=file(newer))
    assert "/identity/model/revision" in page(answer, "contract")
    assert "It was not stored." in page(answer, "contract")


def test_an_identity_of_the_whole_slot_is_asked_for_every_key(people: Cast, visit: Visit) -> None:
    launched(people)
    live = changed(json.loads(example_pair(EXAMPLE).contract)["identity"], ("/stack/driver/version", "600.1"))
    machine = page(send(people, visit, identity=file(live)), "report")
    assert "Of 1 file that was given, not stored." in machine
    assert re.findall(r'scope="row">([^<]+)', machine) == [
        "/identity/stack/driver/version",
        "/identity/placement/rank_map_digest",
    ]


def test_reports_of_hosts_are_asked_for_what_they_say(people: Cast, visit: Visit) -> None:
    running(people)
    moved = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}
    reports = [file(with_engine(report("node-a", ranks_seen=moved), "2.0")), file(report("node-b"))]
    machine = page(send(people, visit, identity=reports), "report")
    assert "Of 2 files that were given, not stored." in machine
    assert re.findall(r'scope="row">([^<]+)', machine) == [
        "/identity/stack/engine/version",
        "/identity/placement/rank_map_digest",
    ]
    assert "another map: rank_map/0/device" in machine


def test_a_report_from_long_ago_is_held_against_it_too(people: Cast, visit: Visit) -> None:
    running(people)
    old = with_engine(report("node-a", collected_at="2020-01-01T00:00:00Z"), "2.0")
    assert "/identity/stack/engine/version" in page(send(people, visit, identity=file(old)), "report")


def test_without_a_decision_in_force_places_of_ranks_are_not_compared(people: Cast, visit: Visit) -> None:
    planned(people)
    live = changed(contract_tree()["identity"], ("/stack/engine/version", "9"))
    machine = page(send(people, visit, identity=file(live)), "report")
    assert re.findall(r'scope="row">([^<]+)', machine) == ["/identity/stack/engine/version"]
    assert "Nothing was put into force, so places of ranks are not compared." in machine


def test_everything_that_is_wrong_is_told_at_its_field(people: Cast, visit: Visit) -> None:
    planned(people)
    reports = [file(b"{", "a.json"), file({"schema": "topogate.identity/v1"}, "b.json")]
    answer = send(people, visit, contract=file({"schema": "x"}), identity=reports)
    assert answer.status_code == 422
    assert "schema" in at_field(answer, "contract")
    wrong = at_field(answer, "identity")
    assert "identity[0]" in wrong
    assert "identity[1]" in wrong
    assert "identity[" not in at_field(answer, "contract")
    assert "The same contract as in r1" in page(answer, "contract")


def test_a_form_without_a_file_says_what_it_takes(people: Cast, visit: Visit) -> None:
    planned(people)
    answer = send(people, visit)
    assert answer.status_code == 422
    assert "a contract, reports, or both" in at_field(answer, "contract")


@pytest.mark.parametrize(("suffix", "begins"), [("json", b"{"), ("md", b"# D-0001 r1: measure again")])
def test_the_answer_can_be_saved(suffix: str, begins: bytes, people: Cast, visit: Visit) -> None:
    planned(people)
    sent = {"contract": file(changed(contract_tree(), ("/identity/model/revision", "r9"))), "as": suffix}
    answer = send(people, visit, **sent)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="D-0001-measure-again.{suffix}"'
    assert answer.content.startswith(begins)
    assert b"/identity/model/revision" in answer.content


def test_nothing_of_what_is_given_is_kept(people: Cast, visit: Visit) -> None:
    running(people)
    before = (AuditEntry.objects.count(), Blob.objects.count())
    send(people, visit, identity=file(with_engine(report("node-a"), "2.0")))
    send(people, visit, identity=file(b"{"))
    assert (AuditEntry.objects.count(), Blob.objects.count(), HostReport.objects.count()) == (*before, 0)


def test_a_stranger_finds_no_decision(people: Cast, visit: Visit) -> None:
    planned(people)
    assert visit(people.charlie).post(PAGE, {}).status_code == 404
