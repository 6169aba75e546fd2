"""``topogate stress``: put faults into copies of the evidence and say which limit of the contract sees each.

The exit code is 0 whatever the matrix holds: a hole is a finding about the contract, for its author to weigh.
"""

from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit, add_format
from planner.command.opening import add_documents, as_of, opened_documents
from planner.stress import stress_bytes, stress_matrix
from planner.stress.text import stress_text


def _configure(parser: ArgumentParser) -> None:
    add_documents(parser)
    add_format(parser)


def _run(arguments: Namespace) -> int:
    documents = opened_documents(arguments)
    if documents is None:
        return Exit.BAD_INPUT
    matrix = stress_matrix(*documents, as_of(arguments))
    if arguments.format == "json":
        print(stress_bytes(matrix).decode())
    else:
        print(stress_text(matrix), end="")
    return Exit.OK


COMMAND = Command(id="stress", help="inject faults and say which limit sees them", configure=_configure, run=_run)
