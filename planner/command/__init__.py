"""The ``topogate`` command line. A subcommand is a module here with one ``Command``, named in ``MODULES``."""

import io
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from planner.command import (
    diff,
    digest,
    gates,
    groups,
    hardware,
    hypotheses,
    model,
    plan,
    schema,
    stress,
    submit,
    validate,
    what_if,
)
from planner.command.base import Command, Exit, UnreadableInputError
from planner.registry import collect
from planner.version import PLANNER_VERSION

__all__ = ["COMMANDS", "MODULES", "main"]

MODULES = (plan, diff, what_if, stress, gates, groups, hardware, model, hypotheses, validate, digest, schema, submit)
COMMANDS = collect(MODULES, Command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; ``argv`` is without the program's name."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # File names and terminals may hold bytes that have no character; a message still has to come out.
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as asked:  # --help, --version or a usage error, already printed
        return int(asked.code or 0)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except UnreadableInputError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    except BrokenPipeError:
        # The reader has left, so there is nobody to print to.
        _leave_stdout()
        return Exit.NO
    except OSError as error:
        _leave_stdout()
        print(f"topogate: expected an output that can be written, found {error.strerror}", file=sys.stderr)
        return Exit.BAD_INPUT
    return code


def _leave_stdout() -> None:
    """Write what is left to nowhere: Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="topogate", description="Decide how a model is split over accelerators, from evidence."
    )
    parser.add_argument("--version", action="version", version=f"topogate {PLANNER_VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = commands.add_parser(command.id, help=command.help, description=command.help)
        command.configure(subparser)
        subparser.set_defaults(run=command.run)
    return parser
