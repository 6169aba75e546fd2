"""``topogate diff``: what changed from one plan to another, as Markdown for a pull request."""

import sys
from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit, input_bytes, problem_lines
from planner.errors import DocumentRefusedError
from planner.intake import read_plan
from planner.plan_diff import plan_diff
from planner.records.plan import Plan


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="plan file (topogate plan --format json)")
    parser.add_argument("after", metavar="AFTER", help="plan file")


def _run(arguments: Namespace) -> int:
    before, after = _opened(arguments.before), _opened(arguments.after)
    if before is None or after is None:
        return Exit.BAD_INPUT
    print(plan_diff(before, after), end="")
    return Exit.OK


def _opened(name: str) -> Plan | None:
    try:
        return read_plan(input_bytes(name))
    except DocumentRefusedError as error:
        print(problem_lines(name, error.problems), file=sys.stderr)
        return None


COMMAND = Command(id="diff", help="compare two plans as Markdown", configure=_configure, run=_run)
