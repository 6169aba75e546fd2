"""Questions for readings that gates lack and no file brings: a person who has them some other way may say them.

Rules kept: what files of a known kind hold is not asked, it is measured and sent; an answer that was given stays a
question, so that it can be taken back.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from msgspec.structs import replace

from planner.builder.bringing import brought_by
from planner.builder.pointing import most_exact, variants
from planner.builder.records import Draft
from planner.builder.shapes import choices_of, is_field, kind_of
from planner.builder.state import GateCoverage, Question, RequiredCoverage, TrialCoverage
from planner.pointers import joined, steps

__all__ = ["asked_by_hand", "with_asked"]

Holder = TypeVar("Holder", GateCoverage, RequiredCoverage)

_READINGS: Mapping[tuple[str, ...], tuple[str, str]] = MappingProxyType(
    {
        ("load", "longest_sequence_tokens"): (
            "How long was the longest sequence that was held, its prompt and output together?",
            "tokens",
        ),
    }
)
"""Reading -> how it is asked for, and its unit; others are asked for by their name."""


def asked_by_hand(
    draft: Draft, questions: Iterable[Question], coverage: Iterable[TrialCoverage]
) -> tuple[Question, ...]:
    """Return a question for every reading of a window that only a person can say, lacking or said, and nobody asks."""
    known = {question.field for question in questions}
    lacking = {lack.field for trial in coverage if trial.judged for gate in trial.gates for lack in gate.lacks}
    wanted = dict.fromkeys((*sorted(lacking), *_said(draft)))
    return tuple(_question(draft, field) for field in wanted if field not in known and _is_by_hand(field))


def _said(draft: Draft) -> Iterator[str]:
    """Yield the fields of windows that answers reach, those of ``*`` in every window."""
    readings = dict.fromkeys(steps(at)[4:] for at in draft.answers if steps(at)[2:3] == ("windows",))
    for name, trial in draft.trials.items():
        for window in trial.windows:
            for reading in readings:
                field = joined(("trials", name, "windows", window, *reading))
                if most_exact(draft.answers, field) is not None:
                    yield field


def _is_by_hand(field: str) -> bool:
    path = steps(field)
    return path[2:3] == ("windows",) and len(path) > 5 and not brought_by(field) and is_field(field)


def _question(draft: Draft, field: str) -> Question:
    path = steps(field)
    said = most_exact(draft.answers, field)
    text, unit = _READINGS.get(path[4:], (f"What was {'.'.join(path[4:])}? No file that is read here says it.", ""))
    return Question(
        field=field,
        answer_at=variants(field),
        group="asked",
        trial=path[1],
        window=path[3],
        kind=kind_of(field),
        question=text,
        unit=unit,
        choices=choices_of(field),
        needed=False,
        answered=None if said is None else said[0],
        answer=None if said is None else said[1].value,
    )


def with_asked(coverage: Iterable[TrialCoverage], asked: Iterable[Question]) -> tuple[TrialCoverage, ...]:
    """Return the coverage, the fields of these questions marked as asked."""
    fields = {question.field for question in asked}

    def marked(one: Holder) -> Holder:
        return replace(one, lacks=tuple(replace(lack, asked=lack.asked or lack.field in fields) for lack in one.lacks))

    return tuple(
        replace(trial, gates=tuple(map(marked, trial.gates)), required=tuple(map(marked, trial.required)))
        for trial in coverage
    )
