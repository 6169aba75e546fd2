"""The ``topogate`` command line. A subcommand is a module here with one ``Command``, named in ``MODULES``."""

import io
import os
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress

from planner.collection import rare_collection
from planner.command import (
    check,
    diff,
    digest,
    evidence,
    gates,
    groups,
    hardware,
    hypotheses,
    identity,
    importing,
    launch,
    matrix,
    model,
    observe,
    plan,
    requalify,
    schema,
    stress,
    submit,
    validate,
    verify,
    what_if,
)
from planner.command.base import Command, Exit, UnreadableInputError
from planner.registry import collect
from planner.version import PLANNER_VERSION

__all__ = ["COMMANDS", "MODULES", "main"]

MODULES = (
    *(plan, diff, what_if, stress, matrix, gates, groups, hardware, model, hypotheses, importing, evidence),
    *(validate, digest, schema, submit, launch, identity, requalify, observe, check, verify),
)
COMMANDS = collect(MODULES, Command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; ``argv`` is without the program's name."""
    _set_up_streams()
    if sys.stdout is None:
        return _unwritable("none")
    try:
        with rare_collection():
            code = _run(argv)
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
        return _unwritable(error.strerror or str(error))
    except KeyboardInterrupt:
        _leave_stdout()
        _die_of_interrupt()
    return code


def _set_up_streams() -> None:
    """Make results the same bytes in every locale, and let no message end up among them."""
    if sys.stderr is None:
        # Closed by the caller. Python would print messages to stdout instead.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    # File names and terminals may hold bytes that have no character; a message still has to come out.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as asked:  # --help, --version or a usage error, already printed
        return int(asked.code or 0)
    code: int = arguments.run(arguments)
    return code


def _unwritable(found: str) -> int:
    """Say that the output cannot be written; where messages cannot be either, the exit code alone says it."""
    with suppress(OSError):
        print(f"topogate: expected an output that can be written, found {found}", file=sys.stderr)
    return Exit.BAD_INPUT


def _die_of_interrupt() -> None:
    """End as a program that SIGINT ended, so that a shell ends the script or loop that called it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)


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
