"""The draft of an evidence document: files as they were read, how their runs are arranged, what a person decided.

A draft is a value: every change gives a new one (``planner.builder.editing``), so that a page, the API and the command
line share one rule book. What is inside a draft is never evidence by itself; ``planner.builder.assembly`` makes the
document. Pointers name fields of that document; a step ``*`` stands for every trial or every window, and the most
exact pointer counts.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from planner.records.base import Bytes, Digest, Id, PositiveCount, Prose, Record, Text
from planner.records.evidence import JsonPointer

__all__ = [
    "DRAFT_SCHEMA",
    "Answer",
    "AskedOfRun",
    "Draft",
    "DraftFile",
    "DraftTrial",
    "DraftWindow",
    "FileProblem",
    "HeldDecision",
    "LeftOut",
    "ReadPlace",
    "ReadRemark",
    "ReadRun",
    "ReadValue",
    "RunId",
    "Scalar",
    "Settlement",
    "Standing",
]

Json = Any

DRAFT_SCHEMA = "topogate.evidence-draft/v1"

RunId = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}\.[1-9][0-9]{0,3}(?![\s\S])", title="run of a file")]
"""``<file id>.<number of the run in its file, from 1>``."""

Standing = Literal["measured", "stated", "hint", "predicted"]
Status = Literal["usable", "held", "refused"]
Scalar = int | float | str | bool


class ReadPlace(Record, frozen=True, kw_only=True):
    """Where something stands in a file, as ``planner.importers.model.Place``."""

    pointer: str | None = None
    line: int | None = None
    column: int | str | None = None


class ReadValue(Record, frozen=True, kw_only=True):
    """One value of a run, as ``planner.importers.model.Value``."""

    name: str
    value: Scalar
    unit: str
    raw: Scalar
    raw_unit: str
    place: ReadPlace
    document: str | None
    field: str | None
    standing: Standing = "measured"
    of: str = ""


class ReadRemark(Record, frozen=True, kw_only=True):
    """One thing to know of a run, as ``planner.importers.model.Remark``."""

    code: str
    effect: Literal["note", "held", "refused"]
    sentence: str
    place: ReadPlace


class AskedOfRun(Record, frozen=True, kw_only=True):
    """A question that a run leaves open, as ``planner.importers.model.Asked``."""

    name: str
    document: str | None
    field: str | None
    question: str


class ReadRun(Record, frozen=True, kw_only=True):
    """One run of a file, as ``planner.importers.model.Run``; ``id`` is the importer's own."""

    id: str
    place: ReadPlace
    status: Status
    values: tuple[ReadValue, ...]
    remarks: tuple[ReadRemark, ...]
    missing: tuple[str, ...]
    asked: tuple[AskedOfRun, ...]


class FileProblem(Record, frozen=True, kw_only=True):
    """Why a file, or its rest, was not read, as ``planner.errors.Problem``."""

    code: str
    pointer: str
    expected: str
    found: str
    line: int | None = None
    column: int | None = None


class DraftFile(Record, frozen=True, kw_only=True):
    """One file and what its importer read; its id in the draft is the first 16 digits of ``sha256``.

    ``before`` is the digest of the earlier scrape of the same server that its counters were read against.
    """

    name: Text
    sha256: Digest
    bytes: Bytes
    before: Digest | None = None
    recognised: bool
    format: str = ""
    version: str = ""
    runs: tuple[ReadRun, ...] = ()
    problems: tuple[FileProblem, ...] = ()


class DraftWindow(Record, frozen=True, kw_only=True):
    """One window and the runs that were read in it. ``load_point`` is one of the contract's, None while open.

    ``load_point_by`` is who said so, where it was not read from the run's own load. ``why`` says why these
    runs stand together; it is a proposal's sentence, and goes with a person's first change.
    """

    load_point: Id | None
    load_point_by: Id | UnsetType = UNSET
    load_point_because: Prose | UnsetType = UNSET
    runs: tuple[RunId, ...] = ()
    why: str = ""


class DraftTrial(Record, frozen=True, kw_only=True):
    """One trial: its windows, and ``runs`` that belong to the whole trial (logs, topology, machine)."""

    windows: dict[Id, DraftWindow]
    runs: tuple[RunId, ...] = ()
    why: str = ""


class Answer(Record, frozen=True, kw_only=True):
    """What a person said of one field. ``by`` is a label of the person, never a name or free text.

    ``because`` stays in the draft; the document holds value and label.
    """

    value: Json
    by: Id
    because: Prose | UnsetType = UNSET


class Settlement(Record, frozen=True, kw_only=True):
    """How a person settled conflicts at a pointer or below it; exactly one of the last three is given.

    ``run`` names the source that counts, ``format`` the kind of file, ``value`` is a person's own.
    """

    by: Id
    because: Prose
    run: RunId | UnsetType = UNSET
    format: Id | UnsetType = UNSET
    value: Json | UnsetType = UNSET


class HeldDecision(Record, frozen=True, kw_only=True):
    """What a person decided about a run that its importer held."""

    use: bool
    by: Id
    because: Prose


class LeftOut(Record, frozen=True, kw_only=True):
    """A run that a person left out."""

    by: Id
    because: Prose


class Draft(Record, frozen=True, kw_only=True):
    """The whole draft.

    ``arranged`` is true once a person changed the grouping: from then on only runs without a place are proposed one.
    ``pseudonyms`` is host name -> what stands for it in the document.
    """

    schema: Literal["topogate.evidence-draft/v1"] = "topogate.evidence-draft/v1"
    contract_content_id: Digest
    revision: PositiveCount = 1
    files: dict[Id, DraftFile] = {}
    trials: dict[Id, DraftTrial] = {}
    arranged: bool = False
    answers: dict[JsonPointer, Answer] = {}
    settled: dict[JsonPointer, Settlement] = {}
    held: dict[RunId, HeldDecision] = {}
    left_out: dict[RunId, LeftOut] = {}
    pseudonyms: dict[Text, Id] = {}
