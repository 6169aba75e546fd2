"""Puts a bundle together: log, keys, checkpoints, proofs, statements, documents, forms for people, verifier, trailer.

The order is that of dependence: first the log, which is replayed while it is written; everything after rests on what
that found. What does not hold ends no export: it is written as it is stored, so that the verifier names it, and what
cannot be stated or told of it is left out and named in the report. Nothing is held that grows with the log but its leaf
hashes, which rows are about which decision, and what the rules remember.
"""

import base64
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain
from typing import BinaryIO

from django.db.models import QuerySet

from planner.canonical import canonical_bytes, file_sha256
from planner.decision_numbers import decision_label, revision_label
from reviews.bundle.archive import MOST_BYTES, Archive, fitting
from reviews.bundle.kept_files import files_write, kept_bytes
from reviews.bundle.log_files import WrittenLog, write_log
from reviews.bundle.readme import README
from reviews.bundle.record import decision_record
from reviews.bundle.report import report_begin, report_decision, report_end
from reviews.bundle.reviewed import (
    Names,
    ReviewedRevision,
    decision_numbers,
    entries_about,
    planned_numbers,
    planned_revision,
    reviewed_decision,
)
from reviews.bundle.tables import entries_csv, signoffs_csv
from reviews.bundle.work import DOCUMENT, REVISION, Progress, Work, work_of
from reviews.errors import TamperedError
from reviews.models import AuditEntry, Blob, Checkpoint
from reviews.statements.intoto import envelope
from reviews.statements.planning import gate_results, verification_summary
from reviews.statements.review import topology_review
from reviews.transparency.merkle import inclusion_proof, nodes_of, root_at
from reviews.transparency.notes import Signer

SCHEMA = "topogate.bundle/v1"
TRAILER = "TRAILER.json"
MOST_FAULTS = 20
"""How many things that do not hold are named; one is enough to doubt all."""
UNTELLABLE = (TamperedError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What telling of stored values that are not as they have to be raises."""
_BLOCK = 1 << 20
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is exported: the log of one decision or of all (None), as far as a checkpoint covers it.

    ``with_files`` asks for the files behind evidence and diagnoses; without, they are listed.
    ``notes`` are files with checkpoints beside the newest one. ``unsigned`` says why the log could not be signed as it
    is now; then all entries are exported with the last checkpoint that was.
    """

    checkpoint: Checkpoint
    signer: Signer
    decision: int | None = None
    with_files: bool = False
    most_bytes: int = MOST_BYTES
    notes: dict[str, bytes] = field(default_factory=dict)
    unsigned: str = ""

    @property
    def scope(self) -> str:
        """Its name for people."""
        return "all decisions" if self.decision is None else decision_label(self.decision)

    @property
    def entries(self) -> QuerySet[AuditEntry]:
        """The entries that are exported."""
        entries = AuditEntry.objects.filter(workspace=self.checkpoint.workspace)
        return entries if self.unsigned else entries.filter(seq__lt=self.checkpoint.size)

    @property
    def work(self) -> int:
        """How much work it is."""
        planned = self.entries.filter(action="revision.planned")
        return work_of(
            entries=self.entries.count(),
            revisions=(planned if self.decision is None else planned.filter(decision_number=self.decision)).count(),
            file_bytes=kept_bytes(self.checkpoint.workspace) if self.with_files else 0,
        )


@dataclass(frozen=True, slots=True)
class Written:
    """A bundle that is written: how many entries, its size in bytes, and what of the log or beside it does not hold."""

    entries: int
    size_bytes: int
    faults: tuple[str, ...]


def bundle_write(file: BinaryIO, wanted: Wanted, progress: Progress = lambda share: None) -> Written:
    """Write a bundle into an open file that is empty. ``progress`` is told the share of all of it that is written.

    Raises:
        TooLargeError: it does not fit.
    """
    archive, names, work = Archive(file, most_bytes=wanted.most_bytes), Names(), Work(wanted.work, progress)
    origin = wanted.checkpoint.workspace.log_origin
    written = write_log(archive, wanted.entries, origin, wanted.decision, work)
    faults = list(_log_faults(wanted, written))
    _signatures(archive, wanted, written, whole=not faults)
    faults += _documents(archive, written, work)
    with tempfile.TemporaryFile() as statements, tempfile.TemporaryFile() as report:
        count = _decisions(archive, wanted, written, names, statements, report, faults, work)
        archive.add("statements.jsonl", _blocks(statements))
        begin = report_begin(wanted.checkpoint, wanted.scope, faults[:MOST_FAULTS])
        archive.add("report.html", chain([begin], _blocks(report), [report_end()]))
    archive.add("tables/entries.csv", entries_csv(wanted.entries, wanted.decision, names, work))
    archive.add("tables/signoffs.csv", signoffs_csv(wanted.entries, wanted.decision, names, work))
    faults += files_write(archive, wanted.checkpoint.workspace, written.rules, work, included=wanted.with_files)
    archive.add("README.md", [README.encode()])
    archive.add("verify.py", [resources.files("planner.verifier").joinpath("verify.py").read_bytes()])
    trailer = {
        "schema": SCHEMA,
        "entries": written.lines,
        "hashes": written.hidden,
        "statements": count,
        "files": sorted((*archive.names, TRAILER)),
    }
    archive.add(TRAILER, [canonical_bytes(trailer)])
    return Written(written.lines, archive.seal(wanted.signer), tuple(faults[:MOST_FAULTS]))


def _log_faults(wanted: Wanted, written: WrittenLog) -> Iterator[str]:
    size, root = wanted.checkpoint.size, bytes(wanted.checkpoint.root)
    if written.fault is not None:
        yield f"Entry {written.bad_seq} {written.fault.args[0]}."
    elif written.lines < size or not size or root_at(nodes_of(written.leaves[:size]), size) != root:
        yield f"The log is not the one that was signed at {size:,} entries."
    if wanted.unsigned:
        yield f"The log could not be signed as it is now: {wanted.unsigned}"


def _decisions(
    archive: Archive,
    wanted: Wanted,
    written: WrittenLog,
    names: Names,
    statements: BinaryIO,
    report: BinaryIO,
    faults: list[str],
    work: Work,
) -> int:
    """Write what is stated and told of every decision; return how many statements that are. Appends to ``faults``."""
    count = 0
    for number in decision_numbers(written.rules):
        newest: ReviewedRevision | None = None
        entries = entries_about(written.own.get(number, ()))
        for revision in work.over(planned_numbers(written.rules, number), REVISION):
            try:
                planned = planned_revision(written.rules, number, revision, entries)
                lines = list(_statements(planned, wanted))
            except UNTELLABLE as error:
                faults.append(f"{revision_label(number, revision)} cannot be stated. {_said(error)}")
                continue
            newest = planned
            count += len(lines)
            for line in lines:
                statements.write(fitting(line) + b"\n")
        try:
            decision = reviewed_decision(number, entries, newest)
            told, record = report_decision(decision, names), decision_record(decision, names)
        except UNTELLABLE as error:
            faults.append(f"{decision_label(number)} cannot be told. {_said(error)}")
            continue
        report.write(told)
        archive.add(f"decisions/{decision.label}.md", [record])
    return count


def _said(error: Exception) -> str:
    return error.message if isinstance(error, TamperedError) else f"Its entries are not as they have to be: {error!r}."


def _signatures(archive: Archive, wanted: Wanted, written: WrittenLog, *, whole: bool) -> None:
    """Write the checkpoints, the keys that signed them, and proofs that show one entry of a whole log by itself."""
    checkpoint = wanted.checkpoint
    earlier = Checkpoint.objects.filter(workspace=checkpoint.workspace, size__lt=checkpoint.size)
    keys = dict.fromkeys((checkpoint.key, *earlier.order_by("-size").values_list("key", flat=True).distinct()))
    for name, note in wanted.notes.items():
        archive.add(name, [note])
    archive.add("log/keys.txt", [f"{key}\n".encode() for key in keys])
    if wanted.decision is not None and whole:
        archive.add("log/proofs.jsonl", _proofs(wanted, written))


def _proofs(wanted: Wanted, written: WrittenLog) -> Iterator[bytes]:
    node, size, own = nodes_of(written.leaves), wanted.checkpoint.size, written.own.get(wanted.decision or 0, ())
    for at in range(0, len(own), 500):
        rows = wanted.entries.filter(pk__in=own[at : at + 500]).order_by("seq")
        for seq in rows.values_list("seq", flat=True):
            hashes = [base64.b64encode(one).decode() for one in inclusion_proof(node, seq, size)]
            yield canonical_bytes({"seq": seq, "size": size, "hashes": hashes}) + b"\n"


def _statements(revision: ReviewedRevision, wanted: Wanted) -> Iterator[bytes]:
    """Yield the envelopes about one planned revision: each trial, the plan, each time that it was put into force."""
    inputs = [envelope(tree, wanted.signer) for tree in gate_results(revision.facts, revision.plan)]
    yield from inputs
    yield envelope(verification_summary(revision.facts, revision.plan, inputs), wanted.signer)
    for review in revision.said["reviews"]:
        yield envelope(topology_review(revision.facts, review), wanted.signer)


def _documents(archive: Archive, written: WrittenLog, work: Work) -> Iterator[str]:
    """Write contract, evidence, plan and policy of every revision as they are stored; yield which are not as named."""
    revisions = [said for one in written.rules.decisions.values() for said in one["revisions"].values()]
    named = {*written.rules.documents, *(said["policy"] for said in revisions)}
    fit = sorted(one for one in named if isinstance(one, str) and _DIGEST.fullmatch(one))
    for digest in work.over(fit, DOCUMENT):
        data = Blob.objects.filter(pk=digest).values_list("data", flat=True).first()
        where = f"Entry {written.rules.documents.get(digest, 'of the policy')} names {digest}"
        if data is None:
            yield f"{where}, which is gone."
            continue
        archive.add(f"documents/{digest.removeprefix('sha256:')}.json", [bytes(data)])
        if file_sha256(bytes(data)) != digest:
            yield f"{where}, and something else is stored there."


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(_BLOCK), b"")
