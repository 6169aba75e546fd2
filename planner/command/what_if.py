"""``topogate what-if``: the decision under several other limits or readings at once; nothing is stored.

The exit code is 0 whatever the answer is: it is no decision, and nobody can sign it.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from planner.command.base import Command, Exit, add_format, json_line, print_refused
from planner.command.opening import add_documents, as_of, opened_documents
from planner.docket import ALWAYS
from planner.errors import DocumentRefusedError, Problem
from planner.figures import readable
from planner.overrides import CODE, Reading, Setting, overridden, overridden_bytes
from planner.overrides.text import read_reading, read_setting
from planner.records.overrides import Overridden, Override, TrialTurned
from planner.shown import printable

LONGEST = 80
"""Characters of a value in the text form."""


def _configure(parser: ArgumentParser) -> None:
    add_documents(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="POINTER=VALUE",
        help="a value of the contract, such as /gates/ttft/tail/max_ms=600; VALUE is JSON",
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="POINTER", help="leave out what stands there: /gates/cost"
    )
    parser.add_argument(
        "--reading",
        action="append",
        default=[],
        metavar="TRIAL:GATE.LIMIT=VALUE",
        help="what a limit reads of a trial, such as b:ttft.tail=480",
    )
    add_format(parser)


def _run(arguments: Namespace) -> int:
    documents = opened_documents(arguments)
    given = [read_setting(text) for text in arguments.set]
    taken = [read_reading(text) for text in arguments.reading]
    problems = [each for each in (*given, *taken) if isinstance(each, Problem)]
    settings = [each for each in given if isinstance(each, Setting)]
    settings += [Setting(at=at, removes=True) for at in arguments.without]
    readings = [each for each in taken if isinstance(each, Reading)]
    if not (arguments.set or arguments.without or arguments.reading):
        problems.append(Problem(CODE, "--set", "an override: --set, --without or --reading", "none"))
    if documents is None or problems:
        return _refused(problems, arguments.format)
    try:
        answer = overridden(*documents, as_of(arguments), settings=settings, readings=readings)
    except DocumentRefusedError as error:
        return _refused(error.problems, arguments.format)
    if arguments.format == "json":
        print(overridden_bytes(answer).decode())
    else:
        print("".join(f"{line}\n" for line in _lines(answer)), end="")
    return Exit.OK


def _refused(problems: Sequence[Problem], form: str) -> int:
    if problems:
        print_refused({"override": tuple(problems)}, form)
    return Exit.BAD_INPUT


def _lines(answer: Overridden) -> Iterator[str]:
    yield "injected overrides: nothing here was measured, no plan, never to be signed"
    yield f"slot={printable(answer.slot)};as_of={answer.as_of};planner={answer.planner_version}"
    yield from (_override(override) for override in answer.overrides)
    yield f"decision={answer.decision_before} -> {answer.decision_after}"
    yield f"selected={answer.winner_before or 'none'} -> {answer.winner_after or 'none'}"
    for name, trial in answer.trials.items():
        yield from _trial(name, trial)


def _override(override: Override) -> str:
    if override.kind == "reading":
        return f"reading {override.trial}:{override.at}={_value(override.new)} (was {_value(override.old)})"
    if override.kind == "without":
        return f"without {override.at} (was {_written(override.old)})"
    old = "not declared" if override.old is None else _written(override.old)
    return f"set {override.at}={_written(override.new)} (was {old})"


def _written(value: Any) -> str:
    """Write a value of a contract on one line; a long one is cut."""
    text = json_line(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _value(value: Any) -> str:
    return "unmeasured" if value is None else readable(value)


def _trial(name: str, trial: TrialTurned) -> Iterator[str]:
    places = f"{_place(trial.place_before)} -> {_place(trial.place_after)}"
    yield f"{name} ({trial.topology}): {trial.before} -> {trial.after}, place {places}"
    for turned in trial.turned:
        sides = f"{turned.before or 'NOT_DECLARED'} -> {turned.after or 'NOT_DECLARED'}"
        name = turned.gate if turned.limit_id == ALWAYS else f"{turned.gate}.{turned.limit_id}"
        yield f"  {name} {sides}: {turned.sentence}"


def _place(place: int | None) -> str:
    return "-" if place is None else str(place)


COMMAND = Command(
    id="what-if",
    help="decide under other limits or readings, several at once; never signable",
    configure=_configure,
    run=_run,
)
