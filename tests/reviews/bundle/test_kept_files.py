"""Files behind evidence and diagnoses in bundles: always listed, and in it byte for byte where that was asked for."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.utils import timezone

from planner.canonical import file_sha256
from planner.verifier.verify import verify
from reviews.audit import Act, append, workspace_write
from reviews.blobs import blob_keep
from reviews.bundle.archive import Archive, TooLargeError
from reviews.log_keys import log_signer
from reviews.models import Attachment, AttachmentPiece, Blob, Diagnosis, DiagnosisFile, ExportState, Revision
from reviews.services.export_runs import export_run
from reviews.services.exports import export_fetch, export_request, write_bundle
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, Pair, documents, last_entry, planned
from tests.verifier.making import SIGNER

PIECES = (b"rank,us\n", b"0,12\n1,900\n")
DATA = b"".join(PIECES)
NAME = f"files/{file_sha256(DATA)[7:]}.bin"
LOG = b"engine started\n"


def evidence_with(name: str, floor: int = 500) -> Pair:
    """Return documents whose evidence was read from the file."""
    pair = documents(floor=floor)
    tree = json.loads(pair.evidence)
    tree["provenance"]["files"] = {"f1": {"name": name, "sha256": file_sha256(DATA), "bytes": len(DATA)}}
    return Pair(pair.contract, json.dumps(tree).encode())


@pytest.fixture
def revision(people: Cast) -> Revision:
    """A planned revision with a file of two pieces behind its evidence, and a diagnosis with a file of its own."""
    revision = planned(people, pair=evidence_with("=trace.csv"))
    attach(revision, "=trace.csv")
    made = Diagnosis.objects.create(
        decision=revision.decision,
        number=1,
        revision=revision,
        trial="t-1",
        late_us=100,
        result=blob_keep(b"{}"),
        planner_version="1.0.0",
        person=people.bob,
        made_at=timezone.now(),
    )
    blob = blob_keep(LOG)
    same: dict[str, Any] = {"sha256": blob.sha256, "size_bytes": len(LOG), "uploaded_sha256": blob.sha256}
    DiagnosisFile.objects.create(diagnosis=made, number=1, name="engine.log", kind="log", blob=blob, **same)
    named = {"name": "engine.log", "kind": "log", "sha256": blob.sha256, "uploaded_sha256": blob.sha256}
    payload = {"number": 1, "files": [named]}
    with workspace_write(people.workspace.pk):
        append(people.workspace, Act(action="diagnosis.made", decision=1, payload_type="x/v1", payload=payload))
    return revision


def attach(revision: Revision, name: str) -> None:
    """Keep a file behind the evidence of a revision."""
    behind = Attachment.objects.create(
        document=revision.evidence,
        name=name,
        sha256=file_sha256(DATA),
        size_bytes=len(DATA),
        uploaded_sha256=file_sha256(b"as it was sent"),
        uploaded_bytes=14,
    )
    for number, data in enumerate(PIECES):
        AttachmentPiece.objects.create(attachment=behind, number=number, blob=blob_keep(data))


def bundled(people: Cast, **wanted: Any) -> tuple[zipfile.ZipFile, tuple[int, str], tuple[str, ...]]:
    """Return a bundle, what the verifier says of it, and what the server found at fault."""
    file, signer = io.BytesIO(), log_signer(people.workspace)
    written = write_bundle(people.workspace, file, **wanted)
    return zipfile.ZipFile(file), verify(file, [str(signer and signer.verifier)])[:2], written.faults


def listed(opened: zipfile.ZipFile) -> list[dict[str, str]]:
    """Return the list of files."""
    return list(csv.DictReader(io.StringIO(opened.read("tables/files.csv").decode())))


def test_what_is_left_out_is_listed_and_said_not_to_be_checked(revision: Revision, people: Cast) -> None:
    opened, (code, headline), faults = bundled(people)
    assert (code, faults) == (0, ())
    assert headline.endswith("; files that are not here: 2.")
    assert [name for name in opened.namelist() if name.startswith("files/")] == []
    first, second = listed(opened)
    assert first == {
        "sha256": file_sha256(DATA),
        "size_bytes": str(len(DATA)),
        "name": "'=trace.csv",
        "behind": f"evidence {revision.evidence.file_sha256}",
        "uploaded_sha256": file_sha256(b"as it was sent"),
        "included": "no",
    }
    assert (second["name"], second["behind"]) == ("engine.log", "diagnosis 1 of D-0001")


@pytest.mark.parametrize("decision", [None, 1])
def test_files_that_are_asked_for_are_there_byte_for_byte(
    revision: Revision, people: Cast, decision: int | None
) -> None:
    opened, (code, headline), faults = bundled(people, decision=decision, with_files=True)
    assert (code, faults) == (0, ())
    assert "not here" not in headline
    assert [opened.read(f"files/{row['sha256'][7:]}.bin") for row in listed(opened)] == [DATA, LOG]
    assert [row["included"] for row in listed(opened)] == ["yes", "yes"]


def test_a_file_behind_several_documents_is_there_once(revision: Revision, people: Cast) -> None:
    attach(planned(people, pair=evidence_with("again.csv", floor=600)), "again.csv")
    opened, (code, _), _ = bundled(people, with_files=True)
    assert (code, opened.namelist().count(NAME), len(listed(opened))) == (0, 1, 3)


def test_a_file_that_evidence_names_and_nobody_sent_is_listed_without_a_digest_of_what_was_sent(people: Cast) -> None:
    planned(people, pair=evidence_with("elsewhere.csv"))
    opened, (code, headline), faults = bundled(people, with_files=True)
    assert (code, faults, headline.endswith("; files that are not here: 1.")) == (0, (), True)
    (row,) = listed(opened)
    assert (row["name"], row["size_bytes"], row["uploaded_sha256"], row["included"]) == (
        "elsewhere.csv",
        str(len(DATA)),
        "",
        "no",
    )


def test_files_of_another_decision_are_not_listed(revision: Revision, people: Cast) -> None:
    other = planned(people)
    opened, _, _ = bundled(people, decision=other.decision.number)
    assert "engine.log" not in [row["name"] for row in listed(opened)]


def test_a_file_that_was_changed_is_found_by_server_and_verifier(revision: Revision, people: Cast) -> None:
    with lifted():
        Blob.objects.filter(pk=file_sha256(PIECES[1])).update(data=b"0,12\n1,12\n")
    _, (code, headline), faults = bundled(people, with_files=True)
    assert faults == (f"The file =trace.csv behind evidence {revision.evidence.file_sha256} is not the one stored.",)
    assert (code, f"{NAME} has another digest" in headline) == (1, True)


def test_asking_for_files_is_another_export_and_says_so(revision: Revision, people: Cast) -> None:
    act: dict[str, Any] = {"actor": people.audrey, "workspace": people.workspace}
    without, export = export_request(**act), export_request(with_files=True, **act)
    assert export.pk not in (without.pk, export_request(**act).pk)
    assert last_entry(people)["payload"] == {"scope": "workspace", "export": export.pk, "files": True}
    assert export_run(export.pk) == ExportState.DONE
    row, pieces = export_fetch(export_id=export.pk, **act)
    assert row.with_files
    assert NAME in zipfile.ZipFile(io.BytesIO(b"".join(pieces))).namelist()


def test_no_bundle_unpacks_to_more_than_the_verifier_takes() -> None:
    archive = Archive(io.BytesIO())
    archive.add(NAME, [bytes(4_000_000)])
    with pytest.raises(TooLargeError, match=r"more than 400 times its size. Leave out the files."):
        archive.seal(SIGNER)
