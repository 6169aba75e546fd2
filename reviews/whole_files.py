"""Files that are there in full or not at all, whatever happens while they are written."""

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file, durably. A reader, and a machine that fails, sees the old content or the new, never a mixture.

    Raises:
        OSError: it was not written; the old content stands.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(draft, path)
    finally:
        with suppress(OSError):  # gone already where it has become the file
            os.unlink(draft)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
