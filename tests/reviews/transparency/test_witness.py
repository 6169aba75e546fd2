"""A witness signs what continues the last checkpoint that it saw, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reviews.transparency.checkpoints import Checkpoint, checkpoint_opened, checkpoint_signed
from reviews.transparency.keys import new_key, read_key
from reviews.transparency.merkle import NodeReader, consistency_proof, leaf_hash, nodes_of, root_at
from reviews.transparency.notes import COSIGNATURE, NoteError, Signer
from reviews.transparency.updates import update_of, update_read
from reviews.transparency.witness import RefusedError, cosigned, main
from tests.shared import ROOT

LOG = Signer("topogate/lab/00ff", Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
NEW = Signer(LOG.name, Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))
WITNESS = Signer("witness", Ed25519PrivateKey.from_private_bytes(bytes(range(2, 34))), COSIGNATURE)
HONEST = nodes_of([leaf_hash(bytes([number])) for number in range(12)])
REWRITTEN = nodes_of([leaf_hash(bytes([number, 1])) for number in range(12)])


def update(old: int, size: int, node: NodeReader = HONEST, signer: Signer = LOG) -> bytes:
    """Return what the log gives a witness that saw ``old`` entries."""
    proof = consistency_proof(node, old, size) if 0 < old <= size else []
    return update_of(old, proof, checkpoint_signed(Checkpoint(LOG.name, size, root_at(node, size)), [signer]))


def witness(raw: bytes, state: Path, *log: Signer) -> bytes:
    keys = [signer.verifier for signer in log or (LOG,)]
    return cosigned(raw, keys, WITNESS, state, now=1_796_000_000)


def test_an_update_reads_back() -> None:
    old, proof, note = update_read(update(5, 12))
    assert (old, proof) == (5, consistency_proof(HONEST, 5, 12))
    assert note == checkpoint_signed(Checkpoint(LOG.name, 12, root_at(HONEST, 12)), [LOG])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "expected a line of old"),
        (b"old x\n\n", "expected a line of old"),
        (b"old 1\n!\n\n", "hashes in base64"),
        (b"old 1\n" + b"AAAA\n" * 64 + b"\n", "at most 63 hashes, found 64"),
        (b"old " + b"1" * 20 + b"\n\n", "expected a line of old"),
    ],
)
def test_what_is_no_update_is_named(raw: bytes, said: str) -> None:
    with pytest.raises(NoteError, match=said):
        update_read(raw)


def test_the_first_checkpoint_is_trusted_and_kept(tmp_path: Path) -> None:
    signed = witness(update(0, 5), tmp_path / "state")
    checkpoint, note = checkpoint_opened(signed, LOG.verifier, [WITNESS.verifier])
    assert (checkpoint.size, [one.time for one in note.signed]) == (5, [None, 1_796_000_000])
    assert (tmp_path / "state").read_bytes() == signed


def test_a_continuation_is_signed(tmp_path: Path) -> None:
    witness(update(0, 5), tmp_path / "state")
    signed = witness(update(5, 12), tmp_path / "state")
    assert checkpoint_opened(signed, LOG.verifier, [WITNESS.verifier])[0].size == 12


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (update(5, 12, REWRITTEN), "first 5 entries are not those"),
        (update(0, 12), "first 5 entries are not those"),
        (update(3, 3), "held 5 entries and holds 3"),
    ],
)
def test_what_does_not_continue_is_refused_and_the_state_kept(tmp_path: Path, raw: bytes, said: str) -> None:
    first = witness(update(0, 5), tmp_path / "state")
    with pytest.raises(RefusedError, match=said):
        witness(raw, tmp_path / "state")
    assert (tmp_path / "state").read_bytes() == first


def test_a_checkpoint_that_the_log_did_not_sign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoteError, match="expected one of a trusted key"):
        witness(update(0, 5, signer=Signer("other", LOG.private)), tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_after_a_change_of_key_the_log_is_still_held_against_what_the_earlier_one_signed(tmp_path: Path) -> None:
    witness(update(0, 5), tmp_path / "state")
    with pytest.raises(NoteError, match="expected one of a trusted key"):
        witness(update(5, 12, signer=NEW), tmp_path / "state", NEW)
    with pytest.raises(RefusedError, match="first 5 entries are not those"):
        witness(update(5, 12, REWRITTEN, NEW), tmp_path / "state", LOG, NEW)
    signed = witness(update(5, 12, signer=NEW), tmp_path / "state", LOG, NEW)
    assert checkpoint_opened(signed, NEW.verifier, [WITNESS.verifier])[0].size == 12
    assert witness(update(12, 12, signer=NEW), tmp_path / "state", NEW), "then the earlier one is not needed any more"


def test_an_update_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoteError, match="expected at most"):
        witness(b"old 0\n\n" + b"a" * 2_000_000, tmp_path / "state")


def test_the_command_runs_without_the_application(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(new_key())
    command = [sys.executable, "-m", "reviews.transparency.witness", "--log", str(LOG.verifier), "--key", str(key)]
    command += ["--state", str(tmp_path / "state")]
    clean = {"PATH": "/usr/bin:/bin"}
    answers = [
        subprocess.run(command, input=raw, capture_output=True, cwd=ROOT, env=clean, check=False)
        for raw in (update(0, 5), update(5, 12, REWRITTEN), b"nothing")
    ]
    assert [answer.returncode for answer in answers] == [0, 1, 2]
    verifier = Signer("witness", read_key(key.read_text()), COSIGNATURE).verifier
    assert checkpoint_opened(answers[0].stdout, LOG.verifier, [verifier])[0].size == 5
    assert b"Not signed: the first 5 entries" in answers[1].stderr
    assert b"Not signed: update: expected" in answers[2].stderr


def test_the_command_prints_its_public_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key"
    key.write_text(new_key())
    arguments = ["--log", str(LOG.verifier), "--key", str(key), "--state", str(tmp_path / "state"), "--public"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip() == str(Signer("witness", read_key(key.read_text()), COSIGNATURE).verifier)


def test_a_missing_key_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--log", str(LOG.verifier), "--key", str(tmp_path / "none"), "--state", str(tmp_path / "state")]
    assert main(arguments) == 2
    assert "none" in capsys.readouterr().err
