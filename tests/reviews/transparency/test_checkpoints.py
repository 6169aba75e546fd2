"""Checkpoints: the text that is signed, what is refused, and which continues which."""

from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reviews.transparency.checkpoints import Checkpoint, checkpoint_opened, checkpoint_signed, continued
from reviews.transparency.merkle import EMPTY_ROOT, consistency_proof, leaf_hash, nodes_of, root_at
from reviews.transparency.notes import COSIGNATURE, NoteError, Signer

LOG = Signer("topogate/lab/00ff", Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
WITNESS = Signer("witness", Ed25519PrivateKey.from_private_bytes(bytes(range(2, 34))), COSIGNATURE)
NODE = nodes_of([leaf_hash(bytes([number])) for number in range(12)])
ROOT = b64encode(bytes(32)).decode()


def of_size(size: int, origin: str = LOG.name) -> Checkpoint:
    """Return the checkpoint of the first leaves."""
    return Checkpoint(origin, size, root_at(NODE, size))


def test_the_text_is_origin_size_and_root() -> None:
    assert Checkpoint("log", 20, bytes(32)).text == f"log\n20\n{ROOT}\n"


def test_a_signed_checkpoint_reads_back() -> None:
    checkpoint, _ = checkpoint_opened(checkpoint_signed(of_size(7), [LOG]), LOG.verifier)
    assert checkpoint == of_size(7)


def test_a_witness_is_told_apart_from_the_log() -> None:
    raw = checkpoint_signed(of_size(7), [LOG]) + WITNESS.line(of_size(7).text, time=5).encode()
    _, note = checkpoint_opened(raw, LOG.verifier, [WITNESS.verifier])
    assert [(signature.by.name, signature.time) for signature in note.signed] == [(LOG.name, None), ("witness", 5)]


def test_a_witness_alone_is_not_the_log() -> None:
    raw = of_size(7).text + "\n" + WITNESS.line(of_size(7).text, time=5)
    with pytest.raises(NoteError, match="expected one of topogate/lab/00ff"):
        checkpoint_opened(raw.encode(), LOG.verifier, [WITNESS.verifier])


def test_the_origin_is_the_name_of_the_key() -> None:
    with pytest.raises(NoteError, match="origin: expected topogate/lab/00ff, found other"):
        checkpoint_opened(checkpoint_signed(of_size(7, "other"), [LOG]), LOG.verifier)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("log\n20\n", "expected lines of origin, size and root"),
        (f"\n20\n{ROOT}\n", "expected lines of origin"),
        (f"log\n020\n{ROOT}\n", "without leading zeros, found '020'"),
        (f"log\n-1\n{ROOT}\n", "found '-1'"),
        (f"log\n²\n{ROOT}\n", "found '²'"),
        (f"log\n{'9' * 20}\n{ROOT}\n", "whole number"),
        ("log\n20\nAAAA\n", "base64 of 32 bytes, found 3"),
        ("log\n20\n!\n", "root: expected base64"),
        (f"log\n20\n{ROOT[:-2]}B=\n", "base64 of 32 bytes"),
        (f"log\n0\n{ROOT}\n", "the empty tree's for size 0"),
    ],
)
def test_what_is_no_checkpoint_is_named(text: str, said: str) -> None:
    with pytest.raises(NoteError, match=said):
        Checkpoint.of(text)


def test_lines_after_the_third_are_no_part_of_a_checkpoint() -> None:
    assert Checkpoint.of(f"log\n20\n{ROOT}\nextension\n") == Checkpoint("log", 20, bytes(32))


def test_the_first_checkpoint_continues_nothing() -> None:
    assert continued(None, of_size(3), []) == ""


def test_every_checkpoint_continues_an_empty_one() -> None:
    assert continued(Checkpoint(LOG.name, 0, EMPTY_ROOT), of_size(3), []) == ""


@pytest.mark.parametrize(("first", "second"), [(1, 1), (3, 7), (8, 12), (7, 7)])
def test_a_longer_log_with_its_proof_continues(first: int, second: int) -> None:
    assert continued(of_size(first), of_size(second), consistency_proof(NODE, first, second)) == ""


def test_another_history_does_not_continue() -> None:
    rewritten = nodes_of([leaf_hash(bytes([number, 1])) for number in range(12)])
    new = Checkpoint(LOG.name, 12, root_at(rewritten, 12))
    said = continued(of_size(7), new, consistency_proof(rewritten, 7, 12))
    assert said == "the first 7 entries are not those of the last checkpoint"


def test_another_root_of_the_same_size_does_not_continue() -> None:
    assert "the first 7 entries" in continued(of_size(7), Checkpoint(LOG.name, 7, bytes(32)), [])


def test_a_shorter_log_does_not_continue() -> None:
    assert continued(of_size(7), of_size(6), []) == "the log held 7 entries and holds 6"


def test_another_log_does_not_continue() -> None:
    assert continued(of_size(7), of_size(7, "other"), []) == "the log was topogate/lab/00ff and is other"
