"""``topogate verify``: check an exported bundle, by the same code that lies in it as ``verify.py``."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from planner.command.base import Command, UnreadableInputError, add_format, input_file, json_line, reading_of
from planner.verifier.verify import WORDS, verify

MOST_NOTE_BYTES = 1_000_000
"""No key or checkpoint is larger."""


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="BUNDLE", help="the exported file")
    parser.add_argument(
        "--key", action="append", default=[], metavar="KEY", help="a public key that you trust, or a file that holds it"
    )
    parser.add_argument(
        "--checkpoint",
        action="append",
        default=[],
        metavar="FILE",
        help="a checkpoint that you kept; the log continues it",
    )
    add_format(parser)


def _run(arguments: Namespace) -> int:
    keys = [_key(name) for name in arguments.key]
    checkpoints = [_bytes(name) for name in arguments.checkpoint]
    with input_file(arguments.bundle) as file:
        if not file.seekable():
            raise UnreadableInputError(arguments.bundle, "a stream", expected="a file that can be read from any place")
        code, headline, seq, unchecked = verify(file, keys, checkpoints)
    if arguments.format == "json":
        found = {"verdict": WORDS[code], "code": code, "entry": seq, "headline": headline, "not_checked": unchecked}
        print(json_line(found))
    else:
        print(headline)
    return code


def _key(name: str) -> str:
    """Return a key as text: what was given, or the content of the file of that name."""
    return name.strip() if "+" in name and not Path(name).is_file() else _bytes(name).decode(errors="replace").strip()


def _bytes(name: str) -> bytes:
    with input_file(name) as file:
        return reading_of(name, file.read, MOST_NOTE_BYTES)


COMMAND = Command(id="verify", help="check an exported bundle of an audit log", configure=_configure, run=_run)
