"""``topogate verify``: check an exported bundle, by the same code that lies in it as ``verify.py``."""

from argparse import ArgumentParser, Namespace
from base64 import b64decode
from hashlib import sha256
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
    keys = [key for name in arguments.key for key in _keys(name)]
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


def _keys(name: str) -> list[str]:
    """Return keys as text: what was given, or those in the file of that name.

    Raises:
        UnreadableInputError: it is none; a verdict about the bundle would be about what was mistyped.
    """
    is_text = "+" in name and not Path(name).is_file()
    keys = (name if is_text else _bytes(name).decode(errors="replace")).split()
    if not keys or not all(map(_is_key, keys)):
        raise UnreadableInputError(name, "something else", expected="a public key as `manage.py log_key` prints it")
    return keys


def _is_key(text: str) -> bool:
    """Say whether a text is a key: name, four bytes of a digest, and the base64 of a byte 1 and 32 bytes."""
    name, _, rest = text.partition("+")
    ident, _, blob = rest.partition("+")
    try:
        raw = b64decode(blob, validate=True)
    except ValueError:
        return False
    own = sha256(name.encode() + b"\n" + raw).hexdigest()[:8]
    return (raw[:1], len(raw), ident) == (b"\1", 33, own)


def _bytes(name: str) -> bytes:
    with input_file(name) as file:
        return reading_of(name, file.read, MOST_NOTE_BYTES)


COMMAND = Command(id="verify", help="check an exported bundle of an audit log", configure=_configure, run=_run)
