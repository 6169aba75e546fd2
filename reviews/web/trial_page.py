"""What the pages of one trial share: what the address asks for, what a gate said of it, tables as files."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from planner.records.plan import Plan
from planner.view import TrialView
from reviews.selectors.maps import MapSource, map_source
from reviews.web.cells import CellKey
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.frame import PersonRequest, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.map_page import candidate_word, trial_options
from reviews.web.rank_pages import FIRST
from reviews.web.words import OUTCOMES, Word

KEPT = ("revision", "trial", "window", FIRST)
PER_PAGE = 32
"""Ranks drawn and listed on one page; all of more ranks are one picture besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a limit of a gate said of the trial, with the address of its cell."""

    word: Word
    gate: str
    sentence: str
    href: str


def source_of(request: PersonRequest, slug: str, number: int) -> MapSource:
    """Return the trial that the address names."""
    return map_source(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(request.GET.get("revision", "")),
        trial_id=request.GET.get("trial", ""),
    )


def said_by(plan: Plan | None, trial: str, gates: Sequence[str], detail_href: str) -> tuple[Said, ...]:
    """Return what gates said of a trial, limit by limit; nothing where they are not declared."""
    return tuple(_said(plan, trial, gates, detail_href)) if plan else ()


def _said(plan: Plan, trial: str, gates: Sequence[str], detail_href: str) -> Iterator[Said]:
    candidate = plan.candidates.get(trial)
    for gate in gates if candidate else ():
        found = candidate.gates.get(gate) if candidate else None
        for limit, outcome in found.limits.items() if found else ():
            if outcome.outcome != "NOT_DECLARED":
                cell = Query((("cell", str(CellKey(trial=trial, gate=gate, limit=limit))),))
                yield Said(
                    word=OUTCOMES[outcome.outcome],
                    gate=f"{gate}.{limit}",
                    sentence=outcome.sentence,
                    href=f"{detail_href}{cell.link('cell')}",
                )


def trial_context(source: MapSource, query: Query, map_href: str) -> dict[str, Any]:
    """Return what the choice of a candidate and the headings of its page need; ``map_href`` is the map's address."""
    plan = source.page.plan()
    return {
        "name": source.trial_id,
        "word": candidate_word(plan, source.trial_id),
        "trials": trial_options(plan, source.trial_ids, source.trial_id),
        "trial_hidden": query.hidden("trial", "window", FIRST),
        "map_href": f"{map_href}{query.changed(**{'window': None, FIRST: None}).link(rank='')}",
    }


def window_options(view: TrialView, windows: Sequence[str], chosen: str) -> list[tuple[str, str, bool]]:
    """Return (id, text, whether it is chosen) of windows."""
    found = [(window, view.trial.windows[window]) for window in windows]
    return [(window, f"{window} · {record.load_point}, {record.purpose}", window == chosen) for window, record in found]


def table_answer(
    source: MapSource, what: str, suffix: str, header: Sequence[str], rows: Sequence[Sequence[Value]]
) -> HttpResponse:
    """Answer with a table as a file."""
    name = f"{source.page.label}-r{source.page.shown.number}-{what}.{suffix}"
    if suffix == "csv":
        return csv_response(name, header, rows)
    tree = {"trial": source.trial_id, what: [dict(zip(header, row, strict=True)) for row in rows]}
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")
