"""Files of drafts of evidence: taken in and taken out again.

Rules kept: secrets and prompts are taken out before a byte is stored; bytes are stored outside the workspace's lock
and become part of the draft inside it; small files are read in the request, large ones by a worker
(``reviews.services.draft_reading``); of a file that no importer knows no bytes are kept. The same bytes again change
nothing. Each file is judged by itself: one that is refused keeps no other from being taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings
from django.db.models import Sum

from planner import builder
from planner.builder.limits import MAX_FILES
from planner.errors import DocumentRefusedError
from reviews.building import Body, body_bytes, body_of, read_bytes, reading_bytes, refusal_of
from reviews.clock import database_now
from reviews.errors import Finding, NotFoundError, printable
from reviews.facts import Authentication
from reviews.models import DocumentKind, Draft, DraftFile, FileState, Person, Workspace
from reviews.models.draft_files import FILE_NAME_LENGTH
from reviews.models.fields import asked_digest
from reviews.selectors.evidence_drafts import work_of
from reviews.services.draft_reading import files_wake_after_commit
from reviews.services.drafts import DraftChange, draft_changing
from reviews.uploads import MAX_ATTACHMENT_BYTES, Blocks, KeptCopy, kept_copy, pieces_store

READ_AT_ONCE_BYTES = 2 * 2**20
"""Files up to this size are read in the request."""
READ_AT_ONCE_TOTAL = 8 * 2**20
"""As much as one request reads; what is more waits for a worker."""


@dataclass(frozen=True, slots=True)
class Given:
    """A file as it was sent."""

    name: str
    size_bytes: int
    blocks: Blocks


Verdict = Literal["read", "waiting", "unknown", "again", "refused"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: ``again`` was in the draft already, ``refused`` was not taken, with the reason."""

    name: str
    verdict: Verdict
    sha256: str = ""
    problems: tuple[Finding, ...] = ()


@dataclass(slots=True)
class _Intake:
    """One request's files on their way in."""

    draft: Draft
    body: Body
    known: dict[str, str]
    total_bytes: int
    rows: list[DraftFile] = field(default_factory=list)
    readings: dict[str, builder.DraftFile] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    read_bytes: int = 0


def files_add(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    files: Sequence[Given],
    seen_version: int | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> tuple[Outcome, ...]:
    """Take files into a draft; the answer says of each what became of it, in the order given.

    Raises:
        NotFoundError, NotAllowedError, ConflictError: see ``draft_changing``.
        InvalidRequestError: the draft would hold more runs or values than a draft may; none is taken.
    """
    asked: dict[str, Any] = {
        "actor": actor,
        "workspace": workspace,
        "draft_id": draft_id,
        "kind": DocumentKind.EVIDENCE,
        "seen_version": seen_version,
        "action": "draft.files_added",
        "request_id": request_id,
        "authentication": authentication,
    }
    with draft_changing(**asked) as change:
        change.nothing()
        intake = _begun(change.draft)
    try:
        for given in files:
            _take(intake, given)
        with draft_changing(**asked) as change:
            _join(intake, change)
    finally:
        # Whatever ends the request, nothing half stays: rows that never joined the draft go with their pieces.
        DraftFile.objects.filter(pk__in=[row.pk for row in intake.rows], state=FileState.ARRIVING).delete()
    return tuple(intake.outcomes)


def _begun(draft: Draft) -> _Intake:
    present = DraftFile.objects.filter(draft=draft)
    kept = present.exclude(state__in=(FileState.UNKNOWN, FileState.ARRIVING))
    return _Intake(
        draft=draft,
        body=body_of(bytes(draft.body)),
        known=dict(present.exclude(state=FileState.ARRIVING).values_list("sha256", "name")),
        total_bytes=kept.aggregate(total=Sum("size_bytes"))["total"] or 0,
    )


def _take(intake: _Intake, given: Given) -> None:
    """Judge one file, and store it apart from the draft where it is taken."""
    name = _name(given.name)
    too_much = _limits(intake, given, name)
    if too_much:
        intake.outcomes.append(Outcome(name, "refused", problems=too_much))
        return
    salt = bytes.fromhex(intake.body.hosts_salt) if intake.body.hosts_salt else None
    try:
        with kept_copy(name, given.blocks, salt=salt) as copy:
            if copy.sha256 in intake.known:
                intake.outcomes.append(Outcome(name, "again", copy.sha256))
                return
            _store(intake, copy)
    except DocumentRefusedError as refused:
        intake.outcomes.append(Outcome(name, "refused", problems=refusal_of(refused).problems))


def _limits(intake: _Intake, given: Given, name: str) -> tuple[Finding, ...]:
    problems = []
    if given.size_bytes > MAX_ATTACHMENT_BYTES:
        most = f"at most {MAX_ATTACHMENT_BYTES:,} bytes"
        problems.append(Finding("request", "request/file_size", name, most, f"{given.size_bytes:,} bytes"))
    total = intake.total_bytes + given.size_bytes
    if total > settings.DRAFT_TOTAL_BYTES:
        most = f"files of at most {settings.DRAFT_TOTAL_BYTES:,} bytes in a draft"
        problems.append(Finding("request", "request/file_size", name, most, f"{total:,} bytes with this one"))
    if len(intake.known) >= MAX_FILES:
        most = f"at most {MAX_FILES} files in a draft"
        problems.append(Finding("request", "request/file_count", name, most, "one more"))
    return tuple(problems)


def _store(intake: _Intake, copy: KeptCopy) -> None:
    """Store a file that is new to the draft; a small one is read first, and not kept where nobody knows it."""
    reading = None
    if copy.size_bytes <= READ_AT_ONCE_BYTES and intake.read_bytes + copy.size_bytes <= READ_AT_ONCE_TOTAL:
        intake.read_bytes += copy.size_bytes
        reading = read_bytes(copy.name, copy.handle)  # type: ignore[arg-type] # a spooled file is read like any other
    name = _name(copy.name)
    row = DraftFile.objects.create(
        draft=intake.draft,
        name=name,
        sha256=copy.sha256,
        size_bytes=copy.size_bytes,
        uploaded_sha256=copy.uploaded_sha256,
        uploaded_bytes=copy.uploaded_bytes,
        removed=copy.removed,
        state=FileState.ARRIVING,
        reading=reading_bytes(reading) if reading else None,
        added_at=database_now(),
    )
    intake.rows.append(row)
    if reading is None or reading.recognised:
        pieces_store(row, copy)
        intake.total_bytes += copy.size_bytes
    if reading is not None:
        intake.readings[copy.sha256] = reading
    intake.known[copy.sha256] = name
    verdict: Verdict = "waiting" if reading is None else "read" if reading.recognised else "unknown"
    problems = _reading_problems(reading) if reading and not reading.recognised else ()
    intake.outcomes.append(Outcome(name, verdict, copy.sha256, problems))


def _reading_problems(reading: builder.DraftFile) -> tuple[Finding, ...]:
    return tuple(
        Finding("request", problem.code, problem.pointer, problem.expected, problem.found, problem.line, problem.column)
        for problem in reading.problems
    )


def _join(intake: _Intake, change: DraftChange) -> None:
    """Make the files part of the draft, under its lock: what another request added meanwhile is there already."""
    present = set(
        DraftFile.objects.filter(draft=change.draft).exclude(state=FileState.ARRIVING).values_list("sha256", flat=True)
    )
    doubled = [row for row in intake.rows if row.sha256 in present]
    DraftFile.objects.filter(pk__in=[row.pk for row in doubled]).delete()
    joined = [row for row in intake.rows if row.sha256 not in present]
    if not joined:
        change.nothing()
        return
    readings = [intake.readings[row.sha256] for row in joined if row.sha256 in intake.readings]
    known = [reading for reading in readings if reading.recognised]
    if known:
        work, body = work_of(change.draft)
        try:
            change.body = body_bytes(body, builder.add_files(work.draft, work.contract, known).draft)
        except DocumentRefusedError as refused:
            raise refusal_of(refused) from refused
    waiting = []
    for row in joined:
        reading = intake.readings.get(row.sha256)
        row.state = (
            FileState.WAITING if reading is None else FileState.READ if reading.recognised else FileState.UNKNOWN
        )
        row.woken_at = database_now() if reading is None else None
        row.save(update_fields=["state", "woken_at"])
        waiting += [row.pk] if reading is None else []
    change.payload = {"files": [_recorded(row) for row in joined]}
    files_wake_after_commit(waiting)


def _recorded(row: DraftFile) -> dict[str, Any]:
    """Return what the log says of a file: digests and size, never its name or content."""
    return {
        "sha256": row.sha256,
        "uploaded_sha256": row.uploaded_sha256,
        "bytes": row.size_bytes,
        "state": str(row.state),
    }


def _name(name: str) -> str:
    """Return a file's name as it is shown and stored: the last part, printable, not too long."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return printable(last, FILE_NAME_LENGTH) or "unnamed"


def file_remove(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    sha256: str,
    seen_version: int | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> None:
    """Take a file out of a draft for good, with the places of its runs and what was decided about them.

    Raises:
        NotFoundError: the draft has no such file; see also ``draft_changing``.
        NotAllowedError, ConflictError: see ``draft_changing``.
    """
    with draft_changing(
        actor=actor,
        workspace=workspace,
        draft_id=draft_id,
        kind=DocumentKind.EVIDENCE,
        seen_version=seen_version,
        action="draft.file_removed",
        request_id=request_id,
        authentication=authentication,
    ) as change:
        files = DraftFile.objects.filter(draft=change.draft, sha256=asked_digest(sha256))
        row = files.exclude(state=FileState.ARRIVING).first()
        if row is None:
            raise NotFoundError("There is no such file in this draft.")
        work, body = work_of(change.draft)
        own = builder.file_id(sha256)
        if own in work.draft.files:
            change.body = body_bytes(body, builder.remove_file(work.draft, work.contract, own))
        row.delete()
        change.payload = {"file_sha256": sha256}
