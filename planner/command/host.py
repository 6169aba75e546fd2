"""What a host can be asked: its programs, installed packages, folders of files and environments of processes.

Rules kept: programs are started by name from the path, never through a shell, without input, and are ended with their
children after a time; of what they print a bounded part is read. Files are read in parts. Nothing here decides what it
means.
"""

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from planner.canonical import file_sha256

__all__ = [
    "Answer",
    "Package",
    "answer_of",
    "folder_digest",
    "host_name",
    "packages_of",
    "process_environment",
]

MAX_OUTPUT = 8 * 2**20
MAX_FILES = 100_000
MAX_ENVIRONMENT = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program printed; ``because`` says why there is nothing to read of it."""

    output: bytes = b""
    because: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package: its name in small letters with hyphens, its version, the digest of its list of files.

    ``record`` is "" where it has no list.
    """

    name: str
    version: str
    record: str


def host_name() -> str:
    """Return the name that the host calls itself."""
    return platform.node() or "unknown"


def answer_of(program: str, arguments: Iterable[str], timeout_s: float) -> Answer:
    """Ask a program of the path; nothing is raised."""
    words = [program, *arguments]
    found = shutil.which(program)
    if found is None:
        return Answer(because=f"there is no {program} on the path")
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(  # noqa: S603 # a program of the path by name, fixed arguments, no shell
                [found, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            return Answer(because=f"{program} cannot be started: {(error.strerror or str(error)).lower()}")
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return Answer(because=f"{' '.join(words)} gave no answer in {timeout_s:g} s")
        output.seek(0)
        raw = output.read(MAX_OUTPUT + 1)
    if code:
        return Answer(because=f"{' '.join(words)} ended with {code}")
    return (
        Answer(raw) if len(raw) <= MAX_OUTPUT else Answer(because=f"{program} printed more than {MAX_OUTPUT:,} bytes")
    )


def packages_of(folders: Iterable[str], beginnings: tuple[str, ...]) -> dict[str, Package]:
    """Return the packages whose names begin so, by name; the first folder of packages that has one counts."""
    found: dict[str, Package] = {}
    for distribution in distributions(path=list(folders)):
        with suppress(OSError, UnicodeDecodeError):
            name = _name(distribution)
            if name.startswith(beginnings) and name not in found:
                found[name] = _package(name, distribution)
    return found


def _name(distribution: Distribution) -> str:
    # A damaged package may have no name.
    name = distribution.metadata["Name"] or ""
    return name.lower().replace("_", "-").replace(".", "-")


def _package(name: str, distribution: Distribution) -> Package:
    record = distribution.read_text("RECORD")
    return Package(name, distribution.version, "" if record is None else file_sha256(record.encode()))


def folder_digest(folder: Path, names: Iterable[str] | None = None) -> tuple[str, int]:
    """Return the digest of all files below a folder, and their number; ``names`` limits them to files of these names.

    It is the sha256 of lines ``<sha256 of the file>  <path>`` in the order of the paths, as ``sha256sum`` prints them.
    Links to files are followed, links to folders are not.

    Raises:
        OSError: a file cannot be read, or there are too many.
    """
    wanted = None if names is None else frozenset(names)
    paths = sorted(_files(folder, wanted), key=lambda path: path.relative_to(folder).as_posix())
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{digest}  {path.relative_to(folder).as_posix()}\n".encode())
    return f"sha256:{whole.hexdigest()}", len(paths)


def _files(folder: Path, wanted: frozenset[str] | None) -> Iterator[Path]:
    count = 0
    for at, _, names in os.walk(folder, onerror=_raise):
        for name in names:
            if wanted is not None and name not in wanted:
                continue
            count += 1
            if count > MAX_FILES:
                raise OSError(f"more than {MAX_FILES:,} files")
            yield Path(at) / name


def _raise(error: OSError) -> None:
    raise error


def process_environment(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with.

    Raises:
        OSError: there is no such process, or it may not be read.
    """
    with Path(f"/proc/{pid}/environ").open("rb") as file:
        raw = file.read(MAX_ENVIRONMENT)
    entries = (entry.decode("utf-8", "replace").partition("=") for entry in raw.split(b"\0") if entry)
    return {name: value for name, _, value in entries}
