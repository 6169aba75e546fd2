"""``topogate matrix``: what to measure for a contract, before anybody measures, and what evidence covers of it.

The exit code is 0 whatever the matrix holds: it decides nothing. ``sh`` prints a script for the whole of it.
"""

from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit, Refused, opened, print_refused
from planner.intake import read_contract, read_evidence
from planner.matrix import benchmark_matrix, matrix_bytes
from planner.matrix.clients import CLIENTS
from planner.matrix.markdown import matrix_markdown
from planner.matrix.script import matrix_script


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract file")
    parser.add_argument("--evidence", metavar="EVIDENCE", help="evidence whose coverage is told")
    parser.add_argument(
        "--format", choices=("markdown", "json", "sh"), default="markdown", help="how the result is printed"
    )
    parser.add_argument("--client", choices=tuple(CLIENTS), help="load generator of the script (default: the engine's)")


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    evidence = None
    if arguments.evidence is not None:
        evidence = opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    if contract is None or refused:
        print_refused(refused, "json" if arguments.format == "json" else "text")
        return Exit.BAD_INPUT
    matrix = benchmark_matrix(contract, evidence)
    if arguments.format == "json":
        print(matrix_bytes(matrix).decode())
    elif arguments.format == "sh":
        print(matrix_script(matrix, arguments.client), end="")
    else:
        print(matrix_markdown(matrix), end="")
    return Exit.OK


COMMAND = Command(id="matrix", help="list what to measure, and how, before measuring", configure=_configure, run=_run)
