"""``topogate gates``: every gate with its rule, the evidence it reads and its unit.

The Markdown form is ``docs/reference/gates.md``; a test holds the two equal.
"""

from argparse import ArgumentParser, Namespace
from itertools import groupby
from typing import Any

import msgspec

from planner.command.base import Command, Exit, json_line
from planner.gates import GATES, Gate

HEADING = (
    "# Gates\n\nWritten by `topogate gates --format markdown`. A gate marked *always* needs no limit in the contract.\n"
    "Every limit also needs `because`; a field with a question mark may be left out.\n"
)


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="how the result is printed"
    )


def _run(arguments: Namespace) -> int:
    if arguments.format == "json":
        print(json_line([_described(gate) for gate in GATES]))
    elif arguments.format == "markdown":
        print(gates_markdown(), end="")
    else:
        print("\n".join(_line(gate) for gate in GATES))
    return Exit.OK


def gates_markdown() -> str:
    """Return the reference of all gates, family by family."""
    parts = [HEADING]
    for family, gates in groupby(GATES, key=lambda gate: gate.family):
        parts += ["", f"## {family}", "", "| gate | rule | limit | evidence | unit |", "|---|---|---|---|---|"]
        parts += [_row(gate) for gate in gates]
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def _row(gate: Gate) -> str:
    name = f"`{gate.id}`{' *always*' if gate.limit is None else ''}<br>{gate.title}"
    evidence = ", ".join(f"`{metric}`" for metric in gate.reads) or "–"
    limit = ", ".join(f"`{field}`{'' if needed else '?'}" for field, needed in _limit_fields(gate).items()) or "–"
    return f"| {name} | {gate.doc.replace('|', chr(92) + '|')} | {limit} | {evidence} | {gate.unit or '–'} |"


def _limit_fields(gate: Gate) -> dict[str, bool]:
    """Map the fields of the gate's limits, ``because`` apart, to whether they are needed."""
    fields = () if gate.limit is None else msgspec.structs.fields(gate.limit)
    return {field.encode_name: field.required for field in fields if field.name != "because"}


def _line(gate: Gate) -> str:
    when = "always" if gate.limit is None else "declared"
    return f"{gate.id:<20} {gate.family:<10} {when:<9} {gate.title}"


def _described(gate: Gate) -> dict[str, Any]:
    return {
        "id": gate.id,
        "family": gate.family,
        "title": gate.title,
        "rule": gate.doc,
        "always": gate.limit is None,
        "limit": [{"field": field, "needed": needed} for field, needed in _limit_fields(gate).items()],
        "evidence": list(gate.reads),
        "unit": gate.unit,
        "comparator": gate.comparator,
    }


COMMAND = Command(id="gates", help="list every gate and its rule", configure=_configure, run=_run)
