"""``topogate schema``: print the JSON Schema of one kind of document."""

import json
from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit
from planner.schema import KINDS, document_schema


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(KINDS), help="kind of document")


def _run(arguments: Namespace) -> int:
    print(json.dumps(document_schema(arguments.kind), indent=2, ensure_ascii=False))
    return Exit.OK


COMMAND = Command(id="schema", help="print the JSON Schema of a document", configure=_configure, run=_run)
