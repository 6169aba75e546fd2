"""Bytes at every boundary of a topology: what was measured beside what the contract lets one expect. Pure.

Rules kept: an estimate is called one and no gate reads it; a measurement is compared only with an estimate of the same
boundary and phase, one message with one message; a boundary without a measurement says so, and a measurement without a
boundary is shown all the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.hypotheses.expectation import Boundary, expectation
from planner.hypotheses.facts import MissingFactsError, SplitRefusedError
from planner.layouts import LayoutRefusedError
from planner.layouts.base import ROLES
from planner.numbers import exact
from planner.readings import WindowView, number
from planner.records.base import UnsetType
from planner.records.sections import Collective, Handoff
from planner.view import TrialView
from reviews.web.byte_text import bytes_text, signed_bytes
from reviews.web.csv_text import Value, plain
from reviews.web.formats import count, percent
from reviews.web.formats import number as number_text
from reviews.web.stacked import scaled

NAMES: Mapping[str, tuple[str, str]] = {
    "tensor": ("Tensor", "tensor"),
    "pipeline": ("Pipeline", "pipeline"),
    "expert_dispatch": ("Expert dispatch", "expert"),
    "expert_combine": ("Expert combine", "expert"),
    "handoff": ("Hand-off to decode", "context"),
}
"""Name and kind of group of every boundary; the kind decides hue and dash."""
TIMES: Mapping[str, tuple[str, str]] = {
    "tensor": ("all-reduce of a step", "all-reduces of a step"),
    "pipeline": ("boundary between stages", "boundaries between stages"),
    "expert_dispatch": ("layer with experts", "layers with experts"),
    "expert_combine": ("layer with experts", "layers with experts"),
    "handoff": ("request", "requests"),
}
BY_OPERATION: Mapping[str, str] = {
    "all_reduce": "tensor",
    "reduce_scatter": "tensor",
    "all_gather": "tensor",
    "send_recv": "pipeline",
    "all_to_all": "expert",
}
"""What an operation is taken for where it does not name its groups."""
ORDER = (*NAMES, "expert", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A recorded operation: the bytes of one message, and what else it says as pairs of name and text."""

    id: str
    kind: str
    phase: str
    message: Fraction | None
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryRow:
    """One boundary in one phase. Widths are lengths of bars on the row's own scale, None where there is no figure."""

    name: str
    role: str
    phase: str
    measured_id: str
    estimate: str
    measured: str
    difference: str
    share: str
    times: str
    per_step: str
    formula: str
    missing: tuple[str, ...]
    refused: str
    facts: tuple[tuple[str, str], ...]
    estimate_width: int | None
    measured_width: int | None
    values: tuple[int | None, int | None, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """All boundaries of a trial in one window; ``refusal`` says why nothing is expected."""

    rows: tuple[BoundaryRow, ...]
    missing: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def recorded(self) -> tuple[BoundaryRow, ...]:
        """The boundaries of which the window records something."""
        return tuple(row for row in self.rows if row.measured_id)

    @property
    def only_expected(self) -> tuple[BoundaryRow, ...]:
        """The boundaries of which it records nothing."""
        return tuple(row for row in self.rows if not row.measured_id)


def boundaries_of(view: TrialView, window: WindowView) -> Boundaries:
    """Lay what was measured in a window beside what is expected."""
    found, refusal, missing = expected_of(view, window.record.load_point)
    measured = list(measured_of(window))
    rows: list[tuple[tuple[int, str, str], BoundaryRow]] = []
    for boundary in found:
        fits = [row for row in measured if row.phase == boundary.phase and fits_kind(row.kind, boundary.kind)]
        matches: list[Measured | None] = [*fits] or [None]
        for match in matches:
            row = boundary_row(boundary.kind, boundary.phase, boundary, match)
            rows.append((place_of(boundary.kind, boundary.phase, match), row))
    shown = {row.measured_id for _, row in rows}
    for match in measured:
        if match.id not in shown:
            row = boundary_row(match.kind, match.phase, None, match)
            rows.append((place_of(match.kind, match.phase, match), row))
    ordered = tuple(row for _, row in sorted(rows, key=lambda item: item[0]))
    fields = (field for boundary in found for field in boundary.payload.missing)
    return Boundaries(
        rows=ordered,
        missing=tuple(dict.fromkeys((*missing, *fields))),
        refusal=refusal,
    )


def expected_of(view: TrialView, load_point: str) -> tuple[tuple[Boundary, ...], str, tuple[str, ...]]:
    """Return the expected boundaries, equal ones once, or why there are none, or the fields that are missing."""
    try:
        found = expectation(view.contract.identity, view.trial.topology, load_point).boundaries
    except (LayoutRefusedError, SplitRefusedError) as refused:
        return (), refused.message, ()
    except MissingFactsError as missing:
        return (), "", tuple(f"/identity/model/{name}" for name in missing.names)
    once = {(row.kind, row.phase, row.times, row.payload.bytes, row.payload.refused): row for row in reversed(found)}
    return tuple(reversed(once.values())), "", ()


def measured_of(window: WindowView) -> Iterator[Measured]:
    """Yield every operation and the hand-off that a window records."""
    recorded = window.record.collectives
    for name, found in sorted({} if isinstance(recorded, UnsetType) else recorded.items()):
        yield Measured(
            id=name,
            kind=kind_of(name, found),
            phase="mixed" if isinstance(found.phase, UnsetType) else found.phase,
            message=number(found.message_bytes),
            facts=tuple(collective_facts(found)),
        )
    if not isinstance(window.record.handoff, UnsetType):
        yield handoff_measured(window.record.handoff)


def kind_of(name: str, found: Collective) -> str:
    """Return the boundary that an operation crosses: by the kind of its groups, else by the operation."""
    if isinstance(found.group_kind, UnsetType):
        role = BY_OPERATION.get(found.operation, "other")
    else:
        role = ROLES.get(found.group_kind, "other")
    if role == "expert":
        return next((f"expert_{way}" for way in ("dispatch", "combine") if way in name), "expert")
    return role if role in ("tensor", "pipeline") else "other"


def fits_kind(measured: str, expected: str) -> bool:
    """Say whether a measurement is of a boundary; one that does not say its way is of both ways alike."""
    return measured == expected or (measured == "expert" and expected.startswith("expert"))


def collective_facts(found: Collective) -> Iterator[tuple[str, str]]:
    """Write what an operation records beside its message."""
    yield "Operation", found.operation.replace("_", "-")
    if not isinstance(found.group_kind, UnsetType):
        yield "Groups", found.group_kind
    times = None if isinstance(found.time_ms, UnsetType) else found.time_ms
    figures = (
        ("Operations", number(found.count), lambda value: f"{int(value):,}"),
        ("In all", number(found.bytes_total), bytes_text),
        ("Time, mean", number(times.mean) if times else None, ms_text),
        ("Time, p99", number(times.p99) if times else None, ms_text),
        ("Bus bandwidth", number(found.bus_bytes_per_s), quantity_of),
        ("Wrong results", number(found.wrong) or None, lambda value: f"{int(value):,}"),
    )
    yield from ((name, write(value)) for name, value, write in figures if value is not None)
    slowest = slowest_rank(found)
    if slowest:
        yield "Slowest rank", f"rank {slowest[1]}, {quantity_of(slowest[0])}"


def ms_text(value: Fraction) -> str:
    """Write a time."""
    return f"{number_text(value, 'ms')} ms"


def quantity_of(rate: Fraction) -> str:
    """Write a rate."""
    return f"{number_text(rate, 'bytes/s')} GB/s"


def slowest_rank(found: Collective) -> tuple[Fraction, int] | None:
    """Return the lowest bandwidth of a rank, with the first rank that has it."""
    if isinstance(found.bus_bytes_per_s_by_rank, UnsetType):
        return None
    values = [(exact(value), rank) for rank, value in enumerate(found.bus_bytes_per_s_by_rank) if value is not None]
    return min(values, default=None)


def handoff_measured(found: Handoff) -> Measured:
    """Read the hand-off: bytes of one request where transfers and their parts are counted."""
    total, transfers, parts = number(found.bytes_total), number(found.transfers), number(found.transfers_per_request)
    requests = transfers
    if found.counted_per == "rank":
        requests = transfers / parts if transfers is not None and parts else None
    facts: list[tuple[str, str]] = []
    if transfers is not None:
        facts.append(("Transfers", f"{int(transfers):,}"))
    if total is not None:
        facts.append(("In all", bytes_text(total)))
    route, idle = number(found.route_bytes_per_s), number(found.decode_idle_share)
    if route is not None:
        facts.append(("Route, measured", quantity_of(route)))
    if idle is not None:
        facts.append(("Decode pool idle", number_text(idle, "share")))
    return Measured(
        id="handoff",
        kind="handoff",
        phase="prefill",
        message=total / requests if total is not None and requests else None,
        facts=tuple(facts),
    )


def place_of(kind: str, phase: str, match: Measured | None) -> tuple[int, str, str]:
    """Return where a row stands: by boundary, then phase, then id."""
    return ORDER.index(kind), phase, match.id if match else ""


def boundary_row(kind: str, phase: str, boundary: Boundary | None, match: Measured | None) -> BoundaryRow:
    """Make one row of an expected boundary, a measurement, or both."""
    name, role = NAMES.get(kind, ("Expert" if kind == "expert" else "Other", "expert" if kind == "expert" else "data"))
    payload = None if boundary is None else boundary.payload.bytes
    message = None if match is None else match.message
    difference = None if payload is None or message is None else message - payload
    scale = max(payload or 0, message or 0)
    per_step = payload * boundary.times if boundary and payload is not None and boundary.times else None
    return BoundaryRow(
        name=name,
        role=role,
        phase=phase,
        measured_id=match.id if match else "",
        estimate="" if payload is None else bytes_text(payload),
        measured="" if message is None else bytes_text(message),
        difference="" if difference is None else signed_bytes(difference),
        share=percent(difference / payload) if difference is not None and payload else "",
        times="" if boundary is None or not boundary.times else count(boundary.times, *TIMES[boundary.kind]),
        per_step="" if per_step is None else bytes_text(per_step),
        formula="" if boundary is None else boundary.payload.formula,
        missing=() if boundary is None else boundary.payload.missing,
        refused="" if boundary is None else boundary.payload.refused,
        facts=match.facts if match else (),
        estimate_width=None if payload is None else scaled(payload, scale),
        measured_width=None if message is None else scaled(message, scale),
        values=(payload, boundary.times if boundary else None, plain(message)),
    )


HEADER = (
    "boundary",
    "phase",
    "recorded_as",
    "estimated_message_bytes",
    "times_per_step",
    "measured_message_bytes",
    "formula",
)


def download_rows(rows: Sequence[BoundaryRow]) -> list[list[Value]]:
    """Return every row in the order of ``HEADER``."""
    return [[row.name, row.phase, row.measured_id, *row.values, row.formula] for row in rows]
