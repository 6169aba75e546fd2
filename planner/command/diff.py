"""``topogate diff``: what changed from one plan to another, as Markdown for a pull request."""

from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit, Refused, opened, print_refused
from planner.intake import read_plan
from planner.plan_diff import plan_diff


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("before", metavar="BEFORE", help="plan file (topogate plan --format json)")
    parser.add_argument("after", metavar="AFTER", help="plan file")


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    before, after = (opened(read_plan, name, refused) for name in (arguments.before, arguments.after))
    if before is None or after is None:
        print_refused(refused, "text")
        return Exit.BAD_INPUT
    print(plan_diff(before, after), end="")
    return Exit.OK


COMMAND = Command(id="diff", help="compare two plans as Markdown", configure=_configure, run=_run)
