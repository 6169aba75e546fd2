"""Signed notes (C2SP signed-note): text, an empty line, and a line for each signature.

A signature line is an em dash, the key's name and the base64 of a four-byte key id and the signature. Keys are Ed25519.
A log signs the text itself (kind 0x01). A witness signs the text with its time before it (tlog-cosignature, kind 0x04).
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["COSIGNATURE", "SIGNATURE", "Note", "NoteError", "Signed", "Signer", "Verifier", "opened", "signed"]

SIGNATURE = 0x01
COSIGNATURE = 0x04
MAX_BYTES = 1_000_000
MAX_SIGNATURES = 100
KEY_ID_BYTES = 4
TIME_BYTES = 8
PUBLIC_KEY_BYTES = 32
MARK = "— "


class NoteError(ValueError):
    """Text that is no note, a key that is none, or a note that no trusted key signed. Says which."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key under the name that signs. ``kind`` is SIGNATURE or COSIGNATURE."""

    name: str
    public: bytes
    kind: int = SIGNATURE

    def __post_init__(self) -> None:
        """Refuse what no note can name.

        Raises:
            NoteError: the name holds a space or plus, the kind is unknown, or the key has another length.
        """
        if not _is_name(self.name):
            raise NoteError(f"key name: expected text without spaces and plus signs, found {self.name!r}")
        if self.kind not in (SIGNATURE, COSIGNATURE):
            raise NoteError(f"key kind: expected 0x01 or 0x04, found {self.kind:#04x}")
        if len(self.public) != PUBLIC_KEY_BYTES:
            raise NoteError(f"key: expected {PUBLIC_KEY_BYTES} bytes, found {len(self.public)}")

    @classmethod
    def of(cls, text: str) -> "Verifier":
        """Read the text form of a key: name, key id in hexadecimal, base64 of kind and key, joined by plus signs.

        Raises:
            NoteError: it is none.
        """
        parts = text.strip().split("+", 2)
        if len(parts) != 3:
            raise NoteError("key: expected name+id+key, found fewer parts")
        name, id_text, key_text = parts
        key = _unbase64(key_text, "key")
        if not key:
            raise NoteError("key: expected a kind and a public key, found nothing")
        verifier = cls(name, key[1:], key[0])
        if verifier.id.hex() != id_text:
            raise NoteError(f"key id: expected {verifier.id.hex()}, found {id_text!r}")
        return verifier

    @property
    def id(self) -> bytes:
        """The four bytes that stand before each of its signatures."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:KEY_ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(bytes([self.kind]) + self.public).decode()}"

    def holds(self, text: str, signature: bytes) -> bool:
        """Say whether the signature is of this text by this key; a cosignature starts with its time."""
        message, given = text.encode(), signature
        if self.kind == COSIGNATURE:
            time, given = int.from_bytes(signature[:TIME_BYTES], "big"), signature[TIME_BYTES:]
            message = _cosigned(text, time)
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(given, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key under the name that signs."""

    name: str
    private: Ed25519PrivateKey
    kind: int = SIGNATURE

    @property
    def verifier(self) -> Verifier:
        """Its public part."""
        return Verifier(self.name, self.private.public_key().public_bytes_raw(), self.kind)

    def line(self, text: str, *, time: int | None = None) -> str:
        """Return the signature line for a text. ``time``: seconds since 1970, of a cosignature only.

        Raises:
            ValueError: a cosignature without a time, or a signature with one.
        """
        if (time is not None) != (self.kind == COSIGNATURE):
            raise ValueError("a cosignature has a time, a signature has none")
        if time is None:
            signature = self.private.sign(text.encode())
        else:
            signature = time.to_bytes(TIME_BYTES, "big") + self.private.sign(_cosigned(text, time))
        return f"{MARK}{self.name} {b64encode(self.verifier.id + signature).decode()}\n"


@dataclass(frozen=True, slots=True)
class Signed:
    """A signature that a trusted key made. ``time``: when a witness saw it, in seconds since 1970; None of a log."""

    by: Verifier
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A text and who is known to have signed it, each key once, in the order of the lines."""

    text: str
    signed: tuple[Signed, ...]

    def is_signed_by(self, verifier: Verifier) -> bool:
        """Say whether one key signed."""
        return any(signature.by == verifier for signature in self.signed)


def signed(text: str, signers: Sequence[Signer]) -> str:
    """Return the note of a text.

    Raises:
        NoteError: the text does not end with a line end, or holds characters that no note may.
    """
    if not text.endswith("\n") or _has_control(text):
        raise NoteError("text of a note: expected lines that end with a line end, without other control characters")
    return text + "\n" + "".join(signer.line(text) for signer in signers)


def opened(raw: bytes, trusted: Sequence[Verifier]) -> Note:
    """Return a note's text and the signatures of trusted keys. Signatures of other keys say nothing.

    Raises:
        NoteError: it is no note; a trusted key's signature does not hold; or no trusted key signed.
    """
    text, lines = _split(raw)
    keys = {(verifier.name, verifier.id): verifier for verifier in trusted}
    found: dict[Verifier, Signed] = {}
    for name, blob in lines:
        verifier = keys.get((name, blob[:KEY_ID_BYTES]))
        if verifier is None or verifier in found:
            continue
        signature = blob[KEY_ID_BYTES:]
        if not verifier.holds(text, signature):
            raise NoteError(f"signature of {name}: does not hold")
        time = int.from_bytes(signature[:TIME_BYTES], "big") if verifier.kind == COSIGNATURE else None
        found[verifier] = Signed(verifier, time)
    if not found:
        raise NoteError(f"signatures: expected one of a trusted key, found {', '.join(n for n, _ in lines)}")
    return Note(text, tuple(found.values()))


def _split(raw: bytes) -> tuple[str, list[tuple[str, bytes]]]:
    if len(raw) > MAX_BYTES:
        raise NoteError(f"note: expected at most {MAX_BYTES:,} bytes, found {len(raw):,}")
    try:
        note = raw.decode()
    except UnicodeDecodeError as error:
        raise NoteError("note: expected UTF-8") from error
    at = note.rfind("\n\n")
    if at < 0 or _has_control(note):
        raise NoteError("note: expected text, an empty line and signature lines, without control characters")
    text, block = note[: at + 1], note[at + 2 :]
    if not block.endswith("\n"):
        raise NoteError("note: expected signature lines that end with a line end")
    lines = block[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteError(f"note: expected at most {MAX_SIGNATURES} signatures, found {len(lines)}")
    return text, [_signature(line) for line in lines]


def _signature(line: str) -> tuple[str, bytes]:
    name, space, encoded = line.removeprefix(MARK).partition(" ")
    if not line.startswith(MARK) or not space or not _is_name(name):
        raise NoteError("note: expected a signature line of an em dash, a key name and base64")
    blob = _unbase64(encoded, f"signature of {name}")
    if len(blob) <= KEY_ID_BYTES:
        raise NoteError(f"signature of {name}: expected a key id and a signature, found {len(blob)} bytes")
    return name, blob


def _cosigned(text: str, time: int) -> bytes:
    """Return the bytes that a witness signs."""
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def _unbase64(text: str, what: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError) as error:
        raise NoteError(f"{what}: expected base64") from error


def _is_name(name: str) -> bool:
    return bool(name) and "+" not in name and not any(letter.isspace() for letter in name)


def _has_control(text: str) -> bool:
    return any(letter < " " and letter != "\n" for letter in text)
