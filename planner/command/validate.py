"""``topogate validate``: say of every file whether it is an accepted document, and all that is wrong with it."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from planner.command.base import (
    Command,
    Exit,
    UnreadableInputError,
    add_format,
    input_bytes,
    json_line,
    problem_json,
    problem_lines,
)
from planner.intake import Verdict, judge
from planner.shown import printable


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="contract, evidence or plan; - is standard input")
    add_format(parser)


def _run(arguments: Namespace) -> int:
    print_verdict = _print_json if arguments.format == "json" else _print_text
    verdicts: dict[str, Verdict] = {}
    for name in arguments.files:
        try:
            verdict = judge(input_bytes(name))
        except UnreadableInputError as error:
            print(f"topogate: {error}", file=sys.stderr)
            verdict = Verdict(kind=None, file_sha256="", content_id=None, problems=(error.problem,))
        print_verdict(name, verdict)
        verdicts[name] = verdict
    _print_strangers(verdicts)
    return Exit.OK if all(verdict.ok for verdict in verdicts.values()) else Exit.BAD_INPUT


def _print_strangers(verdicts: Mapping[str, Verdict]) -> None:
    """Say which evidence belongs to none of the contracts given beside it: both are sound, a plan would refuse them."""
    contracts = {verdict.content_id for verdict in verdicts.values() if verdict.kind == "contract" and verdict.ok}
    for name, verdict in verdicts.items():
        if contracts and verdict.contract_named and verdict.contract_named not in contracts:
            named = f"contract {verdict.contract_named}"
            print(f"topogate: {printable(name)} names {named}, which is none of those given here", file=sys.stderr)


def _print_json(name: str, verdict: Verdict) -> None:
    problems = [problem_json(problem) for problem in verdict.problems]
    print(json_line({"file": name, "ok": verdict.ok, "kind": verdict.kind, "problems": problems}))


def _print_text(name: str, verdict: Verdict) -> None:
    if verdict.ok:
        print(f"{printable(name)}: {verdict.kind}, accepted")
    else:
        print(problem_lines(name, verdict.problems))


COMMAND = Command(id="validate", help="check documents and list every problem", configure=_configure, run=_run)
