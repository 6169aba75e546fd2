"""Read one file into what a draft keeps of it: digest, size, and the values that its importer found.

A file is known by its bytes: the same bytes under another name are the same file. Names lose what no document may
hold. Numbers beyond what JSON holds exactly are left out and named, so that a draft always reads back.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from planner.builder.limits import refuse
from planner.builder.records import Draft, DraftFile, DraftTrial, FileProblem, ReadPlace, ReadRemark, ReadRun
from planner.importers import Source, import_file
from planner.importers.scrubbed import scrubbed
from planner.pointers import place_of
from planner.records.base import SAFE_INTEGER
from planner.shown import shown

__all__ = ["file_id", "file_of", "placed_runs", "read_file", "run_id", "run_of", "runs_of"]

CHUNK = 2**20
ID_DIGITS = 16
MAX_PLACE = 512
MAX_COLUMN = 256


def read_file(name: str, handle: BinaryIO, *, before: tuple[str, BinaryIO] | None = None) -> DraftFile:
    """Read a file that is open and can be sought in; never raises for what it holds.

    ``before`` is name and handle of an earlier scrape of the same server: counters are then read as the difference. A
    file that no importer knows comes back with ``recognised`` false and the reasons.
    """
    earlier = None if before is None else Source(*before)
    imported = import_file(Source(name, handle, before=earlier))
    sha256, size = _digest(handle)
    return DraftFile(
        name=scrubbed(name.rpartition("/")[2].encode("utf-8", "replace").decode()) or "unnamed",
        sha256=sha256,
        bytes=size,
        before=None if before is None else _digest(before[1])[0],
        recognised=imported.recognised,
        format=imported.format,
        version=imported.version,
        runs=tuple(_kept(msgspec.convert(run, ReadRun, from_attributes=True)) for run in imported.runs),
        problems=msgspec.convert(imported.problems, tuple[FileProblem, ...], from_attributes=True),
    )


def _digest(handle: BinaryIO) -> tuple[str, int]:
    """Return digest and size of the bytes as they were given, packed or not."""
    digest, size = hashlib.sha256(), 0
    handle.seek(0)
    while chunk := handle.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return f"sha256:{digest.hexdigest()}", size


def _kept(run: ReadRun) -> ReadRun:
    """Return the run without numbers that JSON does not hold exactly, each with a remark."""
    kept = tuple(
        msgspec.structs.replace(value, place=_place(value.place))
        for value in run.values
        if _exact(value.value) and _exact(value.raw)
    )
    if len(kept) == len(run.values):
        return msgspec.structs.replace(run, values=kept)
    dropped = {value.name for value in run.values} - {value.name for value in kept}
    sentence = f"left out, beyond 2^53: {', '.join(sorted(dropped))}"
    remark = ReadRemark(code="import/range", effect="note", sentence=sentence, place=ReadPlace())
    return msgspec.structs.replace(run, values=kept, remarks=(*run.remarks, remark))


def _place(place: ReadPlace) -> ReadPlace:
    """Return a place that a document can name: keys of a hostile file may hold anything."""
    pointer, column = place.pointer, place.column
    named = pointer if pointer is not None and len(pointer) <= MAX_PLACE and pointer.isprintable() else None
    known = (
        column if isinstance(column, int) or (column and len(column) <= MAX_COLUMN and column.isprintable()) else None
    )
    return ReadPlace(pointer=named, line=place.line, column=known)


def _exact(value: object) -> bool:
    return not isinstance(value, int) or abs(value) <= SAFE_INTEGER


def file_id(sha256: str) -> str:
    """Return the id of a file in a draft and in the document made of it."""
    return sha256.removeprefix("sha256:")[:ID_DIGITS]


def run_id(file: str, number: int) -> str:
    """Return the id of a file's run, which is counted from 1."""
    return f"{file}.{number}"


def file_of(draft: Draft, run: str) -> DraftFile:
    """Return the file of a run; DocumentRefusedError where the draft has no such run."""
    run_of(draft, run)
    return draft.files[run.partition(".")[0]]


def run_of(draft: Draft, run: str) -> ReadRun:
    """Return a run; DocumentRefusedError where the draft has no such run."""
    file, _, number = run.partition(".")
    known = draft.files.get(file)
    # Counted from 1, so that the place of number n is n - 1.
    place = None if known is None else place_of(number, len(known.runs) + 1)
    if known is None or not place:
        raise refuse("builder/run", "/files", "a run of the draft", shown(run))
    return known.runs[place - 1]


def placed_runs(trial: DraftTrial) -> Iterator[str]:
    """Yield the runs of a trial and of its windows; one that was copied comes more than once."""
    yield from trial.runs
    for window in trial.windows.values():
        yield from window.runs


def runs_of(files: dict[str, DraftFile]) -> Iterable[tuple[str, DraftFile, ReadRun]]:
    """Yield id, file and run of every run, by file id: the order in which files came says nothing."""
    for name in sorted(files):
        for number, run in enumerate(files[name].runs, 1):
            yield run_id(name, number), files[name], run
