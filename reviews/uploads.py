"""Files on their way into the database: the copy that may be kept, its digests, and its pieces.

Secrets and prompts are taken out before a byte is stored (``planner.importers.redaction``), so a file has two digests:
of the bytes that its owner has, and of those that are kept. Files on disk are temporary and have no name.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, Any, BinaryIO, cast

from planner.canonical import file_sha256
from planner.importers.redaction import Redactor, host_names, host_stand_in
from reviews.blobs import checked
from reviews.models import AttachmentPiece, DraftFile, DraftPiece

PIECE_BYTES = 2**20
IN_MEMORY_BYTES = 4 * 2**20
MAX_ATTACHMENT_BYTES = 256 * 2**20

Blocks = Callable[[], Iterable[bytes]]
"""Begins a file from its first byte, as often as it is called."""


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """A file as it may be kept; ``removed`` has the counts by kind and the first places."""

    handle: IO[bytes]
    name: str
    sha256: str
    size_bytes: int
    uploaded_sha256: str
    uploaded_bytes: int
    removed: dict[str, Any]

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes in pieces of at most 1 MiB."""
        self.handle.seek(0)
        while piece := self.handle.read(PIECE_BYTES):
            yield piece


@contextmanager
def kept_copy(name: str, blocks: Blocks, *, salt: bytes | None) -> Iterator[KeptCopy]:
    """Give the copy of a file that may be kept; it is gone after the block. A salt asks to replace host names.

    Raises:
        DocumentRefusedError: a line is longer than any importer reads.
    """
    stand_ins = {} if salt is None else {host: host_stand_in(host, salt) for host in host_names(blocks())}
    redactor = Redactor(stand_ins)
    uploaded, kept = hashlib.sha256(), hashlib.sha256()
    sizes = [0, 0]

    def measured() -> Iterator[bytes]:
        for block in blocks():
            uploaded.update(block)
            sizes[0] += len(block)
            yield block

    with SpooledTemporaryFile(IN_MEMORY_BYTES) as spool:
        for block in redactor.copy(measured()):
            kept.update(block)
            sizes[1] += len(block)
            spool.write(block)
        yield KeptCopy(
            handle=cast(IO[bytes], spool),
            name=_shown_name(name, stand_ins),
            sha256=f"sha256:{kept.hexdigest()}",
            size_bytes=sizes[1],
            uploaded_sha256=f"sha256:{uploaded.hexdigest()}",
            uploaded_bytes=sizes[0],
            removed={
                "counts": dict(sorted(redactor.counts.items())),
                "places": [asdict(one) for one in redactor.removed],
            },
        )


def _shown_name(name: str, stand_ins: dict[bytes, bytes]) -> str:
    for host, stand_in in sorted(stand_ins.items(), key=lambda pair: -len(pair[0])):
        name = name.replace(host.decode("utf-8", "replace"), stand_in.decode())
    return name


def pieces_store(file: DraftFile, copy: KeptCopy) -> None:
    """Store the pieces of a draft's file one after the other: memory holds one of them."""
    for number, data in enumerate(copy.pieces()):
        DraftPiece.objects.create(file=file, number=number, sha256=file_sha256(data), data=data)


@contextmanager
def draft_file_open(file: DraftFile) -> Iterator[BinaryIO]:
    """Give a draft's file as one that can be sought in.

    Raises:
        TamperedError: its pieces are not the ones that were stored.
    """
    with TemporaryFile() as whole:
        numbers = file.pieces.order_by("number").values_list("pk", "sha256")
        for key, sha256 in numbers:
            data = bytes(DraftPiece.objects.values_list("data", flat=True).get(pk=key))
            whole.write(checked(data, sha256, file.name))
        whole.seek(0)
        yield cast(BinaryIO, whole)


def attachment_blocks(attachment_id: int, name: str) -> Iterator[bytes]:
    """Yield the bytes of an attachment, a piece at a time.

    Raises:
        TamperedError: a piece is not the one that was stored.
    """
    pieces = AttachmentPiece.objects.filter(attachment_id=attachment_id).order_by("number")
    for key, sha256 in list(pieces.values_list("pk", "blob_id")):
        data = AttachmentPiece.objects.values_list("blob__data", flat=True).get(pk=key)
        yield checked(bytes(data), sha256, name)
