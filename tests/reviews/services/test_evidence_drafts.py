"""Drafts of evidence: decided on, made into a document, and what is kept of them for good."""

import json

import pytest

from planner.canonical import file_sha256
from planner.intake import read_contract, read_evidence
from reviews.draft_changes import AnswerQuestion, LeaveOut, NewTrial, RenameTrial
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError
from reviews.models import Attachment, AuditEntry, Blob, Draft, StoredDocument
from reviews.selectors.attachments import attachment_bytes, attachment_of, evidence_document
from reviews.selectors.evidence_drafts import evidence_draft
from reviews.services import draft_files
from reviews.services.evidence_drafts import evidence_draft_begin, evidence_draft_change, evidence_make
from reviews.services.submissions import submission_create
from tests.reviews.drafts import added, answered, begun, made, tool_file
from tests.reviews.factories import Cast, documents, last_entry, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def change(people: Cast, draft: Draft, *changes: object, seen: int | None = None) -> Draft:
    return evidence_draft_change(
        actor=people.alice,
        workspace=people.workspace,
        draft_id=draft.pk,
        changes=changes,  # type: ignore[arg-type] # tests pass one of them
        seen_version=seen,
    )


def test_a_draft_begins_for_a_stored_contract(people: Cast) -> None:
    stored = submitted(people).contract
    draft = begun(people, contract=None, contract_sha256=stored.file_sha256)
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    assert (found.work.contract.content_id, found.body.contract_text) == (stored.content_id, None)


def test_a_contract_of_nobody_is_not_found(people: Cast) -> None:
    with pytest.raises(NotFoundError):
        begun(people, contract=None, contract_sha256="sha256:" + "0" * 64)


def test_a_reader_begins_no_draft(people: Cast) -> None:
    with pytest.raises(NotAllowedError):
        evidence_draft_begin(actor=people.bob, workspace=people.workspace, contract=documents().contract)


def test_changes_are_made_whole_or_not_at_all(people: Cast) -> None:
    draft = begun(people)
    with pytest.raises(InvalidRequestError) as refused:
        change(people, draft, NewTrial(trial="tp2"), RenameTrial(trial="tp9", new="tp4"))
    assert [problem.pointer.split("/")[:3] for problem in refused.value.problems] == [["", "changes", "1"]]
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    assert (found.work.draft.trials, found.draft.version) == ({}, 1)
    assert last_entry(people)["action"] == "draft.refused"


def test_a_change_names_what_was_done_and_not_what_was_said(people: Cast) -> None:
    draft = begun(people)
    change(people, draft, AnswerQuestion(at="/provenance/collected_by", value="a secret team"))
    entry = last_entry(people)
    assert (entry["action"], entry["payload"]["changes"]) == ("draft.changed", ["answer"])
    assert "a secret team" not in json.dumps(entry)


def test_the_same_answer_again_changes_nothing(people: Cast) -> None:
    draft = begun(people)
    answer = AnswerQuestion(at="/provenance/collected_by", value="pilot team")
    first = change(people, draft, answer)
    entries = AuditEntry.objects.count()
    assert change(people, draft, answer).version == first.version
    assert AuditEntry.objects.count() == entries


def test_what_is_open_is_named_and_nothing_is_stored(people: Cast) -> None:
    draft = begun(people)
    added(people, draft, tool_file())
    with pytest.raises(InvalidRequestError) as refused:
        evidence_make(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, seen_version=None)
    assert "/provenance/collected_by" in {problem.pointer for problem in refused.value.problems}
    assert StoredDocument.objects.count() == 0


def test_a_draft_that_waits_for_a_file_makes_nothing(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_files, "READ_AT_ONCE_BYTES", 10)
    draft = begun(people)
    added(people, draft, tool_file())
    with pytest.raises(ConflictError, match="1 file of this draft are still to be read"):
        evidence_make(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, seen_version=None)


def test_the_document_passes_intake_and_its_files_are_attached(people: Cast) -> None:
    document = made(people)
    raw = bytes(Blob.objects.get(pk=document.file_sha256).data)
    read = read_evidence(raw, read_contract(documents().contract))
    name, sent = tool_file(tensor_parallel_size=1)
    (listed,) = read.record.provenance.files.values()  # type: ignore[union-attr] # there
    assert (listed.name, listed.sha256, listed.bytes) == (name, file_sha256(sent), len(sent))
    attached = attachment_of(actor=people.bob, workspace=people.workspace, sha256=file_sha256(sent))
    assert b"".join(attachment_bytes(attached)) == sent


def test_a_large_attachment_is_kept_in_pieces(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviews.uploads.PIECE_BYTES", 100)
    made(people)
    _, sent = tool_file(tensor_parallel_size=1)
    attached = attachment_of(actor=people.alice, workspace=people.workspace, sha256=file_sha256(sent))
    assert [len(piece) for piece in attachment_bytes(attached)][:-1] == [100] * (len(sent) // 100)
    assert b"".join(attachment_bytes(attached)) == sent


def test_making_it_is_an_entry_with_every_digest(people: Cast) -> None:
    document = made(people)
    entry = last_entry(people)
    assert entry["action"] == "draft.finished"
    assert entry["payload"]["evidence_file_sha256"] == document.file_sha256
    assert entry["payload"]["files"] == list(Attachment.objects.values_list("sha256", flat=True))


def test_the_same_draft_again_makes_the_same_document(people: Cast) -> None:
    document = made(people)
    draft = Draft.objects.get()
    again = evidence_make(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, seen_version=None)
    assert again == document
    assert (StoredDocument.objects.filter(kind="evidence").count(), Attachment.objects.count()) == (1, 1)


def test_what_was_made_can_be_submitted(people: Cast) -> None:
    document = made(people)
    found = evidence_document(actor=people.alice, workspace=people.workspace, sha256=document.file_sha256)
    revision = submission_create(
        actor=people.alice,
        workspace=people.workspace,
        contract=documents().contract,
        evidence=found.raw,
        title="Made of files",
        as_of=None,
        idempotency_key=None,
    )
    assert (revision.evidence, revision.contract.file_sha256) == (document, found.contract_sha256)


def test_a_run_that_was_left_out_is_in_no_document(people: Cast) -> None:
    draft = begun(people)
    added(people, draft, tool_file(tensor_parallel_size=1))
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    run = f"{next(iter(found.work.draft.files))}.1"
    change(people, draft, LeaveOut(run=run, because="Throttled."))
    answered(people, draft)
    with pytest.raises(InvalidRequestError):
        evidence_make(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, seen_version=None)
