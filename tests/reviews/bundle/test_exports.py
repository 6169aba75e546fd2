"""Exports as jobs: who asks, what is recorded, how one is written, fetched, given up and deleted."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from planner.canonical import file_sha256
from planner.verifier.verify import verify
from reviews import queue
from reviews.errors import ConflictError, NotFoundError
from reviews.models import AuditEntry, Export, ExportPiece, ExportState
from reviews.selectors.exports import export_detail, export_rows
from reviews.services.export_runs import MOST_ATTEMPTS, export_run, exports_sweep
from reviews.services.exports import MOST_OPEN, export_fetch, export_request, write_bundle
from reviews.tasks import export_write
from tests.api.asking import Caller, problem, token_of
from tests.reviews.factories import Cast, last_entry, planned
from tests.reviews.rules.board import TRACE


def asked(people: Cast, **changes: Any) -> Export:
    """Ask for an export as the auditor."""
    request: dict[str, Any] = {"actor": people.audrey, "workspace": people.workspace, "trace": TRACE} | changes
    return export_request(**request)


def test_an_export_is_asked_for_written_and_fetched_and_each_is_an_entry(people: Cast) -> None:
    planned(people)
    export = asked(people, decision=1)
    entry = last_entry(people)
    assert (entry["action"], entry["actor"], entry["decision"]) == ("export.requested", people.audrey.token, 1)
    assert entry["payload"] == {"scope": "decision", "export": export.pk}
    assert export_run(export.pk) == ExportState.DONE
    assert export_run(export.pk) is None
    row, pieces = export_fetch(actor=people.bob, workspace=people.workspace, export_id=export.pk, trace=TRACE)
    raw = b"".join(pieces)
    assert (row.size_bytes, row.sha256) == (len(raw), file_sha256(raw))
    assert row.entries_done == row.entries_total
    assert row.file_name == f"topogate-D-0001-{row.sha256[7:19]}.zip"
    assert verify(io.BytesIO(raw))[0] == 3
    entry = last_entry(people)
    assert (entry["action"], entry["actor"]) == ("export.downloaded", people.bob.token)
    assert entry["payload"] == {"scope": "decision", "export": export.pk, "sha256": row.sha256}


def test_the_entry_that_asks_for_an_export_is_in_it(people: Cast) -> None:
    export = asked(people)
    export_run(export.pk)
    kept = AuditEntry.objects.get(action="export.requested").seq
    assert Export.objects.get().checkpoint_size > kept


def test_the_same_again_is_the_same_export_while_it_waits(people: Cast) -> None:
    planned(people)
    first = asked(people)
    assert asked(people).pk == first.pk
    assert asked(people, decision=1).pk != first.pk
    assert asked(people, actor=people.bob).pk != first.pk
    assert AuditEntry.objects.filter(action="export.requested").count() == 3
    export_run(first.pk)
    assert asked(people).pk != first.pk


def test_only_so_many_wait_at_once(people: Cast) -> None:
    now = timezone.now()
    for _ in range(MOST_OPEN):
        Export.objects.create(workspace=people.workspace, person=people.bob, asked_at=now, woken_at=now)
    with pytest.raises(ConflictError, match="5 exports wait already"):
        asked(people)
    assert last_entry(people)["action"] == "export.refused"


def test_strangers_and_unknown_decisions_are_not_found(people: Cast) -> None:
    with pytest.raises(NotFoundError):
        asked(people, actor=people.charlie)
    with pytest.raises(NotFoundError):
        asked(people, decision=9)
    assert not Export.objects.exists()
    export = asked(people)
    with pytest.raises(NotFoundError):
        export_fetch(actor=people.charlie, workspace=people.workspace, export_id=export.pk)
    with pytest.raises(ConflictError, match="not ready: queued"):
        export_fetch(actor=people.bob, workspace=people.workspace, export_id=export.pk)


def test_without_a_key_nothing_is_exported(people: Cast, settings: Any) -> None:
    settings.LOG_SIGNING_KEY = ""
    export = asked(people)
    assert export_run(export.pk) == ExportState.FAILED
    row = export_detail(actor=people.audrey, workspace=people.workspace, export_id=export.pk)
    assert (row.error, row.is_ready, row.is_open) == (
        "There is no key that signs the log, so nothing can be exported.",
        False,
        False,
    )


def test_a_bundle_that_would_be_too_large_is_not_written(people: Cast, settings: Any) -> None:
    settings.EXPORT_BYTES = 100
    export = asked(people)
    assert export_run(export.pk) == ExportState.FAILED
    smaller = "Export decisions one by one, or without the files behind evidence."
    assert Export.objects.get().error == f"The bundle would be larger than 100 bytes. {smaller}"
    assert not ExportPiece.objects.exists()


def test_one_that_a_worker_died_of_is_taken_over_and_given_up_at_last(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[tuple[int, str]] = []

    def wake(row: int, task: str) -> bool:
        woken.append((row, task))
        return True

    monkeypatch.setattr(queue, "wake", wake)
    export = asked(people)
    past = timezone.now() - timedelta(seconds=1)
    token = "00000000-0000-0000-0000-000000000001"
    Export.objects.update(state=ExportState.RUNNING, lease_token=token, lease_until=past, attempts=1)
    assert exports_sweep() == ()
    assert woken == [(export.pk, queue.EXPORT_TASK)]
    assert Export.objects.get().state == ExportState.QUEUED
    Export.objects.update(attempts=MOST_ATTEMPTS)
    exports_sweep()
    assert (Export.objects.get().state, Export.objects.get().error) == (
        ExportState.FAILED,
        "Writing it ended 3 times without a result.",
    )


def test_an_expired_export_is_gone(people: Cast) -> None:
    export = asked(people)
    export_run(export.pk)
    assert [row.id for row in export_rows(actor=people.audrey, workspace=people.workspace)] == [export.pk]
    Export.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert export_rows(actor=people.audrey, workspace=people.workspace) == ()
    with pytest.raises(NotFoundError):
        export_fetch(actor=people.audrey, workspace=people.workspace, export_id=export.pk)
    exports_sweep()
    assert not Export.objects.exists()
    assert not ExportPiece.objects.exists()


def test_the_api_gives_a_bundle_to_who_may_read(people: Cast) -> None:
    planned(people)
    auditor = Caller(token_of(people, people.audrey, "read"), "lab")
    answer = auditor.post("exports", {"decision": "1"})
    made = answer.json()
    assert (answer.status_code, answer.headers["Location"], made["state"]) == (202, made["url"], "queued")
    assert made["bundle"] is None
    assert problem(auditor.get(f"exports/{made['id']}/bundle"))["status"] == 409
    export_run(made["id"])
    ready = auditor.get(made["url"]).json()
    assert (ready["state"], ready["decision"], ready["error"]) == ("done", 1, "")
    fetched = auditor.get(ready["bundle"])
    raw = b"".join(fetched.streaming_content)
    assert fetched.headers["Content-Length"] == str(len(raw))
    assert fetched.headers["Content-Type"] == "application/zip"
    assert "no-store" in fetched.headers["Cache-Control"]
    assert verify(io.BytesIO(raw))[0] == 3
    assert [row["id"] for row in auditor.get("exports?decision=1").json()["exports"]] == [made["id"]]
    assert auditor.get("exports?decision=2").json()["exports"] == []


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"decision": "D-1"}, "decision"),
        ({"decision": "1" * 10}, "decision"),
        ({"files": "true"}, "files"),
        ({"x": "1"}, "x"),
    ],
)
def test_the_api_says_what_is_no_export(parts: dict[str, str], field: str, people: Cast) -> None:
    auditor = Caller(token_of(people, people.audrey, "read"), "lab")
    found = problem(auditor.post("exports", parts))
    assert (found["status"], [one["pointer"] for one in found["problems"]]) == (422, [field])
    assert json.dumps(found)


def test_the_api_is_asked_for_files_too(people: Cast) -> None:
    auditor = Caller(token_of(people, people.audrey, "read"), "lab")
    asked_for = [auditor.post("exports", parts).json()["with_files"] for parts in ({"files": "yes"}, {"files": ""}, {})]
    assert asked_for == [True, False, False]
    assert [export.with_files for export in Export.objects.order_by("pk")] == [True, False]


def test_a_form_without_a_field_asks_for_nothing(people: Cast) -> None:
    head = {"Authorization": f"Bearer {token_of(people, people.audrey, 'read')}"}
    for body, status in ((b"--x\r\nTrue--x--\r\n", 422), (b"--x--\r\n", 202)):
        kind = "multipart/form-data; boundary=x"
        answer = Client().post("/api/v1/workspaces/lab/exports", body, content_type=kind, headers=head)
        assert answer.status_code == status, answer.content


def test_the_task_of_the_worker_writes_what_a_lost_message_left(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    export = asked(people)
    monkeypatch.setattr(queue, "wake", lambda row, task: False)
    Export.objects.update(woken_at=timezone.now() - timedelta(hours=1))
    assert exports_sweep() == (export.pk,)
    export_write(export.pk)
    assert Export.objects.get().state == ExportState.DONE


def test_progress_tells_of_all_the_work_and_not_of_the_entries_alone(people: Cast) -> None:
    planned(people)
    shares: list[float] = []
    written = write_bundle(people.workspace, io.BytesIO(), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[written.entries - 1] < 0.6, "once the log is written, documents and statements are still to come"
    assert (shares[-1] > 0.9, shares[-1] <= 1) == (True, True)
