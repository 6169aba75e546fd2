"""``topogate plan``: decide from a contract and its evidence, without a server.

Standard output holds the result alone: the lines of the text form, or the plan's canonical JSON. What a reader should
know beside it (what is undeclared, contenders, the as-of time) goes to standard error. The clock is read here, for
the default of ``--as-of``, and nowhere deeper.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from planner.command.base import (
    Command,
    Exit,
    Refused,
    UnreadableInputError,
    add_format,
    input_bytes,
    print_refused,
)
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError
from planner.explanation import plan_explained
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from planner.records.plan import DecisionWord, Plan
from planner.text import plan_remarks, plan_text
from planner.times import parsed_time

EXIT: dict[DecisionWord, Exit] = {
    "SELECT_TOPOLOGY": Exit.OK,
    "NO_ELIGIBLE_TOPOLOGY": Exit.NONE_ELIGIBLE,
    "INCONCLUSIVE": Exit.INCONCLUSIVE,
}

Document = TypeVar("Document")


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract file")
    parser.add_argument("evidence", metavar="EVIDENCE", help="evidence file")
    parser.add_argument(
        "--as-of", type=utc_time, metavar="TIME", help="judge the age of evidence at this UTC time (default: now)"
    )
    parser.add_argument("--explain", action="store_true", help="also print every gate of every candidate (text)")
    add_format(parser)


def utc_time(text: str) -> str:
    """Take a time of the command line; raises ArgumentTypeError for any other text."""
    if parsed_time(text) is None:
        raise ArgumentTypeError(f"expected a UTC time such as 2026-11-28T17:12:00Z, found {text!r}")
    return text


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = _opened(read_contract, arguments.contract, refused)
    evidence = _opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    if contract is None or evidence is None:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    plan = plan_parallelism(contract, evidence, arguments.as_of or _now())
    if arguments.format == "json":
        print(plan_bytes(plan).decode())
    else:
        _print_text(plan, contract, explain=arguments.explain)
    return EXIT[plan.decision]


def _opened(read: Callable[[bytes], Document], name: str, refused: Refused) -> Document | None:
    """Return the document of a file, or None with its problems in ``refused``, so that both files are judged."""
    try:
        return read(input_bytes(name))
    except DocumentRefusedError as error:
        refused[name] = error.problems
    except UnreadableInputError as error:
        refused[name] = (error.problem,)
    return None


def _print_text(plan: Plan, contract: ContractDocument, *, explain: bool) -> None:
    for remark in plan_remarks(plan):
        print(remark, file=sys.stderr)
    print(plan_text(plan, contract.record), end="")
    if explain:
        print(f"\n{plan_explained(plan)}", end="")


COMMAND = Command(id="plan", help="decide which measured topology to use", configure=_configure, run=_run)
