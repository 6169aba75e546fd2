"""Pages of the slowest rank: a form that makes a diagnosis, which can be linked to; snapshots that judge nothing."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.models import Decision, Diagnosis
from tests.planner.importers.test_nccl_ras import answer
from tests.planner.observations.late_traces import TENSOR, late, trace_file
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, example_pair, planned
from tests.reviews.late_ranks import LOG, TRACE, diagnosed, late_decision
from tests.web.conftest import Visit

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
PAGE = "/w/lab/decisions/1/slowest/"
RAS = ("ras.json", json.dumps(answer(5, 5, 4)).encode())


@pytest.fixture(name="decision")
def decision_fixture(people: Cast) -> Decision:
    return late_decision(people)


def text(page: str) -> str:
    """Return what somebody reads, without marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def read(people: Cast, visit: Visit, path: str = "1/") -> str:
    return text(visit(people.audrey).get(f"{PAGE}{path}").content.decode())


def test_files_that_are_sent_become_a_diagnosis_with_an_address(decision: Decision, people: Cast, visit: Visit) -> None:
    sent = [SimpleUploadedFile("trace.csv", TRACE), SimpleUploadedFile("engine.log", LOG)]
    made = visit(people.bob).post(PAGE, {"files": sent, "note": "Tokens stalled.", "late_us": "100"})
    assert (made.status_code, made["Location"]) == (302, f"{PAGE}1/")
    listed = read(people, visit, "")
    assert "One rank keeps the others waiting Tokens stalled." in listed
    assert "rank 1, node-a a1" in listed


def test_the_late_rank_stands_apart_from_the_one_that_reported(decision: Decision, people: Cast, visit: Visit) -> None:
    diagnosed(people)
    page = read(people, visit)
    assert "Rank 1 keeps the others waiting node-a · a1 as decided in t-moved" in page
    assert "Where to look: placement, device, host or local contention" in page
    assert "Late first Rank 1, node-a · a1 To call 2 of tp-0 (all_reduce), by 4.000 ms" in page
    reporter = "Reported a time-out first Rank 0, node-a · a0 allreduce 41, line 2 of the log. It waited"
    assert reporter in page


def test_timelines_begin_with_the_late_rank(decision: Decision, people: Cast, visit: Visit) -> None:
    diagnosed(people)
    lanes = visit(people.audrey).get(f"{PAGE}1/").content.decode().split('id="lanes"')[1].split("</section>")[0]
    assert re.findall(r'class="rk-name"[^>]*>Rank (\d+)', lanes) == ["1", "0", "2", "3"]
    assert text(lanes).count("waits 4.000 ms") == 3
    assert "style=" not in lanes


def test_a_rank_that_never_came_is_named(decision: Decision, people: Cast, visit: Visit) -> None:
    trace = trace_file(groups=TENSOR, absent=lambda rank, nth: rank == 6 and nth > 17)
    diagnosed(people, ("trace.csv", trace))
    assert "Never came Rank 6 18 of 20 calls of tp-1 by rank 6." in read(people, visit)


def test_snapshots_are_told_with_version_and_never_as_a_verdict(decision: Decision, people: Cast, visit: Visit) -> None:
    diagnosed(people, ("trace.csv", TRACE), RAS)
    snapshots = visit(people.audrey).get(f"{PAGE}1/").content.decode().split('id="snapshots"')[1].split("</section>")[0]
    told = text(snapshots)
    assert "No verdict. A snapshot of one moment" in told
    assert "NCCL 2.29.1 2025-12-19 13:06:53" in told
    assert "communicator 0 3 ranks COMPLETE MISMATCH all_reduce: 4 by rank 2; 5 by ranks 0, 1" in told
    assert not re.search(r'class="(?:v|tag) [vt]', snapshots)


def test_what_is_refused_is_said_with_what_was_written(decision: Decision, people: Cast, visit: Visit) -> None:
    sent = {"files": [SimpleUploadedFile("notes.txt", b"all is well\n")], "note": "Tokens stalled.", "trial": "t-late"}
    answered = visit(people.bob).post(PAGE, sent)
    page = answered.content.decode()
    assert answered.status_code == 422
    assert "notes.txt: expected a trace of collectives" in text(page)
    assert "Tokens stalled.</textarea>" in page
    assert '<option value="t-late" selected>' in page
    assert not Diagnosis.objects.exists()


def test_downloads_have_every_rank_and_all_that_was_found(decision: Decision, people: Cast, visit: Visit) -> None:
    made = diagnosed(people)
    reader = visit(people.audrey)
    lines = reader.get(f"{PAGE}1/ranks.csv").content.decode().splitlines()
    assert lines[0].startswith('"rank","node","device","calls","late","late_p50_us"')
    assert lines[2].startswith('1,"node-a","a1",20,20,4000')
    assert len(lines) == 9
    found = json.loads(reader.get(f"{PAGE}1/ranks.json").content)
    assert (found["schema"], found["slowest"]["rank"]) == ("topogate.slowest/v1", 1)
    raw = reader.get(f"{PAGE}1/files/1")
    assert b"".join(raw) == TRACE
    assert made.files.count() == 2


def test_what_is_not_there_is_not_found(decision: Decision, people: Cast, visit: Visit) -> None:
    diagnosed(people)
    paths = ("2/", "2/ranks.csv", "1/files/9", "2/files/1")
    assert {visit(people.audrey).get(f"{PAGE}{path}").status_code for path in paths} == {404}


def test_what_the_evidence_says_of_a_hand_off_and_of_snapshots_is_shown(people: Cast, visit: Visit) -> None:
    pair = example_pair("late-rank")
    tree = json.loads(pair.evidence)
    trial = tree["trials"]["t-moved"]
    name = next(name for name, window in trial["windows"].items() if window["purpose"] == "counted")
    queued = {"queued_first_third_mean": 2, "queued_last_third_mean": 9, "decode_idle_share": 0.4}
    trial["windows"][name]["handoff"] = queued
    told = {"collected_at": "2026-09-21T14:00:00Z", "tool": "ncclras", "version": "2.26.2", "text": "Job summary"}
    trial["diagnostics"] = {"ras-1": told}
    planned(people, pair=Pair(pair.contract, json.dumps(tree).encode()), as_of="2026-10-01T00:00:00Z")
    page = read(people, visit, "")
    assert f"transfers queue while decode devices idle. Window {name}" in page
    assert "A snapshot of one moment and no verdict" in page
    assert "ras-1 ncclras 2.26.2 2026-09-21 14:00:00 UTC Job summary" in page


def test_pages_cost_the_same_for_many_diagnoses(decision: Decision, people: Cast, visit: Visit) -> None:
    reader = visit(people.audrey)
    diagnosed(people)
    before = [cost(reader, f"{PAGE}{path}") for path in ("", "1/")]
    for _ in range(3):
        diagnosed(people, ("trace.csv", trace_file(late(2, 3))), ("engine.log", LOG))
    assert [cost(reader, f"{PAGE}{path}") for path in ("", "1/")] == before
