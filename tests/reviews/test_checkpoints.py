"""Checkpoints over a workspace's log: what is signed, what is never signed, and how the tree is kept."""

import logging
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from planner.canonical import file_sha256
from reviews.audit import Act, append, workspace_write
from reviews.errors import TamperedError
from reviews.log_tree import LogTree
from reviews.models import AuditEntry, Checkpoint, LogTile, Workspace
from reviews.services.checkpoints import checkpoint_sign, checkpoints_sign
from reviews.services.people import workspace_create
from reviews.transparency.checkpoints import Checkpoint as Statement
from reviews.transparency.checkpoints import checkpoint_opened, continued
from reviews.transparency.keys import new_key, read_key
from reviews.transparency.merkle import (
    consistency_proof,
    inclusion_holds,
    inclusion_proof,
    leaf_hash,
    nodes_of,
    root_at,
)
from reviews.transparency.notes import Verifier
from tests.plugins.append_only import lifted
from tests.reviews.factories import POLICY

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def key(settings: Any) -> str:
    """A key for this test alone."""
    settings.LOG_SIGNING_KEY = new_key()
    return str(settings.LOG_SIGNING_KEY)


@pytest.fixture
def workspace(db: None) -> Workspace:
    """A workspace whose log holds two entries."""
    return workspace_create(slug="lab", title="Lab", policy=POLICY)


def grow(workspace: Workspace, count: int) -> None:
    """Append entries."""
    with workspace_write(workspace.pk):
        for _ in range(count):
            append(workspace, Act(action="test.act"))


def leaves(workspace: Workspace) -> list[bytes]:
    """Hash the entries as they are."""
    rows = AuditEntry.objects.filter(workspace=workspace).order_by("seq").values_list("data", flat=True)
    return [leaf_hash(bytes(data)) for data in rows]


def signed(workspace: Workspace) -> Checkpoint:
    """Sign, where there is a key."""
    made = checkpoint_sign(workspace)
    assert made is not None
    return made


def test_a_checkpoint_states_the_root_over_all_entries(workspace: Workspace) -> None:
    made = signed(workspace)
    stated, _ = checkpoint_opened(bytes(made.note), Verifier.of(made.key))
    hashes = leaves(workspace)
    assert stated == Statement(workspace.log_origin, len(hashes), root_at(nodes_of(hashes), len(hashes)))
    assert (made.size, bytes(made.root)) == (stated.size, stated.root)


def test_the_key_is_recorded_before_it_signs_and_covered(workspace: Workspace) -> None:
    made = signed(workspace)
    last = AuditEntry.objects.filter(workspace=workspace).order_by("seq").select_related("payload")[made.size - 1]
    assert last.action == "log.key_set"
    assert last.payload is not None
    assert made.key.encode() in bytes(last.payload.data)


def test_a_log_that_did_not_grow_is_not_signed_again(workspace: Workspace) -> None:
    assert signed(workspace).pk == signed(workspace).pk
    assert checkpoints_sign() == 0
    assert Checkpoint.objects.count() == 1


def test_a_log_where_nothing_happens_learns_of_another_key(workspace: Workspace, settings: Any) -> None:
    before = signed(workspace)
    settings.LOG_SIGNING_KEY = new_key()
    assert (checkpoints_sign(), checkpoints_sign()) == (1, 0)
    after = Checkpoint.objects.order_by("size").last()
    assert after is not None
    assert after.size == before.size + 1
    assert after.key != before.key
    entry = AuditEntry.objects.select_related("payload").get(workspace=workspace, seq=before.size)
    assert (entry.action, entry.payload is not None) == ("log.key_set", True)


def test_every_log_that_grew_is_signed(workspace: Workspace) -> None:
    workspace_create(slug="other", title="Other", policy=POLICY)
    assert checkpoints_sign() == 2
    grow(workspace, 1)
    assert checkpoints_sign() == 1


def test_each_checkpoint_continues_the_one_before(workspace: Workspace) -> None:
    first = signed(workspace)
    grow(workspace, 5)
    second = signed(workspace)
    old, new = (checkpoint_opened(bytes(made.note), Verifier.of(made.key))[0] for made in (first, second))
    assert continued(old, new, consistency_proof(LogTree(workspace), old.size, new.size)) == ""


def test_without_a_key_nothing_is_signed(workspace: Workspace, settings: Any) -> None:
    settings.LOG_SIGNING_KEY = ""
    assert checkpoint_sign(workspace) is None
    assert (checkpoints_sign(), Checkpoint.objects.count(), len(leaves(workspace))) == (0, 0, 2)


@pytest.mark.parametrize("text", ["no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_named(text: str, workspace: Workspace, settings: Any) -> None:
    settings.LOG_SIGNING_KEY = text
    with pytest.raises(ImproperlyConfigured, match="LOG_SIGNING_KEY: expected an Ed25519 private key"):
        checkpoint_sign(workspace)


def test_another_key_signs_after_its_entry(workspace: Workspace, settings: Any) -> None:
    first = signed(workspace)
    settings.LOG_SIGNING_KEY = new_key()
    second = signed(workspace)
    assert (second.size, second.key != first.key) == (first.size + 1, True)
    entry = AuditEntry.objects.select_related("payload").get(workspace=workspace, seq=second.size - 1)
    assert entry.payload is not None
    assert first.key.encode() in bytes(entry.payload.data)


def edit_an_entry(workspace: Workspace) -> None:
    entry = AuditEntry.objects.get(workspace=workspace, seq=1)
    data = bytes(entry.data).replace(b"policy.set", b"policy.let")
    AuditEntry.objects.filter(pk=entry.pk).update(data=data, sha256=file_sha256(data))


def flip_an_entry(workspace: Workspace) -> None:
    entry = AuditEntry.objects.get(workspace=workspace, seq=1)
    AuditEntry.objects.filter(pk=entry.pk).update(data=bytes(entry.data)[:-1] + b"!")


def drop_the_tail(workspace: Workspace) -> None:
    AuditEntry.objects.filter(workspace=workspace, seq__gte=1).delete()


def drop_an_entry(workspace: Workspace) -> None:
    AuditEntry.objects.filter(workspace=workspace, seq=1).delete()


def alter_a_signed_root(workspace: Workspace) -> None:
    Checkpoint.objects.filter(workspace=workspace).update(root=bytes(32))


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (edit_an_entry, "the first 3 entries are not those of the last checkpoint"),
        (flip_an_entry, "entry 1 do not hash to its digest"),
        (drop_the_tail, "held 3 entries when it was last signed and holds 1"),
        (drop_an_entry, "lacks entries between 0 and"),
        (alter_a_signed_root, "the first 3 entries are not those of the last checkpoint"),
    ],
)
def test_a_log_that_does_not_continue_is_never_signed(tamper: Any, said: str, workspace: Workspace) -> None:
    signed(workspace)
    grow(workspace, 0 if tamper is drop_the_tail else 1)
    with lifted():
        tamper(workspace)
    with pytest.raises(TamperedError, match=said):
        checkpoint_sign(workspace)
    assert Checkpoint.objects.count() == 1


def test_a_log_that_is_at_fault_stops_no_other(workspace: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    signed(workspace)
    workspace_create(slug="other", title="Other", policy=POLICY)
    grow(workspace, 1)
    with lifted():
        edit_an_entry(workspace)
    with caplog.at_level(logging.ERROR):
        assert checkpoints_sign() == 1
    assert "the log of lab was not signed" in caplog.text


@pytest.mark.parametrize("size", [255, 256, 257, 700])
def test_kept_tiles_and_entries_give_the_same_tree(size: int, workspace: Workspace) -> None:
    grow(workspace, size - 2)
    before = leaves(workspace)
    LogTree(workspace).grow(size)
    assert LogTile.objects.filter(level=0).count() == size // 256
    tree, plain = LogTree(workspace), nodes_of(before)
    assert root_at(tree, size) == root_at(plain, size)
    for index in (0, 100, size - 1):
        proof = inclusion_proof(tree, index, size)
        assert proof == inclusion_proof(plain, index, size)
        assert inclusion_holds(before[index], index, size, proof, root_at(plain, size))


def test_a_tile_remembers_what_its_entries_were(workspace: Workspace) -> None:
    grow(workspace, 300)
    made = signed(workspace)
    with lifted():
        edit_an_entry(workspace)
    assert root_at(LogTree(workspace), made.size) == bytes(made.root)
    assert LogTree(workspace)(0, 1) != leaves(workspace)[1]


def test_a_checkpoint_reads_few_rows_however_long_the_log(
    workspace: Workspace, django_assert_max_num_queries: Any
) -> None:
    grow(workspace, 600)
    signed(workspace)
    grow(workspace, 1)
    with django_assert_max_num_queries(20):
        signed(workspace)


def test_a_copy_is_left_for_other_machines(workspace: Workspace, settings: Any, tmp_path: Path) -> None:
    settings.CHECKPOINT_DIR = str(tmp_path)
    made = signed(workspace)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("lab.checkpoint", bytes(made.note))]


def test_the_command_makes_a_private_key_once(tmp_path: Path) -> None:
    path = tmp_path / "key"
    call_command("log_key", new=path)
    read_key(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(CommandError, match=r"File exists\. No key was made"):
        call_command("log_key", new=path)


def test_the_command_prints_every_key_that_signed(
    workspace: Workspace, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = signed(workspace).key
    settings.LOG_SIGNING_KEY = new_key()
    call_command("log_key")
    printed = capsys.readouterr().out.split()
    assert printed[0] == first
    assert Verifier.of(printed[1]).name == workspace.log_origin
