"""A file is written in full or not at all, at whichever call the machine fails."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviews.whole_files import write_whole

CALLS = ("open", "write", "fsync", "close", "replace")
OLD, NEW = b"old" * 1000, b"new" * 2000


def failing_at(patch: pytest.MonkeyPatch, turn: int, error: int) -> Callable[[], int]:
    """Let the ``turn``-th system call fail, from 1; return a function that counts the calls so far."""
    count = 0

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == turn:
                raise OSError(error, os.strerror(error))
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        patch.setattr(os, name, wrapped(getattr(os, name)))
    return lambda: count


def test_the_content_is_what_was_written(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", OLD)
    write_whole(tmp_path / "file", NEW)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", NEW)]


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_failure_at_any_call_leaves_the_old_or_the_new_content(tmp_path: Path, error: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    with pytest.MonkeyPatch.context() as patch:
        calls = failing_at(patch, 0, error)
        write_whole(path, OLD)
    found = []
    for turn in range(1, calls() + 1):
        path.write_bytes(OLD)
        with pytest.MonkeyPatch.context() as patch:
            failing_at(patch, turn, error)
            with pytest.raises(OSError, match=os.strerror(error)):
                write_whole(path, NEW)
        found.append(path.read_bytes())
        assert os.listdir(tmp_path) == ["file"]
    # open, write, fsync, close and replace fail with the old content there; after that the new one stands.
    assert found == [OLD] * 5 + [NEW] * 3


def test_a_short_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data[:7])))
    write_whole(tmp_path / "file", NEW)
    assert (tmp_path / "file").read_bytes() == NEW
