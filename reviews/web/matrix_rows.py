"""The matrix of candidates and gates as rows of text, in both layouts. Pure: a plan and an address in, rows out.

Rules kept: order follows from the plan alone (eligible in selection order, then inconclusive, then rejected by the
number of failing gates; rows that fail first, then unknown ones, then those that everybody passes), every failing and
unknown outcome is there, and a gate without a limit is listed, never hidden.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.numbers import exact
from planner.records.plan import Candidate, LimitOutcome, Outcome, Plan
from planner.whole_numbers import whole_number
from reviews.web.cells import ALWAYS, Cell, CellKey, Detail, cell_of, detail_of, limit_outcome
from reviews.web.document_links import DocumentLinks
from reviews.web.formats import KEY_UNITS, count, key_title, limit_text, percent, quantity
from reviews.web.links import Query
from reviews.web.names import Names, candidate_names
from reviews.web.pager import Pager, pager
from reviews.web.words import Word, state_word

GATES_AS_ROWS_UP_TO = 8
PAGE_SIZE = 25
ORDER_OF_STATES = {"ELIGIBLE": 0, "INCONCLUSIVE": 1, "REJECTED": 2}
GROUPS = {
    "ELIGIBLE": "Eligible, in selection order",
    "INCONCLUSIVE": "Inconclusive: evidence missing, nothing fails",
    "REJECTED": "Rejected, fewest failing gates first",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A candidate's heading: name, state, and short lines; ``trial`` stands below a name that does not hold it."""

    trial: str
    name: str
    word: Word
    is_selected: bool
    lines: tuple[str, ...]
    first_key: str
    href: str

    @property
    def other_name(self) -> str:
        """The trial, where the name does not end in it."""
        return "" if self.name.endswith(f"@{self.trial}") else self.trial


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One limit of one gate over all candidates shown; ``detail`` is the opened cell of this row."""

    gate: str
    limit_id: str
    title: str
    limit: str
    href: str
    cells: tuple[Cell, ...]
    failing: int
    unknown: int
    detail: Detail | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One candidate over all rows of gates, for the layout with candidates as rows."""

    head: Head
    group: str
    cells: tuple[Cell, ...]
    detail: Detail | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The whole matrix. ``blocking`` rows fail or are unknown for a candidate; ``passing`` rows for none."""

    has_gates_as_rows: bool
    heads: tuple[Head, ...]
    blocking: tuple[GateRow, ...]
    passing: tuple[GateRow, ...]
    is_passing_open: bool
    passing_href: str
    tightest: str
    not_declared: tuple[str, ...]
    not_applicable: tuple[str, ...]
    candidates: tuple[CandidateRow, ...]
    page: Pager
    summary: str
    gates_href: str
    candidates_href: str
    can_show_gates: bool
    columns: int
    first_key_name: str
    steps: tuple[int, ...]

    @property
    def rows(self) -> tuple[GateRow, ...]:
        """All rows of gates, blocking ones first."""
        return self.blocking + self.passing


Waived = Mapping[tuple[str, str], str]
NOTHING_WAIVED: Waived = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What every part of the matrix needs: plan, names, order, address, titles, (trial, gate) -> its waiver."""

    plan: Plan
    names: Names
    order: tuple[str, ...]
    query: Query
    titles: Mapping[str, str]
    map_href: str
    documents: DocumentLinks
    waived: Waived

    @property
    def selected(self) -> str:
        """The selected trial's id, or an empty text."""
        return self.plan.selected.trial if self.plan.selected else ""


def candidate_order(plan: Plan) -> tuple[str, ...]:
    """Order the trials: eligible as selected, then inconclusive by unknown gates, then rejected by failing gates."""
    rank = {row.trial: place for place, row in enumerate(plan.eligible)}

    def key(trial: str) -> tuple[int, int, int, str]:
        candidate = plan.candidates[trial]
        return (
            ORDER_OF_STATES[candidate.state],
            rank.get(trial, len(candidate.failing)),
            len(candidate.unknown),
            trial,
        )

    return tuple(sorted(plan.candidates, key=key))


def first_key_text(plan: Plan, candidate: Candidate) -> str:
    """Write the candidate's value of the first key of the selection order."""
    if not plan.order or candidate.keys.get(plan.order[0].label) is None:
        return ""
    return quantity(candidate.keys[plan.order[0].label], KEY_UNITS.get(plan.order[0].key))


def head_of_trial(plan: Plan, trial: str, names: Names, map_href: str) -> Head:
    """Make the heading of a candidate."""
    candidate = plan.candidates[trial]
    is_selected = plan.selected is not None and trial == plan.selected.trial
    place = next((i for i, row in enumerate(plan.eligible, 1) if row.trial == trial), 0)
    if place:
        line = f"{place} of {len(plan.eligible)} eligible"
    elif candidate.failing:
        line = f"fails {count(len(candidate.failing), 'gate')}"
    else:
        line = f"{count(len(candidate.unknown), 'gate')} unknown, 0 fail"
    return Head(
        trial=trial,
        name=names[trial],
        word=state_word(candidate.state, selected=is_selected),
        is_selected=is_selected,
        lines=tuple(part for part in (line, first_key_text(plan, candidate)) if part),
        first_key=first_key_text(plan, candidate),
        href=f"{map_href}{'&' if '?' in map_href else '?'}trial={trial}",
    )


def row_keys(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return (gate, limit) of every row, in the plan's order of gates."""
    keys: dict[tuple[str, str], None] = {}
    for gate in plan.gates:
        for candidate in plan.candidates.values():
            outcome = candidate.gates.get(gate)
            for limit in outcome.limits if outcome else ():
                keys[(gate, limit)] = None
    return tuple(keys)


def outcomes_of(plan: Plan, key: tuple[str, str], order: tuple[str, ...]) -> tuple[LimitOutcome, ...]:
    """Return the outcome of every candidate for one row."""
    return tuple(limit_outcome(plan.candidates[trial].gates.get(key[0]), key[1]) for trial in order)


def common_limit(outcomes: tuple[LimitOutcome, ...]) -> str:
    """Write the limit of a row; where it differs between candidates (devices of several sizes) say so."""
    limits = {(o.comparator, o.limit, o.unit) for o in outcomes if o.limit is not None}
    texts = {limit_text(*limit) for limit in limits}
    if len(texts) > 1:
        return "differs by device"
    return next(iter(texts), "")


def gate_row(context: Context, key: tuple[str, str], shown: tuple[str, ...], y: int) -> GateRow:
    """Make the row of one limit over the candidates shown."""
    gate, limit = key
    everyone = outcomes_of(context.plan, key, context.order)
    opened = context.query.get("cell")
    cells, detail = [], None
    for x, (trial, outcome) in enumerate(zip(shown, outcomes_of(context.plan, key, shown), strict=True)):
        cell_key = CellKey(trial=trial, gate=gate, limit=limit)
        is_open = opened == str(cell_key)
        href = context.query.link("cell", cell=None if is_open else str(cell_key))
        is_waived = (trial, gate) in context.waived
        cells.append(cell_of(cell_key, outcome, href=href, is_open=is_open, is_waived=is_waived, x=x, y=y))
        if is_open:
            detail = open_cell(context, cell_key)
    return GateRow(
        gate=gate,
        limit_id="" if limit == ALWAYS else limit,
        title=context.titles.get(gate, ""),
        limit=common_limit(everyone),
        href=f"#gate-{gate}",
        cells=tuple(cells),
        failing=sum(o.outcome == "FAIL" for o in everyone),
        unknown=sum(o.outcome == "UNKNOWN" for o in everyone),
        detail=detail,
    )


def open_cell(context: Context, key: CellKey) -> Detail | None:
    """Open one cell below its row."""
    return detail_of(
        key,
        context.plan.candidates[key.trial],
        name=context.names[key.trial],
        title=context.titles.get(key.gate, ""),
        close_href=context.query.link("matrix", cell=None),
        map_href=f"{context.map_href}?trial={key.trial}",
        documents=context.documents,
        waiver=context.waived.get((key.trial, key.gate), ""),
    )


def gates_with(plan: Plan, outcome: Outcome) -> tuple[str, ...]:
    """Name the gates that have this outcome for every candidate."""
    return tuple(
        gate
        for gate in plan.gates
        if plan.candidates
        and all(c.gates[gate].outcome == outcome for c in plan.candidates.values() if gate in c.gates)
    )


def tightest_text(context: Context, rows: tuple[tuple[str, str], ...]) -> str:
    """Name the three smallest margins of the selected candidate among the rows that everybody passes."""
    if not context.selected:
        return ""
    shares = []
    for key in rows:
        share = outcomes_of(context.plan, key, (context.selected,))[0].margin_share
        if share is not None and not isinstance(share, str):
            shares.append((exact(share), " ".join(part for part in key if part != ALWAYS), percent(share)))
    return ", ".join(f"{name} {text}" for _, name, text in sorted(shares)[:3])


def page_number(query: Query, order: tuple[str, ...], size: int) -> int:
    """Return the page that is shown: that of the opened cell, else the asked one, else the first."""
    opened = query.get("cell").partition("~")[0]
    if opened in order:
        return order.index(opened) // size + 1
    asked = whole_number(query.get("page")) or 1
    return asked if asked <= -(-len(order) // size) else 1


def page_of(context: Context, number: int, size: int) -> tuple[tuple[str, ...], Pager]:
    """Return the trials on a page and the words around it."""
    start = (number - 1) * size
    around = pager(
        start, len(context.order), size, "candidate", lambda at: context.query.link("matrix", page=at, cell=None)
    )
    return context.order[start : start + size], around


def candidate_rows(context: Context, rows: tuple[GateRow, ...], heads: tuple[Head, ...]) -> tuple[CandidateRow, ...]:
    """Turn the rows of gates around, and name the first row of every group."""
    turned, last = [], ""
    states = [candidate.state for candidate in context.plan.candidates.values()]
    for y, head in enumerate(heads):
        state = context.plan.candidates[head.trial].state
        cells = tuple(replace(row.cells[y], x=x, y=y) for x, row in enumerate(rows))
        detail = next((row.detail for row in rows if row.detail and row.cells[y].is_open), None)
        group = "" if state == last else f"{GROUPS[state]} · {states.count(state)}"
        turned.append(CandidateRow(head=head, group=group, cells=cells, detail=detail))
        last = state
    return tuple(turned)


def summary_of(plan: Plan) -> str:
    """Count the candidates by state."""
    states = [candidate.state for candidate in plan.candidates.values()]
    parts = [f"{states.count('ELIGIBLE')} eligible"]
    parts += [f"{states.count('INCONCLUSIVE')} inconclusive"] if "INCONCLUSIVE" in states else []
    parts += [f"{states.count('REJECTED')} rejected"] if "REJECTED" in states else []
    return f"{count(len(states), 'candidate')}: {', '.join(parts)}"


def matrix(
    plan: Plan,
    *,
    query: Query,
    titles: Mapping[str, str],
    map_href: str,
    documents: DocumentLinks,
    waived: Waived = NOTHING_WAIVED,
) -> Matrix:
    """Make the matrix of a plan; a waived gate says so and keeps its outcome.

    ``query`` may hold ``rows`` (gates or candidates), ``page``, ``cell`` (``trial~gate~limit``) and ``passing``.
    ``titles`` are the gates' titles by id. Unknown values of the query are ignored.
    """
    names, order = candidate_names(plan), candidate_order(plan)
    number = page_number(query, order, PAGE_SIZE)
    query = query.changed(page=number if number > 1 else None)
    context = Context(
        plan=plan,
        names=names,
        order=order,
        query=query,
        titles=titles,
        map_href=map_href,
        documents=documents,
        waived=waived,
    )
    can_show_gates = len(context.order) <= GATES_AS_ROWS_UP_TO
    as_gates = can_show_gates and query.get("rows") != "candidates"
    shown, page = page_of(context, number, PAGE_SIZE)
    heads = tuple(head_of_trial(plan, trial, names, map_href) for trial in shown)
    absent = gates_with(plan, "NOT_DECLARED"), gates_with(plan, "NOT_APPLICABLE")
    keys = tuple(key for key in row_keys(plan) if key[0] not in absent[1])
    bad = {key: rank_of(outcomes_of(plan, key, context.order)) for key in keys}
    ordered = sorted((key for key in keys if bad[key] < 2), key=lambda key: bad[key])
    good = tuple(key for key in keys if bad[key] == 2)
    blocking = tuple(gate_row(context, key, shown, y) for y, key in enumerate(ordered))
    passing = tuple(gate_row(context, key, shown, y) for y, key in enumerate(good, len(blocking)))
    opened_passing = any(row.detail for row in passing)
    return Matrix(
        has_gates_as_rows=as_gates,
        heads=heads,
        blocking=blocking,
        passing=passing,
        is_passing_open=opened_passing or query.get("passing") == "1" or not blocking,
        passing_href=query.link("matrix", passing=None if query.get("passing") else 1, cell=None),
        tightest=tightest_text(context, good),
        not_declared=absent[0],
        not_applicable=absent[1],
        candidates=() if as_gates else candidate_rows(context, blocking + passing, heads),
        page=page,
        summary=summary_of(plan),
        gates_href=query.link("matrix", rows=None, cell=None, page=None),
        candidates_href=query.link("matrix", rows="candidates", cell=None, page=None),
        can_show_gates=can_show_gates,
        columns=len(heads) + 2 if as_gates else len(keys) + 2,
        first_key_name=key_title(plan.order[0].key) if plan.order else "",
        steps=() if as_gates else steps_of(blocking + passing),
    )


def steps_of(rows: tuple[GateRow, ...]) -> tuple[int, ...]:
    """Return the bar lengths that occur, each to be drawn once."""
    bars = (cell.bar for row in rows for cell in row.cells if cell.word.css == "pass")
    return tuple(sorted({shape.step for shape in bars if shape}))


def rank_of(outcomes: tuple[LimitOutcome, ...]) -> int:
    """Rank a row: 0 fails for somebody, 1 is unknown for somebody, 2 neither."""
    found = {outcome.outcome for outcome in outcomes}
    return 0 if "FAIL" in found else 1 if "UNKNOWN" in found else 2
