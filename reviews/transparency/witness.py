"""A witness: remembers the last checkpoint of a log and cosigns the next one only if it continues it.

``python -m reviews.transparency.witness --log KEY --key FILE --state FILE < update`` reads what the log gives a
witness, prints the checkpoint with the witness's signature, and keeps it. With ``--url`` it fetches that from the log's
address and sends its signature there. It needs neither the application nor its database: run it where nobody who runs
the log can reach. While the state file is not there, it trusts the first checkpoint that it sees.
"""

import argparse
import fcntl
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from reviews.transparency.checkpoints import Checkpoint, checkpoint_opened, continued
from reviews.transparency.keys import read_key
from reviews.transparency.notes import COSIGNATURE, NoteError, Signer, Verifier
from reviews.transparency.updates import MAX_PROOF, update_read
from reviews.whole_files import write_whole

REFUSED, BAD_INPUT, UNREACHED = 1, 2, 6
TIMEOUT_S = 30
MAX_UPDATE_BYTES = 1_000_000 + MAX_PROOF * 64


class RefusedError(Exception):
    """The checkpoint does not continue the last one; says how."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit 0: cosigned. 1: not a continuation, nothing is signed. 2: input that is not as expected. 6: no answer."""
    asked = _parser().parse_args(arguments)
    try:
        log = tuple(map(Verifier.of, asked.log))
        signer = Signer(asked.name, read_key(asked.key.read_text()), COSIGNATURE)
        if asked.public:
            sys.stdout.write(f"{signer.verifier}\n")
            return 0
        raw = fetched(asked.url, log, asked.state) if asked.url else sys.stdin.buffer.read(MAX_UPDATE_BYTES + 1)
        signed = cosigned(raw, log, signer, asked.state, now=int(time.time()))
        if asked.url:
            send(asked.url, signed, log)
        sys.stdout.write(signed.decode())
    except (URLError, TimeoutError, ConnectionError) as error:
        sys.stderr.write(f"{asked.url}: {_answer(error)}\n")
        return UNREACHED
    except RefusedError as refused:
        sys.stderr.write(f"Not signed: {refused}\n")
        return REFUSED
    except (NoteError, ValueError, OSError) as error:
        sys.stderr.write(f"Not signed: {error}\n")
        return BAD_INPUT
    return 0


def fetched(url: str, log: Sequence[Verifier], state: Path) -> bytes:
    """Ask a log for its update from what is in ``state``.

    Raises:
        URLError: the log is not reached, or refuses.
        NoteError: the state holds something else than a checkpoint of this log.
    """
    last = _last(state, log)
    address = f"{url.rstrip('/')}/update?old={last.size if last else 0}"
    with urlopen(address, timeout=TIMEOUT_S) as answer:  # noqa: S310 - an address that the operator typed
        raw: bytes = answer.read(MAX_UPDATE_BYTES + 1)
    return raw


def send(url: str, signed: bytes, log: Sequence[Verifier]) -> None:
    """Give a log the witness's line of a checkpoint, the last one of the note.

    Raises:
        URLError: the log is not reached, or does not take it.
    """
    size = _opened(signed, log).size
    line = signed[:-1].rpartition(b"\n")[2] + b"\n"
    address = f"{url.rstrip('/')}/checkpoints/{size}/witnesses"
    headers = {"Content-Type": "text/plain"}
    request = Request(address, line, headers, method="POST")  # noqa: S310 - an address that the operator typed
    with urlopen(request, timeout=TIMEOUT_S):  # noqa: S310 - an address that the operator typed
        pass


def _answer(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"answered {error.code}: {error.read(2000).decode(errors='replace')}"
    return str(error)


def _opened(raw: bytes, log: Sequence[Verifier]) -> Checkpoint:
    """Return a checkpoint that one of the log's keys signed; after a change of key the state is by the earlier one."""
    for key in log[:-1]:
        with suppress(NoteError):
            return checkpoint_opened(raw, key)[0]
    return checkpoint_opened(raw, log[-1])[0]


def _last(state: Path, log: Sequence[Verifier]) -> Checkpoint | None:
    return _opened(state.read_bytes(), log) if state.exists() else None


def cosigned(raw: bytes, log: Sequence[Verifier], signer: Signer, state: Path, *, now: int) -> bytes:
    """Return the checkpoint of an update with the witness's signature; ``state`` then holds it, and only it.

    ``log``: the keys of the log, one at least.

    Raises:
        NoteError: the update is none, or the log did not sign it.
        RefusedError: it does not continue the checkpoint in ``state``.
        OSError: the state is not read or not written; then nothing is signed.
    """
    if len(raw) > MAX_UPDATE_BYTES:
        raise NoteError(f"update: expected at most {MAX_UPDATE_BYTES:,} bytes")
    _, proof, note = update_read(raw)
    checkpoint = _opened(note, log)
    with (state.with_name(f"{state.name}.lock")).open("a") as lock:
        # Check and write are one step: of two updates that run at once, the second is held against the first.
        fcntl.flock(lock, fcntl.LOCK_EX)
        last = _last(state, log)
        fault = continued(last, checkpoint, proof)
        if fault:
            raise RefusedError(f"{fault}." + (f" Ask for the update from {last.size}." if last else ""))
        signed = note + signer.line(checkpoint.text, time=now).encode()
        write_whole(state, signed)
    return signed


def _address(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"expected an address that begins with https://, found {text}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="witness", description="Cosign a log's checkpoint if it continues the last.")
    parser.add_argument(
        "--log",
        required=True,
        action="append",
        metavar="KEY",
        help="the log's public key, as `manage.py log_key` prints; after a change of key, both",
    )
    parser.add_argument("--key", required=True, type=Path, metavar="FILE", help="the witness's own private key, PEM")
    parser.add_argument("--name", default="witness", help="the name that the witness signs under")
    parser.add_argument("--state", required=True, type=Path, metavar="FILE", help="keeps the last checkpoint")
    parser.add_argument("--url", type=_address, metavar="URL", help="the log's address, .../api/v1/logs/ORIGIN")
    parser.add_argument("--public", action="store_true", help="print the witness's public key and stop")
    return parser


if __name__ == "__main__":
    sys.exit(main())
