"""Read the commands of a README with the output and the exit code that it promises.

A promise is a block fenced as ``console`` whose first line is ``$ topogate ...``; the lines after it are the standard
output, and the line after the block says ``Exit code N.``
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
BLOCK = re.compile(
    r"^```console\n\$ topogate (?P<command>.*)\n(?P<output>(?:.*\n)*?)```\n+Exit code (?P<code>\d)", re.M
)


@dataclass(frozen=True, slots=True)
class Promise:
    """One command of a README."""

    example: str
    arguments: tuple[str, ...]
    output: str
    exit_code: int


def promises() -> list[Promise]:
    """List the promises of every example, in order of the examples' names."""
    return [
        Promise(
            example=readme.parent.name,
            arguments=tuple(shlex.split(found["command"])),
            output=found["output"],
            exit_code=int(found["code"]),
        )
        for readme in sorted(EXAMPLES.glob("*/README.md"))
        for found in BLOCK.finditer(readme.read_text(encoding="utf-8"))
    ]
