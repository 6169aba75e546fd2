"""What the check after a restore finds: changed blobs, another log, a cut tail, checkpoints that are none."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from reviews.audit import Act, append
from reviews.models import AuditEntry, Blob, Checkpoint, Workspace
from reviews.services.checkpoints import checkpoint_sign
from reviews.services.people import workspace_create
from reviews.services.restores import blobs_check, log_check, log_restored
from reviews.transparency.checkpoints import Checkpoint as Statement
from reviews.transparency.checkpoints import checkpoint_signed
from reviews.transparency.keys import new_key, read_key
from reviews.transparency.notes import Signer, Verifier
from tests.plugins.append_only import lifted
from tests.reviews.factories import POLICY

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def workspace(settings: Any, db: None) -> Workspace:
    """A workspace whose log was signed once, over three entries, and then grew by one."""
    settings.LOG_SIGNING_KEY = new_key()
    made = workspace_create(slug="lab", title="Lab", policy=POLICY)
    assert checkpoint_sign(made) is not None
    append(made, Act(action="test.act"))
    return made


def note(workspace: Workspace) -> bytes:
    return bytes(Checkpoint.objects.get(workspace=workspace).note)


def test_a_log_that_continues_its_checkpoint_is_recorded_as_restored(workspace: Workspace) -> None:
    found = log_check(workspace, [note(workspace)])
    assert (found.entries, found.covered, found.faults) == (4, (3,), ())
    entry = log_restored(found)
    assert (entry.seq, entry.action, entry.prev) == (4, "log.restored", found.head)
    assert log_check(workspace, [note(workspace)]).faults == ()


def test_a_lost_tail_shows(workspace: Workspace) -> None:
    saved, key = note(workspace), Verifier.of(Checkpoint.objects.get(workspace=workspace).key)
    with lifted():  # as in a backup that is older than the checkpoint
        Checkpoint.objects.all().delete()
        AuditEntry.objects.filter(workspace=workspace, seq__gte=2).delete()
    found = log_check(workspace, [saved], [key])
    assert found.faults == ("the tail is lost: a saved checkpoint covers 3 entries",)
    with pytest.raises(ValueError, match="the log of lab is at fault: the tail is lost"):
        log_restored(found)


def test_another_log_of_the_same_name_shows(workspace: Workspace, settings: Any) -> None:
    signer = Signer(workspace.log_origin, read_key(settings.LOG_SIGNING_KEY))
    other = checkpoint_signed(Statement(workspace.log_origin, 3, b"\1" * 32), [signer])
    assert log_check(workspace, [other]).faults == ("the first 3 entries are not those of a saved checkpoint",)


def test_a_checkpoint_of_an_unknown_key_is_none(workspace: Workspace) -> None:
    stranger = Signer(workspace.log_origin, read_key(new_key()))
    other = checkpoint_signed(Statement(workspace.log_origin, 3, b"\1" * 32), [stranger])
    (fault,) = log_check(workspace, [other]).faults
    assert fault.startswith("a saved checkpoint is none: signatures: expected one of")
    trusted = log_check(workspace, [other], [stranger.verifier])
    assert trusted.faults == ("the first 3 entries are not those of a saved checkpoint",)


def test_every_blob_that_is_not_what_it_was_is_named(workspace: Workspace) -> None:
    changed = Blob.objects.order_by("pk")[0]
    with lifted():
        Blob.objects.filter(pk=changed.pk).update(data=b"{}")
    assert blobs_check() == (Blob.objects.count(), (changed.pk,))


@pytest.mark.parametrize(
    ("content", "code", "answer"),
    [
        pytest.param(b"", 2, "No such file", id="no file"),
        pytest.param(b"topogate/elsewhere/1\n", 1, "Nothing was recorded", id="of no log here"),
    ],
)
def test_the_command_refuses_checkpoints_that_it_cannot_use(
    workspace: Workspace, tmp_path: Path, content: bytes, code: int, answer: str
) -> None:
    file = tmp_path / "checkpoint"
    if content:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=answer) as refused:
        call_command("after_restore", "--checkpoint", str(file), stdout=io.StringIO())
    assert refused.value.returncode == code
    assert not AuditEntry.objects.filter(action="log.restored").exists()


def test_without_a_checkpoint_the_command_says_what_it_did_not_check(workspace: Workspace) -> None:
    said = io.StringIO()
    call_command("after_restore", stdout=said)
    assert "not checked against any saved checkpoint: a lost tail would not show" in said.getvalue()
