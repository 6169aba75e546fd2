"""The benchmark matrix as a document (``topogate.matrix/v1``): what to measure, how, and what is measured already.

Rules kept: everything here is said before a measurement, so nothing of it is evidence and no gate reads it; figures of
memory and traffic are hypotheses and stand in members that say so. The same contract and evidence give the same bytes.
"""

from typing import Literal

from planner.records.base import Id, Record
from planner.records.evidence import LayoutName
from planner.records.plan import Bound, Value

__all__ = [
    "MATRIX_CLAIM",
    "Answer",
    "BoundaryBytes",
    "Candidate",
    "Cell",
    "Command",
    "Compared",
    "Coverage",
    "Excluded",
    "GroupReach",
    "InjectionSteps",
    "Launched",
    "Matrix",
    "Meter",
    "PlannedEngine",
    "PlannedFleet",
    "Residency",
    "Run",
    "Seats",
    "Shared",
    "Worth",
]

MatrixClaim = Literal["PLAN_OF_MEASUREMENTS_NOT_EVIDENCE"]
MATRIX_CLAIM: MatrixClaim = "PLAN_OF_MEASUREMENTS_NOT_EVIDENCE"

Worth = Literal["baseline", "needed", "optional"]
"""The smallest topology that may fit; one whose every degree a need asks for; one that is only valid."""

Reason = Literal["divide", "layout", "launch", "memory", "kv", "map", "devices", "worlds", "budget", "listed"]
"""Why decompositions are not listed; ``planner.matrix.search`` says what each means."""

Basis = Literal["tensors", "some_tensors", "parameters", "none"]
"""How weights were counted: every tensor; those that can be; parameters over the ranks that share a copy; not at all.
All but the first are lower bounds."""

RunKind = Literal["load", "instrumented", "soak", "injection", "quality"]
CacheState = Literal["off", "cold", "warm", "undeclared"]
Brought = Literal["brought", "partly", "by_hand", "nothing_known"]
"""Whether the planned collection answers: all of it, a part, only a person's form or trace, or no tool is known."""

State = Literal["measured", "partly", "not_measured"]


class PlannedEngine(Record, frozen=True, kw_only=True):
    """The engine whose decompositions are listed. ``note`` says what follows where it is none that is known."""

    name: str
    version: str
    layout: LayoutName
    title: str
    note: str | None


class PlannedFleet(Record, frozen=True, kw_only=True):
    """Devices that are planned with: equal nodes. ``left_out`` says in words what is not planned with, and why."""

    devices: int
    nodes: tuple[str, ...]
    devices_per_node: int
    device_types: tuple[str, ...]
    memory_bytes: int
    left_out: tuple[str, ...]


class Shared(Record, frozen=True, kw_only=True):
    """What holds for every cell, in words of the contract; what it does not state says so.

    ``dataset_digest`` is that of the file with the contract's requests, where it names one.
    """

    dataset_digest: str | None
    prompt_tokens: str
    output_tokens: str
    context_tokens: int | None
    batching: str
    affinity: str
    cache: str
    quality: str
    power: str
    recovery: str
    expiry: tuple[str, ...]


class Residency(Record, frozen=True, kw_only=True):
    """A hypothesis for the rank that holds most, in bytes; None is "not known", with the names of what is missing.

    ``limit_bytes`` is the smallest device less the contract's reserve. ``sequence_bytes`` is the KV cache of one
    sequence at the contract's context; ``tokens`` and ``requests`` are what fits beside the weights, over all
    replicas. ``basis`` says how weights were counted.
    """

    limit_bytes: int
    weights_bytes: int | None
    basis: Basis
    sequence_bytes: int | None
    requests: int | None
    tokens: int | None
    missing: tuple[str, ...]
    sentence: str


class Seats(Record, frozen=True, kw_only=True):
    """The ranks of one node, in order, and their devices and NICs in the same order (no NIC: none is declared)."""

    node: str
    ranks: tuple[int, ...]
    devices: tuple[str, ...]
    nics: tuple[str, ...]


class GroupReach(Record, frozen=True, kw_only=True):
    """Groups of one kind with more than one rank: how many, of what sizes, the widest boundary that one crosses.

    ``link`` is the slowest declared link that they use, with its rate in one direction; None where none is declared.
    """

    kind: str
    role: str
    groups: int
    sizes: tuple[int, ...]
    widest: str | None
    link: str | None
    link_bytes_per_s: int | None


class BoundaryBytes(Record, frozen=True, kw_only=True):
    """A hypothesis: bytes that cross a boundary ``times`` in one step of ``phase``, or what the figure needs."""

    kind: str
    phase: str
    times: int | None
    bytes: int | None
    formula: str
    missing: tuple[str, ...]


class Compared(Record, frozen=True, kw_only=True):
    """The candidate that justifies an axis when measured too: the nearest one with less of it and no more of others."""

    axis: str
    candidate: str | None


class Command(Record, frozen=True, kw_only=True):
    """One command: its words, and the same as one line for a POSIX shell, where ``${NAME}`` comes from outside."""

    argv: tuple[str, ...]
    shell: str
    node: str | None = None


class Launched(Record, frozen=True, kw_only=True):
    """How the engine is started, one command a node in order; ``unsaid`` is what no argument expresses."""

    commands: tuple[Command, ...]
    unsaid: tuple[str, ...]


class Candidate(Record, frozen=True, kw_only=True):
    """A topology worth measuring.

    ``degrees`` are those of one engine instance, ``engine_degrees`` those that only its engine has. ``usd_per_hour`` is
    the price of ``charged_devices``. ``notices`` are what the engine accepts and a reader should know.
    """

    topology: str
    degrees: dict[str, int]
    engine_degrees: dict[str, int | bool | str]
    ranks: int
    serving_groups: int
    worth: Worth
    because: tuple[str, ...]
    compared: tuple[Compared, ...]
    seats: tuple[Seats, ...]
    residency: Residency
    groups: tuple[GroupReach, ...]
    boundaries: tuple[BoundaryBytes, ...]
    notices: tuple[str, ...]
    charged_devices: int
    usd_per_hour: Value
    launch: Launched


class Excluded(Record, frozen=True, kw_only=True):
    """Decompositions that are not listed, for one reason: how many (None: without end) and the smallest of them."""

    reason: Reason
    sentence: str
    count: int | None
    examples: tuple[str, ...]


class InjectionSteps(Record, frozen=True, kw_only=True):
    """A fault to put in: of which kind of domain, by which steps, and when recovery counts.

    ``commands`` are shell lines to run by hand; ``unsaid`` is what no command is known for.
    """

    kind: str
    domain_kind: str | None
    steps: tuple[str, ...]
    commands: tuple[str, ...]
    criterion: str
    unsaid: tuple[str, ...]


class Run(Record, frozen=True, kw_only=True):
    """One thing to run on a candidate, the same for all of them.

    ``repeats`` counted windows of ``requests`` requests, after ``warmup_requests`` that are not counted; a window
    lasts at least ``min_s``. ``seconds`` is how long all repeats take if the contract's floor is just reached (None:
    the contract gives no rate to reckon with). ``required`` says that a limit, key or entry of evidence asks for it.
    ``clients`` has the command of every load generator, ``unsaid`` what one cannot express. ``quality`` names the
    benchmark of a run for quality.
    """

    kind: RunKind
    load_point: str
    cache: CacheState
    repeats: int
    requests: int
    warmup_requests: int
    min_s: Value
    seconds: Value
    required: bool
    because: tuple[str, ...]
    clients: dict[str, Command]
    unsaid: dict[str, tuple[str, ...]]
    injection: InjectionSteps | None = None
    quality: str | None = None


class Cell(Record, frozen=True, kw_only=True):
    """A run on a candidate: its cost, and with evidence how far it is measured, by which trials, and what lacks."""

    candidate: str
    run: str
    device_hours: Value
    usd: Value
    state: State | None = None
    trials: tuple[Id, ...] = ()
    lacks: tuple[str, ...] = ()


class Answer(Record, frozen=True, kw_only=True):
    """Whether the planned collection can answer one limit: the fields it reads, and which tool brings each."""

    gate: str
    limit_id: str
    verdict: Brought
    fields: tuple[str, ...]
    tools: tuple[str, ...]
    sentence: str


class Meter(Record, frozen=True, kw_only=True):
    """Cells by state."""

    measured: int
    partly: int
    not_measured: int


class Coverage(Record, frozen=True, kw_only=True):
    """How much of the matrix evidence covers: ``advised`` counts required runs of candidates that are not optional.

    ``unmatched`` are trials whose topology is none of the candidates, each with the reason where one is known.
    """

    evidence: Bound
    advised: Meter
    all: Meter
    unmatched: dict[Id, str]


class Matrix(Record, frozen=True, kw_only=True):
    """The whole matrix. Candidates by id, the smallest first; runs by id, in the order in which they are made."""

    schema: Literal["topogate.matrix/v1"]
    claim: MatrixClaim
    planner_version: str
    slot: str
    contract: Bound
    engine: PlannedEngine
    fleet: PlannedFleet
    shared: Shared
    considered: int
    candidates: dict[str, Candidate]
    excluded: tuple[Excluded, ...]
    runs: dict[str, Run]
    cells: tuple[Cell, ...]
    answers: tuple[Answer, ...]
    client: str
    variables: dict[str, str]
    device_hours: Value
    usd: Value
    notes: tuple[str, ...]
    coverage: Coverage | None
