"""What has to be measured again, by the API: of the decision as it stands, and of a contract that is thought of."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from planner.command import main
from planner.intake import read_contract
from planner.requalification import contract_changes, requalification
from reviews.models import AuditEntry, Blob
from reviews.selectors import requalification as selector
from tests.api.asking import Caller, problem
from tests.planner.documents import changed
from tests.reviews.factories import Cast, contract_tree, planned
from tests.reviews.hosts import RANKS, report, running, two_nodes, with_engine

ADDRESS = "decisions/1/requalification"
CONTRACT = contract_tree()


def newer(pointer: str, value: object) -> bytes:
    return json.dumps(changed(CONTRACT, (pointer, value))).encode()


def test_what_stands_is_answered_in_both_forms(bob: Caller, people: Cast) -> None:
    planned(people)
    answer = bob.get(ADDRESS).json()
    assert (answer["decision"], answer["revision"], answer["compared"]) == (1, 1, None)
    assert (answer["changes"], answer["gates"], answer["runs"]) == ([], [], [])
    assert answer["kept_runs"]
    markdown = bob.get(f"{ADDRESS}?as=markdown")
    assert markdown.content.decode() == "# D-0001 r1: measure again\n\nNothing changed.\n"
    assert markdown.headers["Content-Type"] == "text/markdown; charset=utf-8"


def test_a_contract_that_is_thought_of_is_answered_and_not_kept(bob: Caller, people: Cast) -> None:
    planned(people)
    bob.get("decisions")  # notes the use of the token
    before = (AuditEntry.objects.count(), Blob.objects.count())
    sent = newer("/identity/model/revision", "r9")
    answer = bob.post(ADDRESS, {"contract": sent}).json()
    after = read_contract(sent)
    expected = requalification(after, contract_changes(read_contract(json.dumps(CONTRACT).encode()), after))
    assert [run["run"] for run in answer["runs"]] == [run.run for run in expected.runs]
    assert [(each["key"], each["because"]) for each in answer["changes"]] == [("/identity/model/revision", "contract")]
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


def test_reports_that_are_thought_of_are_answered_with_a_contract_or_without(bob: Caller, people: Cast) -> None:
    planned(people)
    live = json.dumps(changed(CONTRACT["identity"], ("/stack/engine/version", "9"))).encode()
    told = [(each["key"], each["because"]) for each in bob.post(ADDRESS, {"identity": live}).json()["changes"]]
    assert told == [("/identity/stack/engine/version", "report")]
    both = bob.post(ADDRESS, {"identity": live, "contract": newer("/identity/model/revision", "r9")}).json()
    assert [each["because"] for each in both["changes"]] == ["report", "contract"]


def test_the_command_tells_the_same_of_reports(
    bob: Caller, people: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running(people)
    moved = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}
    partly = report("node-b") | {"identity": {"stack": {"engine": {"version": "3.0"}}}}
    reports = [json.dumps(one) for one in (with_engine(report("node-a", ranks_seen=moved), "2.0"), partly)]
    sent = [SimpleUploadedFile("report.json", one.encode()) for one in reports]
    answer = bob.post(ADDRESS, {"identity": sent}).json()
    files = {"contract": two_nodes().contract, "plan": bob.get("decisions/1/revisions/1/plan").content}
    for name, raw in {**files, "a": reports[0].encode(), "b": reports[1].encode()}.items():
        (tmp_path / name).write_bytes(raw)
    given = [each for name in "ab" for each in ("--report", str(tmp_path / name))]
    asked = ["requalify", str(tmp_path / "contract"), "--plan", str(tmp_path / "plan"), *given, "--format", "json"]
    assert main(asked) == 1
    told = json.loads(capsys.readouterr().out)["changes"]
    assert [each["after"] for each in told] == ["2.0", "another map: rank_map/0/device"]
    of_the_server = ("because", "team")
    assert [{name: each[name] for name in each.keys() - of_the_server} for each in answer["changes"]] == told


def test_what_is_no_report_is_refused_beside_what_is_no_contract(bob: Caller, people: Cast) -> None:
    planned(people)
    refused = problem(bob.post(ADDRESS, {"contract": newer("/schema", "x"), "identity": b"[]"}))
    assert {(each["document"], each["pointer"]) for each in refused["problems"]} == {
        ("contract", "/schema"),
        ("request", "identity"),
    }


def test_what_is_no_contract_is_refused_with_its_problems(bob: Caller, people: Cast) -> None:
    planned(people)
    refused = problem(bob.post(ADDRESS, {"contract": newer("/schema", "x")}))
    assert (refused["status"], refused["problems"][0]["document"]) == (422, "contract")
    assert problem(bob.post(ADDRESS, {"evidence": b"{}"}))["status"] == 422


@pytest.mark.parametrize("query", ["as=pdf", "revision=0", "draft=1"])
def test_what_is_asked_for_wrongly_is_refused(query: str, bob: Caller, people: Cast) -> None:
    planned(people)
    assert problem(bob.get(f"{ADDRESS}?{query}"))["status"] == 422


def test_bounds_are_said(bob: Caller, people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(people)
    monkeypatch.setattr(selector, "MOST_EVIDENCE_BYTES", 100)
    assert bob.get(ADDRESS).json()["trials_told"] is False
    monkeypatch.setattr(selector, "MOST_CONTRACT_BYTES", 100)
    (wrong,) = problem(bob.post(ADDRESS, {"contract": newer("/owner", "x")}))["problems"]
    assert wrong["code"] == "request/file_size"
