"""Checkpoints (C2SP tlog-checkpoint): a log's origin, size and root, signed as a note.

A log never signs a checkpoint that does not continue the last one it signed; ``continued`` decides that.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass

from reviews.transparency.merkle import EMPTY_ROOT, HASH_BYTES, consistency_holds
from reviews.transparency.notes import Note, NoteError, Signer, Verifier, opened, signed

__all__ = ["Checkpoint", "checkpoint_opened", "checkpoint_signed", "continued"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a log looked like: ``size`` entries under ``root``."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"

    @classmethod
    def of(cls, text: str) -> "Checkpoint":
        """Read the text of a note; lines after the third are extensions and say nothing here.

        Raises:
            NoteError: naming the line that is not as it has to be.
        """
        lines = text.split("\n")
        if len(lines) < 4 or not lines[0]:
            raise NoteError("checkpoint: expected lines of origin, size and root")
        origin, size, root_text = lines[:3]
        if not (size.isascii() and size.isdigit()) or (size != "0" and size.startswith("0")) or len(size) > 19:
            raise NoteError(f"checkpoint, size: expected a whole number without leading zeros, found {size[:40]!r}")
        try:
            root = b64decode(root_text, validate=True)
        except (Base64Error, ValueError) as error:
            raise NoteError("checkpoint, root: expected base64") from error
        if len(root) != HASH_BYTES or b64encode(root).decode() != root_text:
            raise NoteError(f"checkpoint, root: expected base64 of {HASH_BYTES} bytes, found {len(root)}")
        if size == "0" and root != EMPTY_ROOT:
            raise NoteError("checkpoint, root: expected the empty tree's for size 0")
        return cls(origin, int(size), root)


def checkpoint_signed(checkpoint: Checkpoint, signers: Sequence[Signer]) -> bytes:
    """Return the note of a checkpoint."""
    return signed(checkpoint.text, signers).encode()


def checkpoint_opened(raw: bytes, log: Verifier, witnesses: Sequence[Verifier] = ()) -> tuple[Checkpoint, Note]:
    """Return a checkpoint that the log signed, and the note with the witnesses that did.

    Raises:
        NoteError: it is no checkpoint, a signature of a given key does not hold, the log's is missing, or the origin
            is not the log's name.
    """
    note = opened(raw, (log, *witnesses))
    if not note.is_signed_by(log):
        raise NoteError(f"signatures: expected one of {log.name}")
    checkpoint = Checkpoint.of(note.text)
    if checkpoint.origin != log.name:
        raise NoteError(f"checkpoint, origin: expected {log.name}, found {checkpoint.origin}")
    return checkpoint, note


def continued(old: Checkpoint | None, new: Checkpoint, proof: Sequence[bytes]) -> str:
    """Say why ``new`` does not continue ``old``; empty where it does. Without an old one, everything does."""
    if old is None:
        return ""
    if old.origin != new.origin:
        return f"the log was {old.origin} and is {new.origin}"
    if new.size < old.size:
        return f"the log held {old.size} entries and holds {new.size}"
    if old.size == 0:
        return ""
    if not consistency_holds(old.size, new.size, proof, old.root, new.root):
        return f"the first {old.size} entries are not those of the last checkpoint"
    return ""
