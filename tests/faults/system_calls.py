"""Let every system call of writing an entry, its blob and a checkpoint fail, and look at what is left.

``python -m tests.faults.system_calls`` needs Linux and ``strace``, which answers one call of a process with an error or
kills it there; the other calls are the real ones. The database is SQLite, whose files this process writes itself. For
every kind of call, and for the first, second, third one of its kind until there is none left: the database is copied, a
child appends an entry with a payload and writes the checkpoint's copy, and what it leaves is checked: the database is
whole, the log holds, entry and blob are both there or neither is, the checkpoint's file is the old one or the new one.
Exit code 1 where anything else is found.
"""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import django
from django.core.management import call_command

FOLDER = Path(tempfile.mkdtemp(prefix="topogate-faults-"))
os.environ |= {"DATABASE_URL": f"sqlite:///{FOLDER}/base/db", "DJANGO_SETTINGS_MODULE": "config.settings"}
(FOLDER / "base").mkdir()
django.setup()

# Models can only be imported once Django is set up.
from django.db import connection  # noqa: E402 # models need Django set up

from reviews.audit import Act, append  # noqa: E402 # models need Django set up
from reviews.models import Workspace  # noqa: E402 # models need Django set up
from reviews.whole_files import write_whole  # noqa: E402 # models need Django set up

CALLS = ("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "ftruncate", "fcntl", "close")
FAULTS = ("error=EIO", "error=ENOSPC", "signal=KILL")
OLD, NEW = b"old checkpoint\n" * 200, b"new checkpoint\n" * 300
PAYLOAD = {"words": "x" * 5000}


@dataclass(frozen=True)
class Left:
    """What a child left behind: how many entries more, whether the payload's blob is there, the checkpoint's bytes."""

    more: int
    is_kept: bool
    checkpoint: bytes
    faults: tuple[str, ...]


def main() -> int:
    """Run every fault; print a line for each kind of call."""
    shutil.rmtree(FOLDER / "base")
    (FOLDER / "base").mkdir()
    call_command("migrate", verbosity=0)
    workspace = Workspace.objects.create(slug="lab", title="Lab", log_origin="topogate/lab/faults")
    append(workspace, Act(action="test.first"))
    write_whole(FOLDER / "base" / "checkpoint", OLD)
    connection.close()
    bad = 0
    for call in CALLS:
        for fault in FAULTS:
            tried, found = 0, {"old": 0, "new": 0, "between": 0}
            for left in every(call, fault):
                tried += 1
                found[outcome(left)] += 1
                bad += len(left.faults)
                for said in left.faults:
                    sys.stdout.write(f"  {call} {tried}, {fault}: {said}\n")
            sys.stdout.write(f"{call:<10}{fault:<14}{tried:>4} calls: {found}\n")
            sys.stdout.flush()
    shutil.rmtree(FOLDER)
    sys.stdout.write(f"{bad} faults left something that is neither old nor new\n")
    return 1 if bad else 0


def outcome(left: Left) -> str:
    """Say how far the child came; between: the entry is there, and the checkpoint still the old one."""
    if left.more == 0:
        return "old"
    return "new" if left.checkpoint == NEW else "between"


def every(call: str, fault: str) -> Iterator[Left]:
    """Yield what is left for the first, second, third call of a kind, until there are no more."""
    for turn in range(1, 1000):
        place = FOLDER / "try"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(FOLDER / "base", place)
        if not struck(place, f"inject={call}:{fault}:when={turn}"):
            return
        yield found_in(place)


def struck(place: Path, inject: str) -> bool:
    """Let a child write while its calls are watched; return whether one of them was answered with the fault."""
    child = os.fork()
    if child == 0:
        write(place)
    os.waitpid(child, os.WUNTRACED)
    log = FOLDER / "trace"
    call = inject.split("=")[1].split(":")[0]
    watch = ["strace", "-p", str(child), "-o", str(log), "-e", f"trace={call}", "-e", inject]
    with subprocess.Popen(watch, stderr=subprocess.PIPE) as strace:
        if strace.stderr is None or b"attached" not in strace.stderr.readline():
            raise SystemExit("strace could not attach; it has to be installed and allowed to trace")
        os.kill(child, signal.SIGCONT)
        os.waitpid(child, 0)
        strace.wait()
    said = log.read_text()
    return "(INJECTED)" in said or "killed by SIGKILL" in said


def write(place: Path) -> None:
    """Stop until watched; append an entry, write the checkpoint, and end. Runs in the child and never returns."""
    try:
        connection.settings_dict["NAME"] = str(place / "db")
        os.kill(os.getpid(), signal.SIGSTOP)
        append(Workspace.objects.get(), Act(action="test.second", payload=PAYLOAD))
        connection.close()
        write_whole(place / "checkpoint", NEW)
    finally:
        os._exit(0)


def found_in(place: Path) -> Left:
    """Check a database that a child was interrupted in, as the next process that opens it finds it."""
    faults = []
    with closing(sqlite3.connect(place / "db")) as database:
        if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            faults.append("the database is damaged")
        rows = database.execute("SELECT data, prev, sha256, payload_id FROM reviews_auditentry ORDER BY seq").fetchall()
        blobs = dict(database.execute("SELECT sha256, data FROM reviews_blob").fetchall())
    before = "sha256:" + "0" * 64
    for data, prev, sha256, payload in rows:
        if prev != before or digest(data) != sha256 or json.loads(data)["prev"] != prev:
            faults.append("the log does not hold")
        if payload is not None and payload not in blobs:
            faults.append("an entry names a blob that is not there")
        before = sha256
    faults += ["a blob is not what its digest says" for sha256, data in blobs.items() if digest(data) != sha256]
    kept = len(blobs) > 0
    if kept != (len(rows) == 2):
        faults.append("entry and blob are not both there or both not")
    checkpoint = (place / "checkpoint").read_bytes()
    if checkpoint not in (OLD, NEW):
        faults.append("the checkpoint is neither the old one nor the new one")
    return Left(len(rows) - 1, kept, checkpoint, tuple(faults))


def digest(data: bytes) -> str:
    """Name bytes as the log does."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


if __name__ == "__main__":
    sys.exit(main())
