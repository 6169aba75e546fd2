"""Files that are packed or in UTF-16: what is in them as bytes of UTF-8, without ever holding a bomb.

gzip is unpacked in a stream, twice: once to the end to know that it is whole and small enough, then again as it is
read. UTF-16, which Windows shells write, is converted as a whole. Other packings are named and refused.
"""

import gzip
import io
import zlib
from typing import BinaryIO, NoReturn, cast

from planner.errors import DocumentRefusedError, Problem
from planner.strict_json import MAX_BYTES

__all__ = ["MAX_FILE_BYTES", "is_unpacked_here", "unpacked"]

MAX_FILE_BYTES = 2**30
MAX_RATIO = 200
"""Results of tools shrink to a tenth or a fiftieth; what shrinks to less is made to burst."""
ALWAYS_UNPACKED = 16 * 2**20
"""Bytes up to which no ratio counts: a short file of one repeated line is no bomb."""

_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_REFUSED = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"\xfd7zXZ\x00": "an xz file",
    b"BZh": "a bzip2 file",
    b"7z\xbc\xaf": "a 7z archive",
    b"SQLite": "a database",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
}
_BLOCK = 2**20


def is_unpacked_here(start: bytes) -> bool:
    """Whether a file that starts so is one that ``unpacked`` gives another file for."""
    return start.startswith((_GZIP, *_UTF_16))


def unpacked(handle: BinaryIO) -> BinaryIO:
    """Return the file itself, or a file of what it holds, at its start.

    Raises:
        DocumentRefusedError: it is packed in another way, damaged, or larger than is read.
    """
    size = handle.seek(0, io.SEEK_END)
    if size > MAX_FILE_BYTES:
        _refuse("import/size", f"at most {MAX_FILE_BYTES:,} bytes", f"{size:,} bytes")
    handle.seek(0)
    start = handle.read(8)
    handle.seek(0)
    if start.startswith(_GZIP):
        return _gunzipped(handle, size)
    if start.startswith(_UTF_16):
        return _converted(handle, size)
    for magic, found in _REFUSED.items():
        if start.startswith(magic):
            _refuse("import/encoding", "UTF-8 text, UTF-16 or gzip: unpack it first", found)
    return handle


def _gunzipped(handle: BinaryIO, size: int) -> BinaryIO:
    # A reader of bytes is one, which the annotations of the standard library do not say of it.
    file = cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=handle, mode="rb")), _BLOCK))
    most = min(MAX_FILE_BYTES, max(ALWAYS_UNPACKED, MAX_RATIO * size))
    unpacked_bytes = 0
    try:
        while block := file.read(_BLOCK):
            unpacked_bytes += len(block)
            if unpacked_bytes > most:
                _refuse("import/size", f"at most {most:,} bytes out of {size:,} packed", "more")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        _refuse("import/encoding", "a whole gzip file", f"one that is damaged or cut after {unpacked_bytes:,} bytes")
    file.seek(0)
    return file


def _converted(handle: BinaryIO, size: int) -> BinaryIO:
    if size > MAX_BYTES:
        _refuse("import/size", f"at most {MAX_BYTES:,} bytes of UTF-16", f"{size:,} bytes")
    try:
        return io.BytesIO(handle.read().decode("utf-16").encode("utf-8"))
    except UnicodeError as error:
        _refuse("import/encoding", "UTF-16", f"an error: {str(error)[:80]}")


def _refuse(code: str, expected: str, found: str) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, found),))
