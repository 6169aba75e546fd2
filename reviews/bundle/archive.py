"""Writes the zip of a bundle: the same content gives the same bytes, and a signature over all of it is its comment.

A bundle is signed as a whole, the last record of the archive with it, so that no byte can change unseen. What is
written goes to an open file and is held in memory a block at a time.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from reviews.transparency.notes import Signer

DOMAIN = b"topogate.bundle/v1\n"
"""Begins what is signed, so that the signature of a bundle is never one of something else."""
SIGNATURE_BYTES = 64
MOST_FILES = 200_000
MOST_BYTES = 1 << 32
"""What the verifier takes, unpacked too. From 65,536 files on an archive ends as zip64, of which earlier verifiers say
that there are too many files; smaller ones look as they always did."""
MOST_RATIO = 400
"""How many times its size the verifier lets an archive unpack to."""
MOST_LINE_BYTES = 1 << 24
SMALLER = "Export decisions one by one, or without the files behind evidence."
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_BLOCK = 1 << 20


class TooLargeError(Exception):
    """The content does not fit into one bundle."""


def fitting(line: bytes) -> bytes:
    """Return a line that the verifier reads.

    Raises:
        TooLargeError: it is longer than the verifier takes.
    """
    if len(line) >= MOST_LINE_BYTES:
        raise TooLargeError(f"A line of the bundle would be longer than {MOST_LINE_BYTES:,} bytes.")
    return line


class Archive:
    """A bundle that is being written. ``seal`` ends it."""

    def __init__(self, file: BinaryIO, *, most_bytes: int = MOST_BYTES) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True, compresslevel=6)
        self._most, self._unpacked = most_bytes, 0
        self.names: list[str] = []

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write one file of the bundle.

        Raises:
            TooLargeError: it does not fit any more.
        """
        if len(self.names) >= MOST_FILES:
            raise TooLargeError(f"A bundle holds at most {MOST_FILES:,} files. {SMALLER}")
        info = zipfile.ZipInfo(name, _EARLIEST)
        info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
        self.names.append(name)
        try:
            with self._zip.open(info, "w") as handle:
                yield handle
        except (zipfile.LargeZipFile, RuntimeError) as error:
            raise TooLargeError("A file of the bundle would be larger than an archive can hold.") from error
        self._unpacked += info.file_size
        if self._file.tell() > self._most or self._unpacked > MOST_BYTES:
            raise TooLargeError(f"The bundle would be larger than {self._most:,} bytes. {SMALLER}")

    def add(self, name: str, blocks: Iterable[bytes]) -> None:
        """Write one file from blocks. Raises as ``writing``."""
        with self.writing(name) as handle:
            for block in blocks:
                handle.write(block)

    def seal(self, signer: Signer) -> int:
        """End the archive and sign it; return its size in bytes.

        Raises:
            TooLargeError: it would unpack to more than the verifier takes of an archive of its size.
        """
        self._zip.comment = b"\0" * SIGNATURE_BYTES
        self._zip.close()
        size = self._file.seek(0, 2)
        if self._unpacked > MOST_RATIO * (size - SIGNATURE_BYTES):
            raise TooLargeError(
                f"The bundle would unpack to more than {MOST_RATIO} times its size. Leave out the files."
            )
        digest = hashlib.sha256(DOMAIN)
        self._file.seek(0)
        for at in range(0, size - SIGNATURE_BYTES, _BLOCK):
            digest.update(self._file.read(min(_BLOCK, size - SIGNATURE_BYTES - at)))
        self._file.seek(size - SIGNATURE_BYTES)
        self._file.write(signer.private.sign(digest.digest()))
        return size
