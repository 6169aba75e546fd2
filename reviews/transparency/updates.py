"""What a log gives a witness: a consistency proof and the checkpoint that it leads to.

The form is that of a request to add a checkpoint (C2SP tlog-witness): ``old <size>``, one hash in
base64 a line, an empty line, and the signed checkpoint.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence

from reviews.transparency.notes import NoteError

__all__ = ["MAX_PROOF", "update_of", "update_read"]

MAX_PROOF = 63
"""No proof between two sizes is longer."""


def update_of(old_size: int, proof: Sequence[bytes], note: bytes) -> bytes:
    """Return the bytes of an update."""
    hashes = "".join(f"{b64encode(one).decode()}\n" for one in proof)
    return f"old {old_size}\n{hashes}\n".encode() + note


def update_read(raw: bytes) -> tuple[int, list[bytes], bytes]:
    """Return old size, proof and note of an update.

    Raises:
        NoteError: it is none.
    """
    head, gap, note = raw.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    size = first.removeprefix(b"old ")
    if not gap or not first.startswith(b"old ") or not size.isdigit() or len(size) > 19:
        raise NoteError("update: expected a line of old and a size, hashes, an empty line and a checkpoint")
    if len(lines) > MAX_PROOF:
        raise NoteError(f"update: expected at most {MAX_PROOF} hashes, found {len(lines)}")
    try:
        proof = [b64decode(line, validate=True) for line in lines]
    except (Base64Error, ValueError) as error:
        raise NoteError("update: expected hashes in base64") from error
    return int(size), proof, note
