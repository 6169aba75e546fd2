"""What a page, the API or the command line shows of a draft: everything that is open, and what the gates still lack.

All records here are read-only answers of ``planner.builder.state_of``; none of them is stored in a draft.
"""

from typing import Any, Literal

from planner.builder.records import ReadPlace, ReadValue, RunId, Scalar, Standing
from planner.records.base import Digest, Record

__all__ = [
    "Assembly",
    "Breach",
    "Candidate",
    "Conflict",
    "Difference",
    "DraftState",
    "GateCoverage",
    "HeldRun",
    "Lack",
    "OpenPoint",
    "Prediction",
    "Proposal",
    "Question",
    "RequiredCoverage",
    "RunNote",
    "TrialCoverage",
    "Unplaced",
]

Json = Any


class Candidate(Record, frozen=True, kw_only=True):
    """One source's value of a field: where it stands in which run of which file. ``raw`` is as the file writes it."""

    value: Json
    run: RunId
    file: str
    format: str
    place: ReadPlace
    raw: Scalar
    raw_unit: str
    standing: Standing


class Conflict(Record, frozen=True, kw_only=True):
    """Sources that say different things of one field. ``settle_at`` are pointers under which it may be settled.

    The first is the field itself; the others are what it stands in, and every trial or window where the same kinds of
    files differ. Pointers with ``*`` are there only where kinds of files tell the sources apart.
    """

    field: str
    unit: str
    candidates: tuple[Candidate, ...]
    settle_at: tuple[str, ...]
    settled: bool


class Proposal(Record, frozen=True, kw_only=True):
    """A pre-filled answer that only a person's confirmation makes one; ``sentence`` says where it comes from."""

    value: Json
    sentence: str
    run: RunId | None = None
    place: ReadPlace | None = None


QuestionKind = Literal[
    "text", "digest", "count", "number", "switch", "time", "choice", "instances", "rank_map", "names", "json"
]
"""How an answer looks: ``switch`` true or false; ``choice`` one of ``choices``; ``instances`` a list of objects with
tp, pp, ep, dp, world_size and the like; ``rank_map`` a list of {rank, node, device, nic}; ``names`` an object from
every one of ``rows`` to one of ``choices``; ``json`` any value of the contract's own type."""


class Question(Record, frozen=True, kw_only=True):
    """One thing that a person has to say, or may.

    ``field`` is where the answer goes, in the narrowest form; ``answer_at`` are the pointers under which it may be
    given, from that to the widest. ``answered`` names the one that counts now. ``group`` bundles questions on a page:
    ``provenance``, ``trial``, ``window``, ``model``, ``precision``, ``workload``, ``stack``, ``hardware``,
    ``telemetry``, ``asked``. ``needed`` questions keep the document from being made; of the others, ``gates`` are the
    titles of the gates that are UNKNOWN without the answer.
    """

    field: str
    answer_at: tuple[str, ...]
    group: str
    trial: str | None
    window: str | None
    kind: QuestionKind
    question: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    needed: bool = True
    gates: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    answered: str | None = None
    answer: Json = None


class HeldRun(Record, frozen=True, kw_only=True):
    """A run that its importer held, with the reasons; ``decided`` is None while a person has not said."""

    run: RunId
    file: str
    reasons: tuple[str, ...]
    decided: bool | None


class RunNote(Record, frozen=True, kw_only=True):
    """A run and a sentence about it: why it is not used, or that an earlier file holds it."""

    run: RunId
    file: str
    sentence: str


class Unplaced(Record, frozen=True, kw_only=True):
    """Values of one run that have a field in the document but no place, by their names, and why."""

    trial: str
    run: RunId
    file: str
    names: tuple[str, ...]
    sentence: str


class Prediction(Record, frozen=True, kw_only=True):
    """A value that a model predicted, to be shown beside measurements; it fills no field."""

    run: RunId
    file: str
    value: ReadValue


class Difference(Record, frozen=True, kw_only=True):
    """A leaf of what ran that is not the contract's; ``spelling`` where only case and separators differ."""

    trial: str
    field: str
    expected: Json
    found: Json
    spelling: bool


class Breach(Record, frozen=True, kw_only=True):
    """An identity of consistency of one window: does it hold, and what does not fit."""

    trial: str
    window: str
    id: str
    holds: bool
    fields: tuple[str, ...]
    sentence: str


class Lack(Record, frozen=True, kw_only=True):
    """A field that a gate misses: ``brought_by`` names kinds of files that hold it, ``asked`` that a person says it."""

    field: str
    brought_by: tuple[str, ...]
    asked: bool


class GateCoverage(Record, frozen=True, kw_only=True):
    """One gate that speaks under the contract, for one trial.

    ``state``: ``answered`` (PASS, FAIL or NOT_APPLICABLE, whichever: see the plan), ``waits`` (its own readings are
    there, but another gate's gap makes them unknown), ``lacks`` (its own readings are missing). ``sentences`` are the
    planner's, of the limits that are UNKNOWN.
    """

    gate: str
    family: str
    title: str
    state: Literal["answered", "waits", "lacks"]
    sentences: tuple[str, ...]
    lacks: tuple[Lack, ...]


class RequiredCoverage(Record, frozen=True, kw_only=True):
    """One entry of ``evidence_required`` for one trial."""

    id: str
    metric: str
    level: Literal["required", "advisory"]
    lacks: tuple[Lack, ...]


class TrialCoverage(Record, frozen=True, kw_only=True):
    """What one trial answers. ``judged`` is false while it lacks what no judgement does without (``problem``)."""

    trial: str
    topology: str
    judged: bool
    problem: str
    answered: int
    declared: int
    gates: tuple[GateCoverage, ...]
    required: tuple[RequiredCoverage, ...]


class OpenPoint(Record, frozen=True, kw_only=True):
    """One thing that keeps the document from being made. ``code`` is stable (``builder/...`` or of intake)."""

    code: str
    field: str
    sentence: str


class Assembly(Record, frozen=True, kw_only=True):
    """The document, or why there is none: exactly one of ``document`` and ``open`` is empty.

    ``document`` are the canonical bytes of an evidence document that strict intake accepted for this contract.
    ``files`` are the ids of the files that it names as sources.
    """

    document: bytes
    content_id: Digest | None
    file_sha256: Digest | None
    files: tuple[str, ...]
    open: tuple[OpenPoint, ...]


class DraftState(Record, frozen=True, kw_only=True):
    """Everything about a draft at once.

    ``unused`` are runs in no trial, ``repeated`` runs that stand twice, ``idle`` pointers of answers and settlements
    whose trial or window is not there any more.
    """

    complete: bool
    questions: tuple[Question, ...]
    conflicts: tuple[Conflict, ...]
    held: tuple[HeldRun, ...]
    refused: tuple[RunNote, ...]
    unused: tuple[RunNote, ...]
    repeated: tuple[RunNote, ...]
    idle: tuple[str, ...]
    unplaced: tuple[Unplaced, ...]
    predictions: tuple[Prediction, ...]
    differences: tuple[Difference, ...]
    checks: tuple[Breach, ...]
    coverage: tuple[TrialCoverage, ...]
    open: tuple[OpenPoint, ...]
