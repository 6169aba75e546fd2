"""Diagnoses of the slowest rank: what is kept, what is refused by name, and what it is held against."""

import json
from typing import Any

import pytest

from planner.observations.diagnosis import read_diagnosis
from reviews.blobs import blob_keep, blob_read
from reviews.errors import InvalidRequestError, NotAllowedError, NotFoundError
from reviews.models import Attachment, AttachmentPiece, AuditEntry, Blob, Decision, Diagnosis, DiagnosisFile
from reviews.selectors.diagnoses import diagnosis_file, diagnosis_file_bytes
from reviews.services.diagnoses import MOST_BYTES, Asked, diagnosis_make
from reviews.verification import verify
from tests.planner.importers.test_nccl_ras import answer
from tests.planner.observations.late_traces import HEADER
from tests.reviews.factories import Cast
from tests.reviews.late_ranks import LOG, TRACE, diagnosed, late_decision

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(name="decision")
def decision_fixture(people: Cast) -> Decision:
    return late_decision(people)


def entries(action: str) -> list[dict[str, Any]]:
    found = AuditEntry.objects.filter(action=action).select_related("payload").order_by("pk")
    return [
        json.loads(bytes(entry.payload.data)) if entry.payload else json.loads(bytes(entry.data)) for entry in found
    ]


def kept_bytes(file: DiagnosisFile) -> bytes:
    assert file.blob is not None
    return bytes(file.blob.data)


def test_what_was_found_is_kept_with_its_files_and_one_entry(decision: Decision, people: Cast) -> None:
    made = diagnosed(people, note="Tokens stalled at noon.")
    assert (made.number, made.trial, made.late_us) == (1, "t-moved", 100)
    assert (made.pattern, made.points_at) == ("one_rank", "rank 1, node-a a1")
    found = read_diagnosis(blob_read(made.result_id, "diagnosis"))
    assert found.slowest is not None
    assert found.reporter is not None
    assert (found.slowest.rank, found.reporter.rank) == (1, 0)
    files = list(DiagnosisFile.objects.order_by("number"))
    assert [(one.name, one.kind) for one in files] == [("trace.csv", "trace"), ("engine.log", "log")]
    assert kept_bytes(files[0]) == TRACE
    (said,) = entries("diagnosis.made")
    assert (said["number"], said["points_at"], said["diagnosis"]) == (1, "rank 1, node-a a1", made.result_id)
    assert verify(people.workspace).reason == ""


def test_diagnoses_are_numbered_within_their_decision(decision: Decision, people: Cast) -> None:
    assert [diagnosed(people, note=note).number for note in ("At noon.", "At one.")] == [1, 2]


def test_the_same_files_again_are_the_diagnosis_that_there_is(decision: Decision, people: Cast) -> None:
    assert diagnosed(people, note="At noon.") == diagnosed(people, note="At noon.")
    assert (Diagnosis.objects.count(), len(entries("diagnosis.made"))) == (1, 1)


def test_secrets_are_taken_out_before_a_log_is_kept(decision: Decision, people: Cast) -> None:
    log = LOG + b"Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789\n"
    diagnosed(people, ("engine.log", log))
    kept = DiagnosisFile.objects.get()
    assert b"sk-abc" not in kept_bytes(kept)
    assert kept.uploaded_sha256 != kept.sha256
    assert kept.removed["counts"]


@pytest.mark.parametrize(
    ("files", "asked", "codes"),
    [
        pytest.param((("notes.txt", b"all is well\n"),), {}, ["request/diagnosis_file notes.txt"], id="nothing of use"),
        pytest.param((("t.csv", HEADER.encode()),), {}, ["request/diagnosis_file t.csv"], id="a trace without rows"),
        pytest.param((("t.csv", b"\0\0"),), {}, ["import/encoding t.csv"], id="no text"),
        pytest.param((("t.csv", TRACE + b"x" * MOST_BYTES),), {}, ["request/file_size t.csv"], id="too large"),
        pytest.param((("t.csv", TRACE),), {"late_us": "0"}, ["request/late_us late_us"], id="no lateness"),
        pytest.param((("t.csv", TRACE),), {"late_us": "soon"}, ["request/late_us late_us"], id="no number"),
        pytest.param((("t.csv", TRACE),), {"note": "a\0b"}, ["request/note note"], id="a note nobody can read"),
        pytest.param(
            (("a.txt", b"a\n"), ("b.txt", b"b\n")),
            {"late_us": "x"},
            ["request/late_us late_us", "request/diagnosis_file a.txt", "request/diagnosis_file b.txt"],
            id="all problems at once",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_name_and_kept_nowhere(
    files: tuple[tuple[str, bytes], ...], asked: dict[str, Any], codes: list[str], decision: Decision, people: Cast
) -> None:
    blobs = set(Blob.objects.values_list("pk", flat=True))
    with pytest.raises(InvalidRequestError) as refused:
        diagnosed(people, *files, **asked)
    assert [f"{one.code} {one.pointer}" for one in refused.value.problems] == codes
    assert not Diagnosis.objects.exists()
    assert len(entries("diagnosis.refused")) == 1
    assert set(Blob.objects.values_list("pk", flat=True)) == blobs


def test_without_files_there_is_nothing_to_diagnose(decision: Decision, people: Cast) -> None:
    with pytest.raises(InvalidRequestError, match=r"files: expected a trace of collectives"):
        diagnosis_make(
            actor=people.bob, workspace=people.workspace, number=1, asked=Asked(files=(), with_evidence=True)
        )


def test_files_behind_the_evidence_are_read_where_that_is_asked_for(decision: Decision, people: Cast) -> None:
    document = decision.revisions.get().evidence
    for name, data in (("notes.txt", b"all is well\n"), ("trace.csv", TRACE)):
        blob = blob_keep(data)
        same = {"sha256": blob.sha256, "size_bytes": len(data), "uploaded_sha256": blob.sha256}
        behind = Attachment.objects.create(document=document, name=name, uploaded_bytes=len(data), **same)
        AttachmentPiece.objects.create(attachment=behind, number=0, blob=blob)
    made = diagnosed(people, ("engine.log", LOG), with_evidence=True)
    assert (made.pattern, made.points_at) == ("one_rank", "rank 1, node-a a1")
    files = [(one.name, one.blob_id is None) for one in DiagnosisFile.objects.order_by("number")]
    assert files == [("engine.log", False), ("trace.csv", True)]
    row = diagnosis_file(actor=people.bob, workspace=people.workspace, number=1, diagnosis=1, file=2)
    assert b"".join(diagnosis_file_bytes(row)) == TRACE


def test_an_auditor_diagnoses_nothing(decision: Decision, people: Cast) -> None:
    with pytest.raises(NotAllowedError):
        diagnosed(people, by=people.audrey)
    assert len(entries("diagnosis.refused")) == 1


def test_a_stranger_learns_of_nothing(decision: Decision, people: Cast) -> None:
    with pytest.raises(NotFoundError):
        diagnosed(people, by=people.charlie)
    assert entries("diagnosis.refused") == []


def test_another_trial_is_held_against_where_it_is_asked_for(decision: Decision, people: Cast) -> None:
    assert diagnosed(people, trial="t-late").trial == "t-late"
    with pytest.raises(NotFoundError):
        diagnosed(people, trial="nope")


def test_a_healthy_snapshot_changes_nothing_of_what_is_found(decision: Decision, people: Cast) -> None:
    ras = ("ras.json", json.dumps(answer(5, 5)).encode())
    made = diagnosed(people, ("trace.csv", TRACE), ras)
    assert (made.pattern, made.points_at) == ("one_rank", "rank 1, node-a a1")
    assert [one.kind for one in DiagnosisFile.objects.order_by("number")] == ["trace", "ras"]
