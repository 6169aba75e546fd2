"""Puts a bundle together: log, keys, checkpoints, proofs, statements, documents, forms for people, verifier, trailer.

The order is that of dependence: first the log, which is replayed while it is written; everything after rests on what
that found. Nothing is held that grows with the log but its leaf hashes and what the rules remember.
"""

import base64
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import BinaryIO

from planner.canonical import canonical_bytes
from reviews.blobs import blob_read
from reviews.bundle.archive import MOST_BYTES, Archive, fitting
from reviews.bundle.log_files import Progress, WrittenLog, write_log
from reviews.bundle.record import decision_record
from reviews.bundle.report import report_begin, report_decision, report_end
from reviews.bundle.reviewed import (
    Names,
    ReviewedRevision,
    decision_numbers,
    planned_revisions,
    reviewed_decision,
    reviews_of,
)
from reviews.bundle.tables import entries_csv, signoffs_csv
from reviews.models import AuditEntry, Checkpoint
from reviews.statements.intoto import envelope
from reviews.statements.planning import gate_results, verification_summary
from reviews.statements.review import topology_review
from reviews.transparency.merkle import inclusion_proof, nodes_of
from reviews.transparency.notes import Signer

SCHEMA = "topogate.bundle/v1"
TRAILER = "TRAILER.json"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is exported: the log as far as a checkpoint covers it, of one decision or of all (None)."""

    checkpoint: Checkpoint
    signer: Signer
    decision: int | None = None
    most_bytes: int = MOST_BYTES

    @property
    def scope(self) -> str:
        """Its name for people."""
        return "all decisions" if self.decision is None else f"D-{self.decision:04d}"


def bundle_write(file: BinaryIO, wanted: Wanted, progress: Progress = lambda done: None) -> int:
    """Write a bundle into an open file that is empty; return its size in bytes. ``progress`` counts entries.

    Raises:
        TamperedError: the log or something that it names is not what was stored.
        TooLargeError: it does not fit.
    """
    archive = Archive(file, most_bytes=wanted.most_bytes)
    written = write_log(archive, wanted.checkpoint, wanted.decision, progress)
    _signatures(archive, wanted, written)
    names = Names()
    with (
        tempfile.TemporaryFile() as statements,
        tempfile.TemporaryFile() as report,
    ):
        report.write(report_begin(wanted.checkpoint, wanted.scope))
        count, workspace, size = 0, wanted.checkpoint.workspace, wanted.checkpoint.size
        reviews = reviews_of(written.rules)
        for number in decision_numbers(written.rules):
            newest: ReviewedRevision | None = None
            for newest in planned_revisions(workspace, written.rules, reviews, number, size):
                for line in _statements(newest, wanted):
                    statements.write(fitting(line) + b"\n")
                    count += 1
            decision = reviewed_decision(workspace, number, size, newest)
            report.write(report_decision(decision, names))
            archive.add(f"decisions/{decision.label}.md", [decision_record(decision, names)])
        report.write(report_end())
        archive.add("statements.jsonl", _blocks(statements))
        archive.add("report.html", _blocks(report))
    _documents(archive, written)
    archive.add("tables/entries.csv", entries_csv(wanted.checkpoint, wanted.decision, names))
    archive.add("tables/signoffs.csv", signoffs_csv(wanted.checkpoint, wanted.decision, names))
    archive.add("verify.py", [resources.files("planner.verifier").joinpath("verify.py").read_bytes()])
    trailer = {
        "schema": SCHEMA,
        "entries": wanted.checkpoint.size,
        "hashes": written.rules.hidden,
        "statements": count,
        "files": sorted((*archive.names, TRAILER)),
    }
    archive.add(TRAILER, [canonical_bytes(trailer)])
    return archive.seal(wanted.signer)


def _signatures(archive: Archive, wanted: Wanted, written: WrittenLog) -> None:
    """Write the newest checkpoint, the keys that the log named, and proofs that show one entry without the others."""
    checkpoint = wanted.checkpoint
    earlier = Checkpoint.objects.filter(workspace=checkpoint.workspace, size__lt=checkpoint.size)
    keys = dict.fromkeys((checkpoint.key, *earlier.order_by("-size").values_list("key", flat=True).distinct()))
    archive.add("log/newest.checkpoint", [bytes(checkpoint.note)])
    archive.add("log/keys.txt", [f"{key}\n".encode() for key in keys])
    if wanted.decision is not None:
        archive.add("log/proofs.jsonl", _proofs(checkpoint, wanted.decision, written))


def _proofs(checkpoint: Checkpoint, decision: int, written: WrittenLog) -> Iterator[bytes]:
    node, size = nodes_of(written.leaves), checkpoint.size
    own = AuditEntry.objects.filter(workspace=checkpoint.workspace, decision_number=decision, seq__lt=size)
    for seq in own.order_by("seq").values_list("seq", flat=True):
        hashes = [base64.b64encode(one).decode() for one in inclusion_proof(node, seq, size)]
        yield canonical_bytes({"seq": seq, "size": size, "hashes": hashes}) + b"\n"


def _statements(revision: ReviewedRevision, wanted: Wanted) -> Iterator[bytes]:
    """Yield the envelopes about one planned revision: each trial, the plan, each time that it was put into force."""
    inputs = [envelope(tree, wanted.signer) for tree in gate_results(revision.facts, revision.plan)]
    yield from inputs
    yield envelope(verification_summary(revision.facts, revision.plan, inputs), wanted.signer)
    origin = wanted.checkpoint.workspace.log_origin
    for seq, review in revision.reviews.items():
        yield envelope(topology_review(revision.facts, origin=origin, entry=seq, review=review), wanted.signer)


def _documents(archive: Archive, written: WrittenLog) -> None:
    """Write contract, evidence, plan and policy of every revision under the digests that the entries name."""
    revisions = [said for one in written.rules.decisions.values() for said in one["revisions"].values()]
    for digest in sorted({*written.rules.documents, *(said["policy"] for said in revisions)}):
        archive.add(f"documents/{digest.removeprefix('sha256:')}.json", [blob_read(digest, "document")])


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(_BLOCK), b"")
