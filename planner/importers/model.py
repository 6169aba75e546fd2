"""What reading a file of a tool gives: values with unit, place and our field, remarks, what is missing, what to ask.

A file holds one or more runs. A run is ``usable`` as evidence, ``held`` for a person, or ``refused`` as evidence; its
remarks say why, each with a stable code (``import/...``). Values are what the file says, converted once and exactly;
nothing is interpolated, and a value that the file does not hold is missing, never zero.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from planner.errors import Problem

if TYPE_CHECKING:
    from planner.importers.source import Source

__all__ = [
    "NOWHERE",
    "Asked",
    "Effect",
    "Imported",
    "Importer",
    "Place",
    "Recognised",
    "Remark",
    "Run",
    "Standing",
    "Value",
]

Effect = Literal["note", "held", "refused"]
"""What a remark does to its run: nothing, a person has to decide, or it is no evidence."""

Status = Literal["usable", "held", "refused"]

Standing = Literal["measured", "stated", "hint", "predicted"]
"""``measured`` by the tool, ``stated`` by it as a setting, a ``hint`` (free text, a name) that proves nothing, or
``predicted`` by a model: that fills no field of our documents, ever."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where something stands: JSON pointer inside its document, line from 1, column from 1 or a column's name."""

    pointer: str | None = None
    line: int | None = None
    column: int | str | None = None


NOWHERE = Place()


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One normalised value.

    ``name`` is one of ``planner.importers.quantities``; ``unit`` is ours, ``raw`` and ``raw_unit`` the file's.
    ``field`` points into our ``document`` (``contract`` or ``evidence``), both None where it has no such field.
    ``of`` says which of several things the value belongs to, such as ``prefill-0`` or ``gpu-3``.
    """

    name: str
    value: int | float | str | bool
    unit: str
    raw: int | float | str | bool
    raw_unit: str
    place: Place
    document: str | None
    field: str | None
    standing: Standing = "measured"
    of: str = ""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to know of a run."""

    code: str
    effect: Effect
    sentence: str
    place: Place = NOWHERE


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a person has to give: its field in our document and the question."""

    name: str
    document: str | None
    field: str | None
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One measured run of a file. ``missing`` names the quantities that its format could hold and this run does not."""

    id: str
    place: Place
    status: Status
    values: tuple[Value, ...]
    remarks: tuple[Remark, ...]
    missing: tuple[str, ...]
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A format that a file's content shows; ``version`` is "" where nothing says it, ``confidence`` is 1 to 100.

    ``kept`` is what recognition had to read to the end, so that ``read`` need not read it again.
    """

    version: str = ""
    confidence: int = 90
    kept: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One format: ``recognise`` looks at content only, ``read`` yields runs as they come.

    ``read`` may raise DocumentRefusedError where the rest of the file cannot be read; runs before stay.
    """

    id: str
    title: str
    recognise: Callable[["Source"], Recognised | None]
    read: Callable[["Source", Recognised], Iterator[Run]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What one file gave. ``format`` and ``version`` are "" where it was not recognised."""

    file: str
    recognised: bool
    format: str = ""
    version: str = ""
    confidence: int = 0
    runs: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def status(self) -> Status:
        """``refused`` where the file was not read to its end or a run is no evidence, else the worst of its runs."""
        runs = {run.status for run in self.runs}
        if self.problems or "refused" in runs:
            return "refused"
        return "held" if "held" in runs else "usable"
