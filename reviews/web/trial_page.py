"""What the pages of one trial share: which trial and window the address asks for, and what a gate said of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from planner.records.plan import Plan
from planner.view import TrialView
from reviews.selectors.maps import MapSource
from reviews.web.cells import CellKey
from reviews.web.links import Query
from reviews.web.map_page import candidate_word, trial_options
from reviews.web.words import OUTCOMES, Word

KEPT = ("revision", "trial", "window", "from")
PER_PAGE = 32
"""Ranks drawn and listed on one page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a limit of a gate said of the trial, with the address of its cell."""

    word: Word
    gate: str
    sentence: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of the ranks: from ``start`` to ``end`` of ``total``, with links to the pages around it."""

    start: int
    end: int
    total: int
    summary: str
    earlier: str
    later: str


def page_of(total: int, query: Query, anchor: str, *, at: int) -> Page:
    """Return the page of ranks that the address asks for; without a word, the one with rank ``at``."""
    asked = query.get("from")
    start = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 and int(asked) < total else at
    start -= start % PER_PAGE
    end = min(total, start + PER_PAGE)
    return Page(
        start=start,
        end=end,
        total=total,
        summary=f"Ranks {start:,}–{end - 1:,} of {total:,}" if total > PER_PAGE else "",
        earlier=query.link(anchor, **{"from": start - PER_PAGE}) if start else "",
        later=query.link(anchor, **{"from": end}) if end < total else "",
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


def trial_context(source: MapSource, query: Query) -> dict[str, Any]:
    """Return what the choice of a candidate and the headings of its page need."""
    plan = source.page.plan()
    return {
        "name": source.trial_id,
        "word": candidate_word(plan, source.trial_id),
        "trials": trial_options(plan, source.trial_ids, source.trial_id),
        "trial_hidden": query.hidden("trial", "window", "from"),
    }


def window_options(view: TrialView, windows: Sequence[str], chosen: str) -> list[tuple[str, str, bool]]:
    """Return (id, text, whether it is chosen) of windows."""
    found = [(window, view.trial.windows[window]) for window in windows]
    return [(window, f"{window} · {record.load_point}, {record.purpose}", window == chosen) for window, record in found]
