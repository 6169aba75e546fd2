"""Takes what witnesses sign of a log. A witness that the installation names is known by its key and by nothing else.

No entry of the log records a cosignature: every entry makes another checkpoint, which would be cosigned in its turn.
"""

from dataclasses import dataclass

from reviews.clock import database_now
from reviews.errors import Finding, InvalidRequestError, NotFoundError
from reviews.log_keys import log_witnesses
from reviews.models import Checkpoint, Cosignature
from reviews.transparency.notes import NoteError, opened

MAX_LINE_BYTES = 512


@dataclass(frozen=True, slots=True)
class Kept:
    """A cosignature that is kept, and whether it was not before."""

    witness: str
    size: int
    time: int
    is_new: bool


def cosignature_keep(*, origin: str, size: int, line: bytes) -> Kept:
    """Keep a witness's signature line of a checkpoint; the same witness's second one changes nothing.

    Raises:
        NotFoundError: no log of that origin has such a checkpoint.
        InvalidRequestError: it is no signature line, of no known witness, or does not hold for this checkpoint.
    """
    found = Checkpoint.objects.filter(workspace__log_origin=origin, size=size).order_by("-pk").first()
    if found is None:
        raise NotFoundError(f"There is no checkpoint over {size} entries of such a log.")
    text = bytes(found.note).partition(b"\n\n")[0] + b"\n"
    try:
        if len(line) > MAX_LINE_BYTES or line.count(b"\n") != 1:
            raise NoteError(f"body: expected one signature line of at most {MAX_LINE_BYTES} bytes with its line end")
        (signed,) = opened(text + b"\n" + line, log_witnesses()).signed
    except NoteError as error:
        finding = Finding("request", "request/cosignature", "body", "a signature line of a known witness", str(error))
        raise InvalidRequestError((finding,)) from error
    kept, is_new = Cosignature.objects.get_or_create(
        checkpoint=found,
        key=str(signed.by),
        defaults={"line": line.decode(), "time": signed.time or 0, "received_at": database_now()},
    )
    return Kept(signed.by.name, size, kept.time, is_new)
