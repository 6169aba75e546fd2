"""Files of what runs now are read for the rank that others wait for, and what is found is kept with them.

Rules kept: files are read and copied without secrets before the workspace is locked; of a file in which nothing of use
is found no byte is kept, and it refuses the whole request by name; ranks are held against what is in force, else
against the newest revision. A diagnosis is kept as it is found: an incident links to it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from django.db.models import Max

from planner.errors import DocumentRefusedError
from planner.importers.source import Source
from planner.observations.decided import decided
from planner.observations.diagnosis import Diagnosis as Found
from planner.observations.diagnosis import Kind, Reading, diagnosed, diagnosis_tree
from planner.observations.slowest import LATE_US
from planner.version import PLANNER_VERSION
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_keep
from reviews.clock import database_now
from reviews.errors import Finding, InvalidRequestError, is_prose, length_of, printable
from reviews.models import Attachment, Decision, Diagnosis, DiagnosisFile, Person, Revision, Workspace
from reviews.models.diagnoses import POINTS_AT_LENGTH
from reviews.models.draft_files import FILE_NAME_LENGTH
from reviews.policies.permissions import may_report
from reviews.selectors.decision_page import decision_named
from reviews.selectors.diagnoses import files_behind
from reviews.selectors.maps import MapSource, map_source
from reviews.selectors.people import standing_of
from reviews.services.acting import PROSE, PROSE_LENGTH, require
from reviews.services.draft_files import Given
from reviews.services.people import UNTRACED, Trace
from reviews.uploads import IN_MEMORY_BYTES, attachment_blocks, kept_copy

MOST_FILES = 128
MOST_BYTES = 8 * 2**20
"""Of all files of a diagnosis together, as they are kept: reading them takes seconds of one request."""
MOST_LATE_US = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody wants to know. ``trial`` is the one in force, or the selected one, where it is left out.

    ``with_evidence`` asks to read the files behind the evidence as well; those of no use are left out. ``late_us`` is
    the waiting in microseconds that counts as lateness, as it was written; the usual where nothing was.
    """

    files: Sequence[Given]
    with_evidence: bool = False
    trial: str = ""
    late_us: str = ""
    note: str = ""

    @property
    def late(self) -> int | None:
        """The waiting that counts as lateness in microseconds; None where it is no such number."""
        text = self.late_us.strip() or f"{LATE_US:.0f}"
        found = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
        return found if 1 <= found <= MOST_LATE_US else None


@dataclass(slots=True)
class _Kept:
    row: DiagnosisFile
    data: bytes


def diagnosis_make(
    *, actor: Person, workspace: Workspace, number: int, asked: Asked, trace: Trace = UNTRACED
) -> Diagnosis:
    """Read files for the slowest rank of a decision, and keep them with what was found.

    The same files with the same question and note by the same person are the diagnosis that there is: nothing is
    found in them that was not, as after a double click.

    Raises:
        NotFoundError: no such decision or trial, or the actor is no member of the workspace.
        NotAllowedError: the actor only reads.
        InvalidRequestError: with every file that cannot be read or says nothing, and what else is wrong.
    """
    standing = standing_of(actor, workspace)
    attempt = trace.act("diagnosis.refused", standing.token, decision=number)
    with refusals_recorded(workspace, attempt):
        decision = decision_named(workspace, number)
        require(may_report(standing))
        source = _held_against(actor, workspace, number, asked.trial)
        reading, kept = _read(asked, source)
        moe = source.contract.identity.model.architecture == "moe"
        found = diagnosed(reading, decided(source.trial, moe=moe), late_us=asked.late or LATE_US)
        with workspace_write(workspace.pk):
            made = _new(actor, decision, source, asked, found)
            earlier = _earlier(made, kept)
            if earlier is not None:
                return earlier
            made.save(force_insert=True)
            _store_files(made, kept)
            append(workspace, _said(attempt, made, kept, source))
    return made


def _held_against(actor: Person, workspace: Workspace, number: int, trial: str) -> MapSource:
    """Return the revision in force with its trial, else the newest with its selected one."""
    source = map_source(actor=actor, workspace=workspace, number=number, trial_id=trial)
    in_force = source.page.activation
    if in_force is None:
        return source
    return map_source(
        actor=actor,
        workspace=workspace,
        number=number,
        revision=in_force.revision,
        trial_id=trial or in_force.trial,
    )


def _read(asked: Asked, source: MapSource) -> tuple[Reading, list[_Kept]]:
    reading, kept, problems = Reading(), list[_Kept](), list(_wrong(asked))
    for given in asked.files[:MOST_FILES]:
        left = MOST_BYTES - sum(one.row.size_bytes for one in kept)
        found = _taken(given, reading, left)
        if isinstance(found, _Kept):
            kept.append(found)
        else:
            problems.extend(found)
    if asked.with_evidence and not problems:
        try:
            kept.extend(_behind(source, reading, MOST_BYTES - sum(one.row.size_bytes for one in kept)))
        except DocumentRefusedError as refused:
            problems.extend(_unreadable("evidence", refused))
    if not kept and not problems:
        problems.append(_of_no_use("files", "no such file"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return reading, kept


def _taken(given: Given, reading: Reading, left: int) -> _Kept | tuple[Finding, ...]:
    """Return an uploaded file as it is kept, or why it is not."""
    name = _name(given.name)
    if given.size_bytes > left:
        expected = f"at most {MOST_BYTES:,} bytes in all; `topogate observe slowest` reads more"
        return (Finding("request", "request/file_size", name, expected, f"{given.size_bytes:,} bytes more"),)
    try:
        return _copied(given, name, reading) or (_of_no_use(name, "none of them"),)
    except DocumentRefusedError as refused:
        return _unreadable(name, refused)


def _unreadable(name: str, refused: DocumentRefusedError) -> tuple[Finding, ...]:
    """Return what is wrong with a file, with its name."""
    places = [(problem, f"{name} {problem.pointer}".strip()) for problem in refused.problems]
    return tuple(Finding.of(problem, "request", pointer=at) for problem, at in places)


def _of_no_use(name: str, found: str) -> Finding:
    expected = "a trace of collectives, an answer of ncclras, or a log with a collective that timed out"
    return Finding("request", "request/diagnosis_file", name, expected, found)


def _wrong(asked: Asked) -> Iterator[Finding]:
    if len(asked.files) > MOST_FILES:
        found = f"{len(asked.files)} files"
        yield Finding("request", "request/file_count", "files", f"at most {MOST_FILES} files", found)
    if asked.late is None:
        expected = f"a whole number of microseconds from 1 to {MOST_LATE_US:,}"
        yield Finding("request", "request/late_us", "late_us", expected, printable(asked.late_us))
    if asked.note.strip() and not is_prose(asked.note.strip(), PROSE_LENGTH):
        yield Finding("request", "request/note", "note", PROSE, length_of(asked.note))


def _copied(given: Given, name: str, reading: Reading) -> _Kept | None:
    """Return an uploaded file as it may be kept; None where nothing of use is in it.

    Raises:
        DocumentRefusedError: it cannot be read.
    """
    with kept_copy(name, given.blocks, salt=None) as copy:
        # A spooled file is read and sought in like any other.
        kind = reading.add(Source(copy.name, cast(BinaryIO, copy.handle)))
        if kind is None:
            return None
        row = DiagnosisFile(
            name=_name(copy.name),
            kind=kind,
            sha256=copy.sha256,
            size_bytes=copy.size_bytes,
            uploaded_sha256=copy.uploaded_sha256,
            removed=copy.removed,
        )
        return _Kept(row, b"".join(copy.pieces()))


def _behind(source: MapSource, reading: Reading, left: int) -> Iterator[_Kept]:
    """Yield the files behind the evidence that are of use, as far as there is room.

    Raises:
        DocumentRefusedError: one of them cannot be read.
    """
    for row in files_behind(source.page.shown.id)[:MOST_FILES]:
        kind = _of_use(row, reading) if row.size_bytes <= left else None
        if kind is not None:
            left -= row.size_bytes
            same = {"sha256": row.sha256, "size_bytes": row.size_bytes, "uploaded_sha256": row.uploaded_sha256}
            yield _Kept(DiagnosisFile(name=row.name, kind=kind, attachment=row, removed=row.removed, **same), b"")


def _of_use(row: Attachment, reading: Reading) -> Kind | None:
    with SpooledTemporaryFile(IN_MEMORY_BYTES) as whole:
        for block in attachment_blocks(row.pk, row.name):
            whole.write(block)
        whole.seek(0)
        return reading.add(Source(row.name, cast(BinaryIO, whole)))


def _earlier(made: Diagnosis, kept: Sequence[_Kept]) -> Diagnosis | None:
    """Return the diagnosis that says the same of the same files, if the person made one."""
    same = ("decision", "revision", "trial", "late_us", "note", "result", "planner_version", "person")
    rows = Diagnosis.objects.filter(**{name: getattr(made, name) for name in same}).prefetch_related("files")
    files = sorted((one.row.name, one.row.sha256) for one in kept)
    return next((row for row in rows if sorted((one.name, one.sha256) for one in row.files.all()) == files), None)


def _new(actor: Person, decision: Decision, source: MapSource, asked: Asked, found: Found) -> Diagnosis:
    """Return the diagnosis as it would be stored."""
    newest = Diagnosis.objects.filter(decision=decision).aggregate(newest=Max("number"))["newest"] or 0
    slowest = found.slowest
    return Diagnosis(
        decision=decision,
        number=newest + 1,
        revision=Revision.objects.get(pk=source.page.shown.id),
        trial=source.trial_id,
        late_us=asked.late or int(LATE_US),
        note=asked.note.strip(),
        pattern=slowest.pattern if slowest else "",
        points_at=_points_at(found)[:POINTS_AT_LENGTH],
        result=blob_keep(json.dumps(diagnosis_tree(found)).encode()),
        planner_version=PLANNER_VERSION,
        person=actor,
        made_at=database_now(),
    )


def _points_at(found: Found) -> str:
    """Name the rank with its place, or the nodes, that the pattern points at."""
    slowest = found.slowest
    if slowest is None or slowest.rank is None:
        return ", ".join(slowest.nodes) if slowest else ""
    at = found.places.get(slowest.rank)
    place = f"{at.node} {at.device}".strip() if at else ""
    return f"rank {slowest.rank}, {place}" if place else f"rank {slowest.rank}"


def _store_files(made: Diagnosis, kept: Sequence[_Kept]) -> None:
    for number, one in enumerate(kept, start=1):
        one.row.diagnosis, one.row.number = made, number
        if one.row.attachment_id is None:
            one.row.blob = blob_keep(one.data)
    DiagnosisFile.objects.bulk_create(one.row for one in kept)


def _said(attempt: Act, made: Diagnosis, kept: Sequence[_Kept], source: MapSource) -> Act:
    return replace(
        attempt,
        action="diagnosis.made",
        revision=source.page.shown.number,
        subject=source.page.shown.subject,
        reason=made.note or None,
        payload_type="topogate.diagnosis/v1",
        payload={
            "number": made.number,
            "trial": made.trial,
            "late_us": made.late_us,
            "pattern": made.pattern,
            "points_at": made.points_at,
            "planner_version": made.planner_version,
            "diagnosis": made.result_id,
            "files": [
                {"name": row.name, "kind": row.kind, "sha256": row.sha256, "uploaded_sha256": row.uploaded_sha256}
                for row in (one.row for one in kept)
            ],
        },
    )


def _name(name: str) -> str:
    last = name.replace("\\", "/").rpartition("/")[2]
    return printable(last, FILE_NAME_LENGTH) or "unnamed"
