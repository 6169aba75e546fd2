"""A log that breaks a rule is exported all the same: auditors want it then most, and the verifier names the entry."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from planner.canonical import canonical_bytes
from planner.verifier.verify import verify
from reviews.log_keys import log_signer
from reviews.models import AuditEntry, Blob, Checkpoint, Export, ExportState
from reviews.services.export_runs import export_run
from reviews.services.exports import export_request, write_bundle
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast
from tests.reviews.rules.test_rule_10_activation import activate, approved

Tamper = Callable[[AuditEntry], object]
BROKEN, INCOMPLETE = 1, 2


@pytest.fixture
def forced(people: Cast) -> Cast:
    """A decision that is in force, in a log that is signed; as always, that a bundle is wanted is an entry of it."""
    activate(people, approved(people))
    export_request(actor=people.audrey, workspace=people.workspace, decision=1)
    write_bundle(people.workspace, io.BytesIO())
    return people


def changed(entry: AuditEntry, **columns: Any) -> None:
    AuditEntry.objects.filter(pk=entry.pk).update(**columns)


def rewritten(entry: AuditEntry, **fields: Any) -> None:
    changed(entry, data=canonical_bytes(json.loads(bytes(entry.data)) | fields))


def payload_rewritten(entry: AuditEntry) -> None:
    Blob.objects.filter(pk=entry.payload_id).update(data=b'{"from":"somebody"}')


def plan_rewritten(entry: AuditEntry) -> None:
    payload = Blob.objects.get(pk=entry.payload_id)
    Blob.objects.filter(pk=json.loads(bytes(payload.data))["plan_sha256"]).update(data=b"{}")


TAMPERED: dict[str, tuple[str, Tamper, int, str]] = {
    "an entry that says something else": (
        "decision.activated",
        lambda entry: rewritten(entry, reason="Nobody said this."),
        BROKEN,
        "is not the entry that the others follow",
    ),
    "an entry that is no text": ("signoff.given", lambda entry: changed(entry, data=b"\xff\n\0"), BROKEN, "follow"),
    "an entry that is empty": ("signoff.given", lambda entry: changed(entry, data=b""), BROKEN, "follow"),
    "an entry that is a list": ("signoff.given", lambda entry: changed(entry, data=b"[1]"), BROKEN, "follow"),
    "an entry that is gone": (
        "signoff.given",
        lambda entry: AuditEntry.objects.filter(pk=entry.pk).delete(),
        BROKEN,
        "follow",
    ),
    "a payload that says something else": ("revision.created", payload_rewritten, BROKEN, "has not the payload"),
    "a payload that is gone": (
        "signoff.given",
        lambda entry: changed(entry, payload=None),
        INCOMPLETE,
        "has not the payload",
    ),
    "a plan that says something else": ("revision.planned", plan_rewritten, BROKEN, "has another digest"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_does_not_hold_is_exported_and_named(name: str, forced: Cast) -> None:
    action, tamper, code, reason = TAMPERED[name]
    signer, entry = log_signer(forced.workspace), AuditEntry.objects.filter(action=action).order_by("seq").first()
    assert signer is not None
    assert entry is not None
    kept = AuditEntry.objects.count()
    with lifted():
        tamper(entry)
    for decision in (None, 1):
        file = io.BytesIO()
        written = write_bundle(forced.workspace, file, decision=decision)
        found, headline, seq, _ = verify(file, [str(signer.verifier)])
        assert (found, seq) == (code, entry.seq), headline
        assert reason in headline
        assert any(f"ntry {entry.seq} " in fault for fault in written.faults), written.faults
        opened = zipfile.ZipFile(file)
        assert "<h2>This log does not hold</h2>" in opened.read("report.html").decode()
        rows = opened.read("tables/entries.csv").count(b"\r\n") - 1
        assert decision == 1 or rows == kept - (name == "an entry that is gone")
        trailer = json.loads(opened.read("TRAILER.json"))
        assert trailer["files"] == sorted(opened.namelist())
        assert trailer["statements"] == len(opened.read("statements.jsonl").splitlines())


def test_what_holds_before_the_fault_is_stated_and_what_comes_after_is_not(forced: Cast) -> None:
    entry = AuditEntry.objects.get(action="decision.activated")
    with lifted():
        rewritten(entry, reason="Nobody said this.")
    file = io.BytesIO()
    write_bundle(forced.workspace, file)
    opened = zipfile.ZipFile(file)
    assert len(opened.read("statements.jsonl").splitlines()) == 2  # the trial and the plan, no review
    assert opened.read("decisions/D-0001.md").startswith(b"---\nstatus: proposed\n")
    assert b"Nobody said this." not in opened.read("report.html")
    assert b"Nobody said this." in opened.read("tables/entries.csv")


def test_columns_beside_the_bytes_hide_no_entry(forced: Cast) -> None:
    """The decision, the action and the time of an entry are what its bytes say."""
    with lifted():
        AuditEntry.objects.filter(action="signoff.given").update(decision_number=9, action="x.y", revision_number=8)
    file = io.BytesIO()
    assert write_bundle(forced.workspace, file, decision=1).faults == ()
    assert verify(file)[0] == 3
    assert zipfile.ZipFile(file).read("decisions/D-0001.md").count(b"approve") >= 2
    assert zipfile.ZipFile(file).read("tables/signoffs.csv").count(b"\r\n") == 3


@pytest.mark.parametrize("signed", [True, False], ids=["signed before", "never signed"])
def test_a_log_that_cannot_be_signed_is_exported_to_its_end(signed: bool, forced: Cast) -> None:
    last = AuditEntry.objects.order_by("seq").last()
    assert last is not None
    with lifted():
        if signed:
            Checkpoint.objects.update(root=bytes(32))
        else:
            Checkpoint.objects.all().delete()
            changed(last, sha256="sha256:" + "f" * 64)
    export = export_request(actor=forced.audrey, workspace=forced.workspace)
    assert export_run(export.pk) == ExportState.DONE
    file = io.BytesIO(b"".join(bytes(piece.data) for piece in export.pieces.order_by("number")))
    code, headline, _, _ = verify(file)
    assert code == BROKEN, headline
    lines = zipfile.ZipFile(file).read("log/entries.jsonl").splitlines()
    assert len(lines) == AuditEntry.objects.count()
    assert "could not be signed as it is now" in Export.objects.get(pk=export.pk).error


def test_the_page_and_the_row_say_that_a_bundle_does_not_hold(forced: Cast) -> None:
    entry = AuditEntry.objects.get(action="decision.activated")
    with lifted():
        rewritten(entry, reason="Nobody said this.")
    export = export_request(actor=forced.audrey, workspace=forced.workspace)
    assert export_run(export.pk) == ExportState.DONE
    client = Client()
    client.force_login(forced.audrey, backend="django.contrib.auth.backends.ModelBackend")
    shown = client.get("/w/lab/audit/exports/").content.decode()
    assert f"The log does not hold: Entry {entry.seq} is not the entry that the others follow." in shown
    assert "Download" in shown
