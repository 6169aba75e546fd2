"""Signed notes: the published example, who signed, and what is refused."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reviews.transparency.notes import COSIGNATURE, Note, NoteError, Signer, Verifier, opened, signed

PUBLISHED_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLISHED_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
"""The example that the implementations of signed notes share."""

TEXT = "log\n7\nroot\n"
LOG = Signer("example.org/log", Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = Signer("example.org/other", Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))
WITNESS = Signer("example.org/witness", Ed25519PrivateKey.from_private_bytes(bytes(range(2, 34))), COSIGNATURE)


def test_the_published_note_is_signed_by_its_key() -> None:
    verifier = Verifier.of(PUBLISHED_KEY)
    note = opened(PUBLISHED_NOTE.encode(), [verifier])
    assert note.is_signed_by(verifier)
    assert note.text == PUBLISHED_NOTE.partition("\n\n")[0] + "\n"


def test_a_key_reads_back_from_its_text() -> None:
    assert str(Verifier.of(PUBLISHED_KEY)) == PUBLISHED_KEY
    assert Verifier.of(str(WITNESS.verifier)) == WITNESS.verifier


def test_signatures_of_unknown_keys_say_nothing() -> None:
    note = opened(signed(TEXT, [LOG, OTHER]).encode(), [LOG.verifier])
    assert [signature.by for signature in note.signed] == [LOG.verifier]


def test_a_key_that_signs_twice_counts_once() -> None:
    assert opened(signed(TEXT, [LOG, LOG]).encode(), [LOG.verifier]) == opened(
        signed(TEXT, [LOG]).encode(), [LOG.verifier]
    )


def test_a_note_without_a_trusted_signature_is_refused() -> None:
    with pytest.raises(NoteError, match=r"expected one of a trusted key, found example\.org/other"):
        opened(signed(TEXT, [OTHER]).encode(), [LOG.verifier])


def test_one_bad_signature_of_a_trusted_key_refuses_the_note() -> None:
    note = signed(TEXT, [LOG]) + OTHER.line("another text\n")
    with pytest.raises(NoteError, match=r"signature of example\.org/other: does not hold"):
        opened(note.encode(), [LOG.verifier, OTHER.verifier])


def test_a_cosignature_tells_its_time() -> None:
    raw = signed(TEXT, [LOG]) + WITNESS.line(TEXT, time=1_796_000_000)
    note = opened(raw.encode(), [LOG.verifier, WITNESS.verifier])
    assert [signature.time for signature in note.signed] == [None, 1_796_000_000]


def test_a_cosignature_is_bound_to_its_time() -> None:
    line = WITNESS.line(TEXT, time=1_796_000_000)
    later = WITNESS.line(TEXT, time=1_796_000_001)
    signature = line.split(" ")[2]
    moved = later.split(" ")[2][:16] + signature[16:]
    raw = signed(TEXT, [LOG]) + line.replace(signature, moved)
    with pytest.raises(NoteError, match="witness: does not hold"):
        opened(raw.encode(), [LOG.verifier, WITNESS.verifier])


@pytest.mark.parametrize(("signer", "time"), [(LOG, 5), (WITNESS, None)])
def test_only_a_cosignature_has_a_time(signer: Signer, time: int | None) -> None:
    with pytest.raises(ValueError, match="a cosignature has a time"):
        signer.line(TEXT, time=time)


@pytest.mark.parametrize("at", range(len(signed(TEXT, [LOG]).encode())))
def test_a_note_with_any_byte_flipped_is_refused(at: int) -> None:
    raw = bytearray(signed(TEXT, [LOG]).encode())
    raw[at] ^= 1
    with pytest.raises(NoteError):
        opened(bytes(raw), [LOG.verifier])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "expected text, an empty line"),
        (b"a\n\n", "expected signature lines that end"),
        (b"a\n\n\xff\n", "expected UTF-8"),
        (b"a\r\n\n- b c\n", "without control characters"),
        (b"a\n\n- b c\n", "expected a signature line"),
        ("a\n\n— b\n".encode(), "expected a signature line"),
        ("a\n\n— b+c AAAAAAA=\n".encode(), "expected a signature line"),
        ("a\n\n— b !\n".encode(), "signature of b: expected base64"),
        ("a\n\n— b AAAA\n".encode(), "expected a key id and a signature, found 3 bytes"),
        (b"a" * 1_000_001, "at most 1,000,000 bytes, found 1,000,001"),
        (("a\n\n" + "— b AAAAAAA=\n" * 101).encode(), "at most 100 signatures, found 101"),
    ],
)
def test_what_is_no_note_is_named(raw: bytes, said: str) -> None:
    with pytest.raises(NoteError, match=said):
        opened(raw, [LOG.verifier])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found fewer parts"),
        ("name+c74f20a3", "found fewer parts"),
        ("name+c74f20a3+", "found nothing"),
        ("name+c74f20a3+!", "expected base64"),
        ("other+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", "key id: expected"),
        ("name+c74f20a3+Ag==", "key kind: expected 0x01 or 0x04, found 0x02"),
        ("name+c74f20a3+AQ==", "expected 32 bytes, found 0"),
        (" +c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", "key name"),
    ],
)
def test_what_is_no_key_is_named(text: str, said: str) -> None:
    with pytest.raises(NoteError, match=said):
        Verifier.of(text)


@pytest.mark.parametrize("text", ["", "no line end", "a\tb\n"])
def test_what_no_note_can_hold_is_not_signed(text: str) -> None:
    with pytest.raises(NoteError, match="text of a note"):
        signed(text, [LOG])


def test_a_note_whose_text_has_empty_lines_is_split_at_the_last() -> None:
    note = opened(signed("a\n\nb\n", [LOG]).encode(), [LOG.verifier])
    assert note == Note("a\n\nb\n", note.signed)
