"""Find material of others (real benchmark files, oracles), which lies beside the project and is not part of it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ABSENT = "shared folder absent"


def shared_folder() -> Path:
    """Return the folder: ``TOPOGATE_SHARED``, else ``shared`` beside the project. It may not exist."""
    return Path(os.environ.get("TOPOGATE_SHARED") or ROOT.parent / "shared")


def shared_path(relative: str) -> Path:
    """Return a path below the shared folder; skip the calling test, saying so, when it is not there."""
    path = shared_folder() / relative
    if not path.exists():
        pytest.skip(f"{ABSENT}: {path} (set TOPOGATE_SHARED)")
    return path


def shared_files(relative: str, pattern: str) -> list[Path]:
    """Return the sorted files of a shared folder for a table of cases; none when it is not there.

    Give the table to ``pytest.mark.parametrize`` through ``shared_cases`` so that an absent folder is said plainly.
    """
    return sorted((shared_folder() / relative).glob(pattern))


def shared_cases(relative: str, pattern: str) -> list[object]:
    """Return one pytest parameter per shared file, or a single skipped one that says the folder is absent."""
    files = shared_files(relative, pattern)
    if files:
        return [pytest.param(path, id=path.name) for path in files]
    reason = f"{ABSENT}: {shared_folder() / relative} (set TOPOGATE_SHARED)"
    return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]
