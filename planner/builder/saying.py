"""What a person says of a draft in one file (``topogate.evidence-answers/v1``), applied as a whole or not at all.

For scripts, where nobody looks at a page: runs are named by the names of their files, because ids follow from bytes
that differ from night to night. Everything that cannot be done is named at once.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from planner.builder.answering import answer, confirm, pseudonymise, settle
from planner.builder.editing import decide_held, leave_out, move_run, new_trial, new_window
from planner.builder.files import runs_of
from planner.builder.limits import refuse
from planner.builder.pointing import ANY
from planner.builder.questions import questions_of
from planner.builder.records import Draft
from planner.builder.trees import trees_of
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError, Problem
from planner.intake.opening import opened
from planner.pointers import child, steps
from planner.records.base import Id, Prose, Record, Text
from planner.records.evidence import JsonPointer
from planner.shown import shown
from planner.strict_json import read

__all__ = ["ANSWERS_SCHEMA", "Answers", "apply_answers", "read_answers"]

Json = Any
ANSWERS_SCHEMA = "topogate.evidence-answers/v1"


class Move(Record, frozen=True, kw_only=True):
    """Where a run belongs; trial and window are made where they are not there."""

    run: Text
    trial: Id
    window: Id | UnsetType = UNSET
    load_point: Id | UnsetType = UNSET
    copy: bool = False


class Held(Record, frozen=True, kw_only=True):
    """Whether a run that waits for a person is used."""

    use: bool
    because: Prose


class Settled(Record, frozen=True, kw_only=True):
    """Which source counts; exactly one of the last three is given."""

    because: Prose
    run: Text | UnsetType = UNSET
    format: Id | UnsetType = UNSET
    value: Json | UnsetType = UNSET


class Answers(Record, frozen=True, kw_only=True):
    """Everything that one person says."""

    schema: Literal["topogate.evidence-answers/v1"]
    by: Id
    left_out: dict[Text, Prose] = {}
    moves: tuple[Move, ...] = ()
    held: dict[Text, Held] = {}
    settled: dict[JsonPointer, Settled] = {}
    answers: dict[JsonPointer, Json] = {}
    confirm: tuple[JsonPointer, ...] = ()
    pseudonymise: tuple[Text, ...] | UnsetType = UNSET


def read_answers(raw: bytes) -> Answers:
    """Read answers from the bytes of their file.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return opened(read(raw), Answers, ANSWERS_SCHEMA, lambda tree: ())


def apply_answers(draft: Draft, contract: ContractDocument, said: Answers) -> Draft:
    """Return the draft with everything that was said.

    Raises:
        DocumentRefusedError: with everything that cannot be done; the draft is then as it was.
    """
    problems: list[Problem] = []
    for at, step in _steps(contract, said):
        try:
            draft = step(draft)
        except DocumentRefusedError as refused:
            problems += [_at(at, problem) for problem in refused.problems]
    if problems:
        raise DocumentRefusedError(tuple(problems))
    return draft


def _at(pointer: str, problem: Problem) -> Problem:
    """Point a problem into the file of answers; what it says of the draft stays in its words."""
    return Problem(problem.code, pointer, f"{problem.expected} at {problem.pointer or '/'}", problem.found)


Step = Callable[[Draft], Draft]


def _steps(contract: ContractDocument, said: Answers) -> Iterator[tuple[str, Step]]:
    """Yield what is to be done with its place in the file: what is arranged first, then what is said of it."""
    for name, because in said.left_out.items():
        yield child("/left_out", name), _each(name, partial(_left, said.by, because))
    for number, move in enumerate(said.moves):
        yield f"/moves/{number}", _each(move.run, partial(_moved, contract, said.by, move))
    for name, held in said.held.items():
        yield child("/held", name), _each(name, partial(_decided, said.by, held))
    if not isinstance(said.pseudonymise, UnsetType):
        hosts = said.pseudonymise
        yield "/pseudonymise", lambda draft: pseudonymise(draft, hosts)
    for at, how in said.settled.items():
        yield child("/settled", at), _settling(said, at, how)
    for at, value in said.answers.items():
        yield child("/answers", at), _answering(contract, said, at, value)
    if said.confirm:
        yield "/confirm", partial(_confirmed, contract, said)


def _each(name: str, change: Callable[[Draft, str], Draft]) -> Step:
    """Return the change of every run that a name means."""

    def step(draft: Draft) -> Draft:
        for run in _named(draft, name):
            draft = change(draft, run)
        return draft

    return step


_NUMBERED = re.compile(r"(.+)#([1-9][0-9]{0,3})", re.DOTALL)


def _named(draft: Draft, name: str) -> list[str]:
    """Return the runs that a name means: an id, a file's name, or that with the number of a run.

    Raises:
        DocumentRefusedError: there is none, or several files have the name.
    """
    known = [(run, file.name, run.partition(".")[0]) for run, file, _ in runs_of(draft.files)]
    numbered = _NUMBERED.fullmatch(name)
    found = [
        (run, file)
        for run, own, file in known
        if name in (run, own) or (numbered and own == numbered[1] and run.partition(".")[2] == numbered[2])
    ]
    if len({file for _, file in found}) != 1:
        expected = "one file of the draft" if found else "a run or file of the draft"
        raise refuse("builder/run", "/files", expected, shown(name))
    return [run for run, _ in found]


def _left(by: str, because: str, draft: Draft, run: str) -> Draft:
    return leave_out(draft, run, by=by, because=because)


def _moved(contract: ContractDocument, by: str, move: Move, draft: Draft, run: str) -> Draft:
    if move.trial not in draft.trials:
        draft = new_trial(draft, move.trial)
    window = None if isinstance(move.window, UnsetType) else move.window
    if window is not None and window not in draft.trials[move.trial].windows:
        load_point = "" if isinstance(move.load_point, UnsetType) else move.load_point
        draft = new_window(draft, contract, move.trial, window, load_point, by=by)
    return move_run(draft, run, trial=move.trial, window=window, copy=move.copy)


def _decided(by: str, how: Held, draft: Draft, run: str) -> Draft:
    return decide_held(draft, run, use=how.use, by=by, because=how.because)


def _settling(said: Answers, at: str, how: Settled) -> Step:
    def step(draft: Draft) -> Draft:
        run = None
        if not isinstance(how.run, UnsetType):
            named = _named(draft, how.run)
            if len(named) != 1:
                raise refuse("builder/run", "/files", "one run: the name of its file, # and its number", shown(how.run))
            run = named[0]
        form = None if isinstance(how.format, UnsetType) else how.format
        return settle(draft, at, by=said.by, because=how.because, run=run, format=form, value=how.value)

    return step


def _answering(contract: ContractDocument, said: Answers, at: str, value: Json) -> Step:
    return lambda draft: answer(draft, contract, at, value, by=said.by)


def _confirmed(contract: ContractDocument, said: Answers, draft: Draft) -> Draft:
    """Confirm every proposal that a pattern fits; a confirmed one may make further ones, such as names of devices."""
    for _ in range(ROUNDS):
        asked = questions_of(draft, contract, trees_of(draft, contract).trials)
        fitting = [
            question.field
            for question in asked
            if question.answered is None
            and question.proposals
            and any(_fits(pattern, question.field) for pattern in said.confirm)
        ]
        if not fitting:
            return draft
        draft = confirm(draft, contract, fitting, by=said.by)
    return draft


ROUNDS = 4
"""Proposals that rest on others end after this many: degrees, rank map, devices, what follows from those."""

DEEP = "**"


def _fits(pattern: str, field: str) -> bool:
    """Say whether a pointer fits a pattern: ``*`` is any step, ``**`` at the end any steps below."""
    wanted, path = steps(pattern), steps(field)
    if wanted[-1:] == (DEEP,):
        wanted, path = wanted[:-1], path[: len(wanted) - 1]
    return len(wanted) == len(path) and all(one in (ANY, other) for one, other in zip(wanted, path, strict=True))
