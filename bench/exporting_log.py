"""The halves of ``bench.exporting``: make the log, and export it; against the database of ``DATABASE_URL``."""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import islice

import django
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Models can only be imported once Django is set up.
from django.conf import settings  # noqa: E402 # models need Django set up
from django.db import connection  # noqa: E402 # models need Django set up

from bench.verify_bundle import entries, most_held  # noqa: E402 # models need Django set up
from planner.canonical import file_sha256  # noqa: E402 # models need Django set up
from planner.verifier.verify import verify  # noqa: E402 # models need Django set up
from reviews.audit import COLUMNS  # noqa: E402 # models need Django set up
from reviews.bundle.log_files import fields_of  # noqa: E402 # models need Django set up
from reviews.models import (  # noqa: E402 # models need Django set up
    AuditEntry,
    Blob,
    Export,
    ExportPiece,
    Membership,
    Person,
    Role,
    Workspace,
)
from reviews.services.export_runs import export_run  # noqa: E402 # models need Django set up
from reviews.services.exports import export_request  # noqa: E402 # models need Django set up
from tests.verifier.making import KEY, SIGNER  # noqa: E402 # models need Django set up
from tests.verifier.story import ORIGIN  # noqa: E402 # models need Django set up

MOST_RATIO, MOST_BYTES = 60.0, 600 * 10**6
MOST_SECONDS = 780
"""Less than a quarter of what a worker lets an export take (``LONG_TASK_SECONDS``)."""
TALK = 48
"""Entries of each reviewer beside the sign-off: 102 of a decision; with none, a bundle has four files for 6 entries."""
ROWS = 2_000


def insert(count: int, talk: int) -> None:
    """Insert a log of so many entries, with payloads and documents, and somebody who may export it."""
    workspace = Workspace.objects.create(slug="lab", title="Lab", log_origin=ORIGIN)
    audrey = Person.objects.create_user("audrey", display_name="Audrey")
    Membership.objects.create(workspace=workspace, person=audrey, role=Role.AUDITOR)
    start, seq = time.perf_counter(), 0
    made = entries(count, talk=talk, keep=lambda documents: blobs_insert(documents.values()))
    while lines := list(islice(made, ROWS)):
        blobs_insert(payload for _, payload in lines if payload is not None)
        AuditEntry.objects.bulk_create(row(workspace, line) for line, _ in lines)
        seq += len(lines)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as PostgreSQL does by itself in use, and the server of the bench does not
    print(f"{connection.vendor}: {seq:,} entries inserted in {time.perf_counter() - start:,.0f} s", flush=True)


def blobs_insert(contents: Iterable[bytes]) -> None:
    """Keep bytes under their digests."""
    blobs = [Blob(sha256=file_sha256(data), size_bytes=len(data), data=data) for data in contents]
    Blob.objects.bulk_create(blobs, ignore_conflicts=True)


def row(workspace: Workspace, line: bytes) -> AuditEntry:
    """Return an entry with its bytes and the columns that repeat them."""
    fields = fields_of(line)
    columns = {column: fields[field] for field, column in COLUMNS.items()}
    texts = {text: columns[text] or "" for text in ("subject", "actor_token", "team")}
    return AuditEntry(workspace=workspace, sha256=file_sha256(line), data=line, **columns | texts)


def plain(workspace: Workspace) -> float:
    """Return the seconds that reading every entry and payload and hashing them takes, and nothing else."""
    start, at = time.perf_counter(), -1
    rows = AuditEntry.objects.filter(workspace=workspace).order_by("seq").values_list("seq", "data", "payload__data")
    while page := list(rows.filter(seq__gt=at)[:ROWS]):
        for at, data, payload in page:  # noqa: B007 # the last one begins the next page
            hashlib.sha256(data).digest()
            hashlib.sha256(payload or b"").digest()
    return time.perf_counter() - start


def export() -> int:
    """Export the log as a worker does and verify what was written; print what it took."""
    settings.LOG_SIGNING_KEY = SIGNER.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    workspace, audrey = Workspace.objects.get(), Person.objects.get(login="audrey")
    yardstick = plain(workspace)
    asked = export_request(actor=audrey, workspace=workspace)
    start = time.perf_counter()
    export_run(asked.pk)
    taken, held = time.perf_counter() - start, most_held()
    written = Export.objects.get(pk=asked.pk)
    print(
        f"{written.entries_done:,} entries, {written.state}, bundle {written.size_bytes / 1e6:,.0f} MB {written.error}"
    )
    print(f"{'read and hash every row':<32}{yardstick:>8.1f} s")
    print(f"{'export':<32}{taken:>8.1f} s{taken / yardstick:>8.1f}x, at most {MOST_RATIO:.0f}x and {MOST_SECONDS} s")
    print(f"{'most memory held':<32}{held / 1e6:>8.0f} MB, at most {MOST_BYTES / 1e6:.0f} MB")
    with tempfile.TemporaryFile() as file:
        for piece in ExportPiece.objects.filter(export=written).order_by("number").values_list("data", flat=True):
            file.write(piece)
        code, headline, *_ = verify(file, [KEY])
    print(headline, flush=True)
    is_kept = taken <= min(MOST_SECONDS, MOST_RATIO * yardstick) and held <= MOST_BYTES
    return 0 if is_kept and code == 0 else 1


def main() -> int:
    """Do one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("insert", "export"))
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--talk", type=int, default=TALK)
    options = parser.parse_args()
    if options.step == "export":
        return export()
    insert(options.entries, options.talk)
    return 0


if __name__ == "__main__":
    sys.exit(main())
