"""Files of drafts of evidence: what is kept of them, what is refused, and what becomes of them."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from planner.canonical import file_sha256
from reviews.errors import ConflictError, NotAllowedError, NotFoundError
from reviews.models import AuditEntry, Draft, DraftFile, DraftPiece, FileState
from reviews.selectors.evidence_drafts import evidence_draft
from reviews.services import draft_files
from reviews.services.draft_files import file_remove
from reviews.services.draft_reading import draft_file_read, draft_files_sweep
from reviews.services.drafts import draft_delete, drafts_expire
from tests.reviews.drafts import added, begun, given, tool_file
from tests.reviews.factories import Cast, last_entry

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

SECRET = "sk-abcdefghijklmnop1234"


def kept_bytes(draft: Draft) -> bytes:
    pieces = DraftPiece.objects.filter(file__draft=draft).order_by("file", "number")
    return b"".join(bytes(piece.data) for piece in pieces)


def test_a_file_of_a_tool_is_read_and_grouped(people: Cast) -> None:
    draft = begun(people)
    name, raw = tool_file()
    (outcome,) = added(people, draft, (name, raw))
    assert (outcome.verdict, outcome.name, outcome.sha256) == ("read", "c16.json", file_sha256(raw))
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    assert [(file.state, file.reading.format if file.reading else "") for file in found.files] == [
        ("read", "vllm-bench-serve")
    ]
    assert list(found.work.draft.files) == [file_sha256(raw)[7:23]]
    assert kept_bytes(draft) == raw


def test_secrets_and_prompts_are_gone_before_anything_is_stored(people: Cast) -> None:
    draft = begun(people)
    name, raw = tool_file(api_key=SECRET, generated_texts=["what somebody asked"])
    (outcome,) = added(people, draft, (name, raw))
    assert outcome.verdict == "read"
    row = DraftFile.objects.get()
    kept = kept_bytes(draft)
    assert b"somebody asked" not in kept
    assert SECRET.encode() not in kept
    assert (row.uploaded_sha256, row.uploaded_bytes) == (file_sha256(raw), len(raw))
    assert (row.sha256, row.size_bytes) == (file_sha256(kept), len(kept))
    assert row.removed == {
        "counts": {"credential": 1, "prompt": 1},
        "places": [{"line": 1, "kind": "prompt"}, {"line": 1, "kind": "credential"}],
    }
    assert not any(SECRET.encode() in bytes(entry.data) for entry in AuditEntry.objects.all())


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda raw: raw.decode().encode("utf-16"), id="UTF-16"),
    ],
)
def test_what_is_packed_is_kept_unpacked_so_that_secrets_are_taken_out(
    pack: Callable[[bytes], bytes], people: Cast
) -> None:
    draft = begun(people)
    name, raw = tool_file(api_key=SECRET)
    packed = pack(raw)
    (outcome,) = added(people, draft, (f"{name}.gz", packed))
    row = DraftFile.objects.get()
    assert (outcome.verdict, row.removed["counts"]) == ("read", {"credential": 1})
    assert (row.uploaded_sha256, row.uploaded_bytes) == (file_sha256(packed), len(packed))
    assert kept_bytes(draft) == raw.replace(SECRET.encode(), b"[removed]")


@pytest.mark.parametrize(
    ("packed", "found"),
    [
        pytest.param(gzip.compress(gzip.compress(b"{}")), "a packed file in a packed one", id="twice"),
        pytest.param(gzip.compress(b"[" * 2**25), "more", id="a bomb"),
        pytest.param(gzip.compress(b"{}")[:-4], "one that is damaged or cut after 0 bytes", id="cut"),
        pytest.param(b"\xff\xfea", "truncated data", id="half a sign of UTF-16"),
    ],
)
def test_what_is_packed_badly_is_refused_and_leaves_nothing(packed: bytes, found: str, people: Cast) -> None:
    draft = begun(people)
    (outcome,) = added(people, draft, ("a.json", packed))
    assert (outcome.verdict, found in outcome.problems[0].found) == ("refused", True)
    assert (DraftFile.objects.count(), DraftPiece.objects.count()) == (0, 0)


def test_host_names_are_replaced_where_that_was_asked_for(people: Cast) -> None:
    draft = begun(people, hides_hosts=True)
    added(people, draft, tool_file("gpu-a17.json", hostname="gpu-a17"), tool_file("other.json", host="gpu-a17", seed=2))
    kept = kept_bytes(draft).decode()
    assert "gpu-a17" not in kept
    stand_ins = {word for word in kept.replace('"', " ").split() if word.startswith("host-")}
    assert len(stand_ins) == 1
    assert DraftFile.objects.order_by("id").first().name == f"{stand_ins.pop()}.json"  # type: ignore[union-attr] # there


def test_the_same_bytes_again_change_nothing(people: Cast) -> None:
    draft = begun(people)
    added(people, draft, tool_file())
    entries, version = AuditEntry.objects.count(), Draft.objects.get().version
    (outcome,) = added(people, draft, ("another name.json", tool_file()[1]))
    assert outcome.verdict == "again"
    assert (AuditEntry.objects.count(), Draft.objects.get().version) == (entries, version)


def test_each_file_is_judged_by_itself(people: Cast, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(draft_files, "MAX_ATTACHMENT_BYTES", 5000)
    draft = begun(people)
    outcomes = added(people, draft, ("large.bin", b"x" * 5001), ("notes.txt", b"a walk in the park\n"), tool_file())
    assert [(one.name, one.verdict, [problem.code for problem in one.problems]) for one in outcomes] == [
        ("large.bin", "refused", ["request/file_size"]),
        ("notes.txt", "unknown", ["import/format"]),
        ("c16.json", "read", []),
    ]
    assert DraftPiece.objects.exclude(file__name="c16.json").count() == 0


def test_a_draft_has_a_cap_for_all_its_files(people: Cast, settings: Any) -> None:
    settings.DRAFT_TOTAL_BYTES = 2500
    draft = begun(people)
    outcomes = added(people, draft, tool_file(), *(tool_file(f"{seed}.json", seed=seed) for seed in range(3)))
    refused = [one for one in outcomes if one.verdict == "refused"]
    assert refused
    assert refused[0].problems[0].expected == "files of at most 2,500 bytes in a draft"


def test_the_entry_of_the_log_names_digests_and_no_content(people: Cast) -> None:
    draft = begun(people)
    name, raw = tool_file()
    added(people, draft, (name, raw))
    entry = last_entry(people)
    assert entry["action"] == "draft.files_added"
    assert entry["payload"]["files"] == [
        {"sha256": file_sha256(raw), "uploaded_sha256": file_sha256(raw), "bytes": len(raw), "state": "read"}
    ]


def test_two_tabs_do_not_lose_each_others_files(people: Cast) -> None:
    draft = begun(people)
    added(people, draft, tool_file(), seen=1)
    with pytest.raises(ConflictError):
        added(people, draft, tool_file("other.json", seed=2), seen=1)
    assert DraftFile.objects.count() == 1


def test_nobody_else_puts_files_into_a_draft(people: Cast) -> None:
    draft = begun(people)
    with pytest.raises(NotAllowedError):
        draft_files.files_add(
            actor=people.bob, workspace=people.workspace, draft_id=draft.pk, files=[given(*tool_file())]
        )
    assert DraftFile.objects.count() == 0


def test_a_large_file_waits_for_a_worker_which_reads_it(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_files, "READ_AT_ONCE_BYTES", 10)
    draft = begun(people)
    (outcome,) = added(people, draft, tool_file())
    row = DraftFile.objects.get()
    assert (outcome.verdict, row.state, row.reading) == ("waiting", FileState.WAITING, None)
    version = Draft.objects.get().version
    assert draft_file_read(row.pk) == "read"
    row.refresh_from_db()
    assert (row.state, row.bytes_done, row.lease_token) == (FileState.READ, row.size_bytes, None)
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    assert (len(found.work.draft.files), found.draft.version, found.waits) == (1, version + 1, False)
    assert draft_file_read(row.pk) is None


def test_of_a_file_that_a_worker_does_not_know_nothing_is_kept(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_files, "READ_AT_ONCE_BYTES", 10)
    draft = begun(people)
    added(people, draft, ("notes.txt", b"a walk in the park\n"))
    row = DraftFile.objects.get()
    assert draft_file_read(row.pk) == "unknown"
    assert DraftPiece.objects.count() == 0


def test_a_file_that_ends_every_worker_is_given_up(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_files, "READ_AT_ONCE_BYTES", 10)
    draft = begun(people)
    added(people, draft, tool_file())
    DraftFile.objects.update(attempts=3)
    assert draft_files_sweep() == ()
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    assert [
        (file.state, [problem.found for problem in file.reading.problems]) for file in found.files if file.reading
    ] == [("unknown", ["3 attempts that ended without a result"])]


def test_a_file_is_taken_out_for_good(people: Cast) -> None:
    draft = begun(people)
    name, raw = tool_file()
    added(people, draft, (name, raw))
    file_remove(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, sha256=file_sha256(raw))
    assert (DraftFile.objects.count(), DraftPiece.objects.count()) == (0, 0)
    found = evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)
    assert found.work.draft.files == {}
    with pytest.raises(NotFoundError):
        file_remove(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, sha256=file_sha256(raw))


def test_a_deleted_draft_takes_its_files_along(people: Cast) -> None:
    draft = begun(people)
    added(people, draft, tool_file())
    draft_delete(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, kind="evidence")
    assert (Draft.objects.count(), DraftFile.objects.count(), DraftPiece.objects.count()) == (0, 0, 0)


def test_a_draft_that_nobody_touches_expires(people: Cast) -> None:
    draft, fresh = begun(people), begun(people)
    added(people, draft, tool_file())
    Draft.objects.filter(pk=draft.pk).update(expires_at="2026-01-01T00:00:00Z")
    assert drafts_expire() == 1
    assert list(Draft.objects.values_list("pk", flat=True)) == [fresh.pk]
    entry = last_entry(people)
    assert (entry["action"], entry["actor"], entry["payload"]["draft"]) == ("draft.expired", None, draft.pk)


def test_an_uploaded_contract_is_no_document_of_the_workspace_yet(people: Cast) -> None:
    draft = begun(people)
    body = json.loads(bytes(draft.body))
    assert json.loads(body["contract_text"])["slot"] == draft.slot == "own/one-device"
