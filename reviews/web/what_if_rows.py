"""The what-if page as rows: what is overridden, and what turned. Pure.

Rules kept: what is wrong with an override stands at its own field; candidates that nothing moves are counted, not
listed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.docket import ALWAYS
from planner.errors import Problem
from planner.records.overrides import Overridden, TrialTurned, Turned
from planner.records.plan import Plan
from reviews.selectors.what_if import Asked
from reviews.web.formats import count
from reviews.web.names import candidate_names
from reviews.web.what_if_asked import ReadingText, SetText, address, without_one
from reviews.web.what_if_choices import full_name, numbers_of, raw_text, units_at
from reviews.web.words import DECISIONS, OUTCOMES, STATES, Word

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRow:
    """One override in the form; ``place`` counts those of its kind. ``problem`` is empty where nothing is wrong."""

    place: int
    at: str
    name: str
    now: str
    drop_href: str
    value: str = ""
    trial: str = ""
    trial_name: str = ""
    is_chosen: bool = True
    problem: str = ""

    @property
    def id(self) -> str:
        """The place as a part of the ids of its fields."""
        return str(self.place)


@dataclass(frozen=True, slots=True)
class AskedRows:
    """All overrides in the form, and what is wrong with no single one of them."""

    sets: tuple[AskedRow, ...]
    withouts: tuple[AskedRow, ...]
    readings: tuple[AskedRow, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedRow:
    """One limit that answers otherwise."""

    name: str
    href: str
    before: Word
    after: Word
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """One candidate that the overrides move."""

    name: str
    trial: str
    before: Word
    after: Word
    place_before: str
    place_after: str
    turned: tuple[TurnedRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Both decisions, the candidates that moved (one page of them), and how many did not."""

    sentence: str
    decisions: tuple[Word, Word]
    winners: tuple[str, str]
    counts: tuple[tuple[Word, int, int], ...]
    rows: tuple[TrialRow, ...]
    start: int
    moved: int
    unmoved: str


# What is overridden


def asked_rows(
    asked: Asked, plan: Plan, tree: Mapping[str, Any], problems: Sequence[Problem], revision: str
) -> AskedRows:
    """Return the rows of the form, each problem at the first row that it is about."""
    left = list(problems)
    sets = _set_rows(asked, plan, tree, left, revision)
    withouts = tuple(
        AskedRow(
            place=place,
            at=at,
            name=full_name(at),
            now="",
            drop_href=address(without_one(asked, "without", place), revision),
            problem=_taken(left, {at}, at=at),
        )
        for place, at in enumerate(asked.withouts)
    )
    readings = _reading_rows(asked, plan, left, revision)
    return AskedRows(sets, withouts, readings, tuple(map(_sentence, left)))


def _set_rows(
    asked: Asked, plan: Plan, tree: Mapping[str, Any], left: list[Problem], revision: str
) -> tuple[AskedRow, ...]:
    units, today = units_at(plan), dict(numbers_of(tree))
    rows = []
    for place, text in enumerate(asked.sets):
        row = SetText.of(text)
        rows.append(
            AskedRow(
                place=place,
                at=row.at,
                name=full_name(row.at),
                drop_href=address(without_one(asked, "set", place), revision),
                now=raw_text(today[row.at], units.get(row.at)) if row.at in today else "",
                value=row.value,
                is_chosen=bool(row.at),
                problem=_taken(left, {row.at, text}, at=row.at),
            )
        )
    return tuple(rows)


def _reading_rows(asked: Asked, plan: Plan, left: list[Problem], revision: str) -> tuple[AskedRow, ...]:
    names = candidate_names(plan)
    rows = []
    for place, text in enumerate(asked.readings):
        reading = ReadingText.of(text)
        rows.append(
            AskedRow(
                place=place,
                drop_href=address(without_one(asked, "reading", place), revision),
                at=reading.limit,
                name=reading.limit.replace(".", " ").removesuffix(f" {ALWAYS}"),
                now=measured_text(plan, reading),
                value=reading.value,
                trial=reading.trial,
                trial_name=names.get(reading.trial, reading.trial),
                is_chosen=bool(reading.trial and reading.limit),
                problem=_taken(left, {reading.name, text}),
            )
        )
    return tuple(rows)


def _taken(left: list[Problem], names: set[str], at: str = "") -> str:
    """Take the problems of one row out of the list, and write them down.

    The changed contract is refused by the same intake as any other, so a problem may name what holds the changed
    value, or something in it.
    """
    own = [
        problem
        for problem in left
        if problem.pointer in names
        or (at and problem.pointer and (at.startswith(f"{problem.pointer}/") or problem.pointer.startswith(f"{at}/")))
    ]
    for problem in own:
        left.remove(problem)
    return " ".join(f"Expected {problem.expected}. Found {problem.found or 'nothing'}." for problem in own)


def _sentence(problem: Problem) -> str:
    where = f"{problem.pointer}: " if problem.pointer else ""
    return f"{where}Expected {problem.expected}. Found {problem.found}."


def measured_text(plan: Plan, reading: ReadingText) -> str:
    """Write what a limit reads of a trial today; empty where there is no such limit."""
    gate, _, limit_id = reading.limit.partition(".")
    candidate = plan.candidates.get(reading.trial)
    outcome = candidate.gates[gate].limits.get(limit_id) if candidate and gate in candidate.gates else None
    if outcome is None:
        return ""
    return "not measured" if outcome.measured is None else raw_text(outcome.measured, outcome.unit)


# What turned


def answer_of(found: Overridden, plan: Plan, *, asked_page: int, detail_href: str) -> Answer:
    """Return one page of the candidates that moved; ``detail_href`` ends where a cell's key follows."""
    names = candidate_names(plan)
    moved = sorted((trial for trial in found.trials if _is_moved(found.trials[trial])), key=_by_place(found))
    start = (asked_page - 1) * PAGE_SIZE
    start = start if 0 <= start < len(moved) else 0
    winners = (_winner(found.winner_before, names), _winner(found.winner_after, names))
    states = [(trial.before, trial.after) for trial in found.trials.values()]
    unmoved = len(found.trials) - len(moved)
    return Answer(
        sentence=_result(found, winners),
        decisions=(DECISIONS[found.decision_before], DECISIONS[found.decision_after]),
        winners=winners,
        counts=tuple(
            (word, sum(before == state for before, _ in states), sum(after == state for _, after in states))
            for state, word in STATES.items()
        ),
        rows=tuple(
            _trial_row(trial, names[trial], found.trials[trial], detail_href)
            for trial in moved[start : start + PAGE_SIZE]
        ),
        start=start,
        moved=len(moved),
        unmoved=f"{count(unmoved, 'candidate stays', 'candidates stay')} as today." if unmoved else "",
    )


def _is_moved(trial: TrialTurned) -> bool:
    return bool(trial.turned) or (trial.before, trial.place_before) != (trial.after, trial.place_after)


def _by_place(found: Overridden) -> Any:
    last = len(found.trials) + 1
    return lambda trial: (
        found.trials[trial].place_after or last,
        found.trials[trial].place_before or last,
        found.trials[trial].before == found.trials[trial].after,
        trial,
    )


def _winner(trial: str | None, names: Mapping[str, str]) -> str:
    return "none" if trial is None else names[trial]


def _result(found: Overridden, winners: tuple[str, str]) -> str:
    if found.winner_before == found.winner_after:
        return f"{winners[1]} still wins." if found.winner_after else "Still nothing is selected."
    if found.winner_after is None:
        return f"{winners[0]} drops out and nothing is selected."
    return f"{winners[1]} wins{f' instead of {winners[0]}' if found.winner_before else ''}."


def _trial_row(trial: str, name: str, turned: TrialTurned, detail_href: str) -> TrialRow:
    return TrialRow(
        name=name,
        trial=trial,
        before=STATES[turned.before],
        after=STATES[turned.after],
        place_before=str(turned.place_before or "–"),
        place_after=str(turned.place_after or "–"),
        turned=tuple(_turned_row(each, f"{detail_href}{trial}~{each.gate}~{each.limit_id}") for each in turned.turned),
    )


def _turned_row(turned: Turned, href: str) -> TurnedRow:
    return TurnedRow(
        name=turned.gate if turned.limit_id == ALWAYS else f"{turned.gate} {turned.limit_id}",
        href=href if turned.before else "",
        before=OUTCOMES[turned.before or "NOT_DECLARED"],
        after=OUTCOMES[turned.after or "NOT_DECLARED"],
        sentence=turned.sentence,
    )
