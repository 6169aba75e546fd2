"""Files on their way into the database: the copy that may be kept, its digests, and its pieces.

Secrets and prompts are taken out before a byte is stored (``planner.importers.redaction``), so a file has two digests:
of the bytes that its owner has, and of those that are kept. Files on disk are temporary and have no name.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, Any, BinaryIO, cast

from planner.canonical import file_sha256
from planner.errors import DocumentRefusedError, Problem
from planner.importers.packing import is_unpacked_here, unpacked
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


@dataclass(slots=True)
class _Measured:
    """A file as it was sent, with the digest and size of what was read of it since its last beginning."""

    blocks: Blocks
    digest: Any = field(default_factory=hashlib.sha256)
    size_bytes: int = 0

    def __call__(self) -> Iterator[bytes]:
        self.digest, self.size_bytes = hashlib.sha256(), 0
        for block in self.blocks():
            self.digest.update(block)
            self.size_bytes += len(block)
            yield block


@contextmanager
def kept_copy(name: str, blocks: Blocks, *, salt: bytes | None) -> Iterator[KeptCopy]:
    """Give the copy of a file that may be kept; it is gone after the block. A salt asks to replace host names.

    A packed file is kept unpacked: nothing could be taken out of it otherwise.

    Raises:
        DocumentRefusedError: a line is longer than any importer reads; it is packed badly, twice, or holds too much.
    """
    uploaded = _Measured(blocks)
    with _readable(uploaded) as readable, SpooledTemporaryFile(IN_MEMORY_BYTES) as spool:
        stand_ins = {} if salt is None else {host: host_stand_in(host, salt) for host in host_names(readable())}
        redactor = Redactor(stand_ins)
        kept, size = hashlib.sha256(), 0
        for block in redactor.copy(readable()):
            kept.update(block)
            size += len(block)
            _require_size(size)
            spool.write(block)
        yield KeptCopy(
            handle=cast(IO[bytes], spool),
            name=_shown_name(name, stand_ins),
            sha256=f"sha256:{kept.hexdigest()}",
            size_bytes=size,
            uploaded_sha256=f"sha256:{uploaded.digest.hexdigest()}",
            uploaded_bytes=uploaded.size_bytes,
            removed={
                "counts": dict(sorted(redactor.counts.items())),
                "places": [asdict(one) for one in redactor.removed],
            },
        )


@contextmanager
def _readable(uploaded: _Measured) -> Iterator[Blocks]:
    """Give a file as text, whether it was sent so or packed.

    Raises:
        DocumentRefusedError: it is packed badly, or what is in it is packed again.
    """
    if not is_unpacked_here(next(uploaded(), b"")):
        yield uploaded
        return
    with TemporaryFile() as packed:
        for block in uploaded():
            packed.write(block)
        plain = unpacked(cast(BinaryIO, packed))
        if is_unpacked_here(plain.read(2)):
            problem = Problem("import/encoding", "", "text that is packed once", "a packed file in a packed one")
            raise DocumentRefusedError((problem,))

        def again() -> Iterator[bytes]:
            plain.seek(0)
            while piece := plain.read(PIECE_BYTES):
                yield piece

        yield again


def _require_size(size_bytes: int) -> None:
    if size_bytes > MAX_ATTACHMENT_BYTES:
        problem = Problem("import/size", "", f"at most {MAX_ATTACHMENT_BYTES:,} bytes of text", "more")
        raise DocumentRefusedError((problem,))


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
