"""A file is written in full or not at all, at whichever call the machine fails."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviews.whole_files import write_whole

CALLS = ("open", "write", "fsync", "close", "replace")
KILLED = 9
OLD, NEW = b"old" * 1000, b"new" * 2000


def failing_at(patch: pytest.MonkeyPatch, turn: int, error: int, *, is_done: bool = False) -> Callable[[], int]:
    """Let the ``turn``-th system call fail, from 1; return a function that counts the calls so far.

    ``is_done``: the call is carried out and says afterwards that it failed. An ``error`` of 0 kills the process.
    """
    count = 0

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count != turn:
                return real(*args, **kwargs)
            if is_done:
                real(*args, **kwargs)
            if not error:
                os._exit(KILLED)
            raise OSError(error, os.strerror(error))

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


def test_a_call_that_is_carried_out_and_then_fails_leaves_the_old_or_the_new_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    found = []
    for turn in range(1, 9):
        path.write_bytes(OLD)
        with pytest.MonkeyPatch.context() as patch:
            failing_at(patch, turn, errno.EIO, is_done=True)
            with pytest.raises(OSError, match="Input/output error"):
                write_whole(path, NEW)
        found.append(path.read_bytes())
    # Of open, write, fsync, close and replace the last one made the new content the file's.
    assert found == [OLD] * 4 + [NEW] * 4


@pytest.mark.parametrize("is_done", [False, True])
def test_a_process_killed_at_any_call_leaves_the_old_or_the_new_content(tmp_path: Path, is_done: bool) -> None:
    path = tmp_path / "file"
    found = []
    for turn in range(1, 9):
        path.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            with pytest.MonkeyPatch.context() as patch:
                failing_at(patch, turn, 0, is_done=is_done)
                write_whole(path, NEW)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED
        found.append(path.read_bytes())
    assert found == ([OLD] * 4 + [NEW] * 4 if is_done else [OLD] * 5 + [NEW] * 3)
    write_whole(path, OLD)
    assert path.read_bytes() == OLD


def test_a_short_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data[:7])))
    write_whole(tmp_path / "file", NEW)
    assert (tmp_path / "file").read_bytes() == NEW
