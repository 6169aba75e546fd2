"""``topogate hypotheses``: questions about estimates in, one JSON answer a line out.

Input is JSON Lines: ``inputs`` and what is asked for (``quantity``, or ``formula`` as text); a line with ``models``
adds shapes for the lines after it. One JSON document with ``models`` and ``goldens`` or ``questions`` (a list of such
lines) is read as well. A line that cannot be read gets an answer that says so, and the rest goes on.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.command.base import Command, Exit, input_bytes, json_line
from planner.errors import DocumentRefusedError, Problem
from planner.hypotheses.asks import Answerer
from planner.shown import shown
from planner.strict_json import Reading, read

LISTS = ("goldens", "questions")


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="JSON Lines; - is standard input")


def _run(arguments: Namespace) -> int:
    raw = input_bytes(arguments.file)
    answerer = Answerer()
    readable = True
    for question in _questions(raw):
        refused = _unreadable(question)
        readable = readable and refused is None
        print(json_line(refused or answerer.answer(question.ask)))
    return Exit.OK if readable else Exit.BAD_INPUT


@dataclass(frozen=True, slots=True)
class _Question:
    """What stands at one place: line, or place in the document's list (0: its models), and the flaws in it."""

    number: int
    ask: Any
    problems: tuple[Problem, ...]


def _questions(raw: bytes) -> Iterator[_Question]:
    document = _document(raw)
    if document is not None:
        yield from _listed(document)
        return
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            try:
                reading = read(line)
            except DocumentRefusedError as refused:
                yield _Question(number, None, refused.problems)
            else:
                yield _Question(number, reading.tree, reading.problems)


def _document(raw: bytes) -> Reading | None:
    """Return the one document that holds a list of questions, None where the bytes are lines."""
    try:
        reading = read(raw)
    except DocumentRefusedError:
        return None
    tree = reading.tree
    return reading if isinstance(tree, dict) and any(isinstance(tree.get(name), list) for name in LISTS) else None


def _listed(document: Reading) -> Iterator[_Question]:
    tree = document.tree
    listed = next(name for name in LISTS if isinstance(tree.get(name), list))
    flaws: dict[tuple[str, str], list[Problem]] = {}
    for problem in document.problems:
        _, name, place, *_ = [*problem.pointer.split("/"), "", ""]
        flaws.setdefault((name, place if name == listed else ""), []).append(problem)
    if "models" in tree:
        yield _Question(0, {"models": tree["models"]}, tuple(flaws.pop(("models", ""), ())))
    for index, ask in enumerate(tree[listed]):
        yield _Question(index + 1, ask, tuple(flaws.pop((listed, str(index)), ())))
    if flaws:
        yield _Question(0, None, tuple(problem for problems in flaws.values() for problem in problems))


def _unreadable(question: _Question) -> dict[str, Any] | None:
    """Return the answer to what cannot be asked, None where it can."""
    ask, problems = question.ask, question.problems
    if not problems and isinstance(ask, dict):
        return None
    named = {"id": shown(ask["id"], quote=False)} if isinstance(ask, dict) and "id" in ask else {}
    error = str(DocumentRefusedError(problems)) if problems else f"a question is an object; found {shown(ask)}"
    inputs = [problem.pointer.rpartition("/")[2] for problem in problems if problem.pointer]
    return {
        "line": question.number,
        **named,
        "valid": False,
        "constraint": "unreadable",
        "error": error,
        "inputs": inputs,
    }


COMMAND = Command(
    id="hypotheses",
    help="answer what a shape lets one expect (bytes, times), one JSON line each; never a measurement",
    configure=_configure,
    run=_run,
)
