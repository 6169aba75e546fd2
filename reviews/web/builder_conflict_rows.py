"""Rows of conflicts in the evidence builder: what files say of one field, or of many fields alike, side by side. Pure.

Rules kept: every candidate names the file and the place that it came from; nothing is chosen beforehand. Where the same
runs differ in several fields of one section, such as those of a file from another machine, they are settled at once;
``each`` shows every field by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.builder import DraftState
from planner.builder.pointing import variants
from planner.builder.state import Candidate, Conflict
from planner.pointers import joined, steps
from reviews.web.builder_rows import TITLES
from reviews.web.builder_texts import field_title, place_text, scope_text, shown_value
from reviews.web.formats import count

__all__ = ["ConflictRow", "ConflictsPage", "conflict_rows"]

CONFLICTS_A_PAGE = 15
LEAST_TOGETHER = 3
"""Fields from which on the same sources are settled at once."""
FIELDS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One source of a value that others contradict; ``fields`` are what it says of each field, where there are many."""

    run: str
    file: str
    file_id: str
    format: str
    value: str
    raw: str
    where: str
    fields: tuple[tuple[str, str], ...] = ()
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRow:
    """Sources that say different things, side by side; ``takes_own`` where a value of one's own may be given."""

    id: str
    field: str
    title: str
    unit: str
    candidates: tuple[CandidateRow, ...]
    scopes: tuple[tuple[str, str], ...]
    takes_own: bool
    is_settled: bool
    settled_at: str
    because: str


@dataclass(frozen=True, slots=True)
class ConflictsPage:
    """One page of conflicts; ``together`` says that some row stands for several fields."""

    rows: tuple[ConflictRow, ...]
    page: int
    pages: int
    together: bool


def conflict_rows(
    state: DraftState,
    settled: Mapping[str, str],
    typed: Mapping[str, str],
    page: int = 1,
    *,
    each: bool = False,
) -> ConflictsPage:
    """Cut one page of conflicts, the open ones first. ``settled`` is pointer -> reason; ``typed`` a reason refused."""
    found = [[conflict] for conflict in state.conflicts] if each else list(_together(state.conflicts))
    found.sort(key=lambda same: same[0].settled)
    pages = max(1, -(-len(found) // CONFLICTS_A_PAGE))
    page = min(max(page, 1), pages)
    shown = found[(page - 1) * CONFLICTS_A_PAGE : page * CONFLICTS_A_PAGE]
    rows = tuple(_row(f"conflict-{number}", same, settled, typed) for number, same in enumerate(shown))
    return ConflictsPage(rows, page, pages, any(len(same) > 1 for same in found))


def _together(conflicts: Sequence[Conflict]) -> Iterator[list[Conflict]]:
    """Yield conflicts, those of one section between the same runs together, where they are several."""
    alike: dict[tuple[object, ...], list[Conflict]] = {}
    for conflict in conflicts:
        runs = tuple(candidate.run for candidate in conflict.candidates)
        alike.setdefault((_section(conflict.field), runs, conflict.settled), []).append(conflict)
    for same in alike.values():
        if len(same) < LEAST_TOGETHER:
            yield from ([conflict] for conflict in same)
        else:
            yield same


def _section(field: str) -> str:
    """Return what a field stands in: a section of an identity, or a window."""
    path = steps(field)
    depth = 3 if path[0] == "identities" else 4 if path[2:3] == ("windows",) else len(path)
    return joined(path[:depth])


def _row(id_: str, same: Sequence[Conflict], settled: Mapping[str, str], typed: Mapping[str, str]) -> ConflictRow:
    first, is_one = same[0], len(same) == 1
    at = first.field if is_one else _section(first.field)
    offered = {pointer for pointer in variants(at) if all(pointer in conflict.settle_at for conflict in same)}
    settled_at = next((pointer for pointer in first.settle_at if pointer in settled), "")
    title = field_title(at)
    return ConflictRow(
        id=id_,
        field=at,
        title=title if is_one else f"{title}, {count(len(same), 'field')}",
        unit=first.unit if is_one else "",
        candidates=tuple(_one(one) if is_one else _many(same, place, at) for place, one in enumerate(first.candidates)),
        scopes=tuple((pointer, scope_text(pointer)) for pointer in variants(at) if pointer in offered),
        takes_own=is_one,
        is_settled=first.settled,
        settled_at=settled_at,
        because=typed.get(at) or settled.get(settled_at, ""),
    )


def _one(one: Candidate) -> CandidateRow:
    return CandidateRow(
        run=one.run,
        file=one.file,
        file_id=one.run.partition(".")[0],
        format=TITLES.get(one.format, one.format),
        value=shown_value(one.value),
        raw=f"{one.raw} {one.raw_unit}".strip(),
        where=place_text(one.place),
    )


def _many(same: Sequence[Conflict], place: int, at: str) -> CandidateRow:
    """Make the row of one run for several fields: what it says of the first of them."""
    one = same[0].candidates[place]
    depth = len(steps(at))
    said = [
        (" ".join(steps(conflict.field)[depth:]).replace("_", " "), shown_value(conflict.candidates[place].value))
        for conflict in same[:FIELDS_SHOWN]
    ]
    rest = len(same) - len(said)
    return CandidateRow(
        run=one.run,
        file=one.file,
        file_id=one.run.partition(".")[0],
        format=TITLES.get(one.format, one.format),
        value="",
        raw="",
        where="",
        fields=tuple(said),
        more=f"and {count(rest, 'more field')}" if rest else "",
    )
