"""Diagnoses of the slowest rank: those of a decision, one with what it found, and the files that it was read from."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet

from planner.decision_numbers import decision_label
from planner.observations.decided import decided
from planner.observations.diagnosis import Diagnosis as Found
from planner.observations.diagnosis import read_diagnosis
from planner.records.base import stated
from planner.records.evidence import Diagnostic
from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.models import Attachment, Diagnosis, DiagnosisFile, Person, Revision, Workspace
from reviews.selectors.decision_page import decision_of_member, decision_page
from reviews.selectors.maps import map_source
from reviews.selectors.people import standing_of
from reviews.selectors.rows import DecisionPage
from reviews.uploads import attachment_blocks

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisRow:
    """One diagnosis in a list."""

    number: int
    revision: int
    trial: str
    pattern: str
    points_at: str
    note: str
    late_us: int
    person: str
    made_at: datetime
    planner_version: str
    result: str
    files: int


@dataclass(frozen=True, slots=True)
class DiagnosisList:
    """Some diagnoses of a decision, newest first. ``older_than`` is what asks for the next page, None at the end."""

    rows: tuple[DiagnosisRow, ...]
    older_than: int | None
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file that a diagnosis was read from; ``is_of_evidence`` where it lies behind the evidence."""

    id: int
    number: int
    name: str
    kind: str
    sha256: str
    size_bytes: int
    is_of_evidence: bool
    uploaded_sha256: str
    removed: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisDetail:
    """One diagnosis: what it found, its stored bytes, and its files."""

    row: DiagnosisRow
    found: Found
    raw: bytes
    files: tuple[FileRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowestView:
    """The page of a decision's diagnoses.

    ``trial_id`` is the one that ranks are held against unless another is asked for, ``behind`` counts the files behind
    the evidence, ``diagnostics`` and ``handoffs`` are what the evidence itself says of that trial.
    """

    page: DecisionPage
    diagnoses: DiagnosisList
    trial_id: str
    trial_ids: tuple[str, ...]
    behind: int
    diagnostics: dict[str, Diagnostic] = field(default_factory=dict)
    handoffs: dict[str, str] = field(default_factory=dict)


def slowest_view(*, actor: Person, workspace: Workspace, number: int, older_than: int | None = None) -> SlowestView:
    """Return what the page of a decision's diagnoses shows.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number)
    in_force = page.activation
    source = map_source(
        actor=actor,
        workspace=workspace,
        number=number,
        revision=in_force.revision if in_force else None,
        trial_id=in_force.trial if in_force else "",
    )
    says = decided(source.trial, moe=source.contract.identity.model.architecture == "moe")
    return SlowestView(
        page=page,
        diagnoses=diagnosis_list(actor=actor, workspace=workspace, number=number, older_than=older_than),
        trial_id=source.trial_id,
        trial_ids=source.trial_ids,
        behind=files_behind(source.page.shown.id).count(),
        diagnostics=dict(stated(source.trial.diagnostics) or {}),
        handoffs=dict(says.handoffs),
    )


def files_behind(revision_id: int) -> QuerySet[Attachment]:
    """Return the files behind the evidence of a revision, by name."""
    evidence = Revision.objects.filter(pk=revision_id).values("evidence")
    return Attachment.objects.filter(document__in=evidence).order_by("name", "id")


def diagnosis_list(
    *, actor: Person, workspace: Workspace, number: int, older_than: int | None = None, page_size: int = PAGE_SIZE
) -> DiagnosisList:
    """Return the diagnoses of a decision, newest first.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
    """
    every = Diagnosis.objects.filter(decision=decision_of_member(actor=actor, workspace=workspace, number=number))
    older = every if older_than is None else every.filter(number__lt=older_than)
    rows = tuple(map(_row, _rows(older)[: page_size + 1]))
    more = rows[page_size - 1].number if len(rows) > page_size else None
    return DiagnosisList(rows[:page_size], more, every.count())


def _rows(diagnoses: QuerySet[Diagnosis]) -> QuerySet[Diagnosis]:
    return diagnoses.select_related("person", "revision").annotate(file_count=Count("files")).order_by("-number")


def diagnosis_detail(*, actor: Person, workspace: Workspace, number: int, diagnosis: int) -> DiagnosisDetail:
    """Return one diagnosis.

    Raises:
        NotFoundError: there is none of that number, or the actor is no member of the workspace.
        TamperedError: the stored bytes are not the ones that were stored.
    """
    standing_of(actor, workspace)
    every = Diagnosis.objects.filter(decision__workspace=workspace, decision__number=number, number=diagnosis)
    found = _rows(every).first()
    if found is None:
        raise NotFoundError(f"{decision_label(number)} has no diagnosis {diagnosis}.")
    raw = blob_read(found.result_id, "diagnosis")
    files = DiagnosisFile.objects.filter(diagnosis=found).order_by("number")
    return DiagnosisDetail(row=_row(found), found=read_diagnosis(raw), raw=raw, files=tuple(map(_file, files)))


def diagnosis_view(
    *, actor: Person, workspace: Workspace, number: int, diagnosis: int
) -> tuple[DecisionPage, DiagnosisDetail]:
    """Return one diagnosis with the page of its decision.

    Raises:
        NotFoundError: there is none of that number, or the actor is no member of the workspace.
        TamperedError: the stored bytes are not the ones that were stored.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    return page, diagnosis_detail(actor=actor, workspace=workspace, number=number, diagnosis=diagnosis)


def diagnosis_file(*, actor: Person, workspace: Workspace, number: int, diagnosis: int, file: int) -> FileRow:
    """Return a file of a diagnosis.

    Raises:
        NotFoundError: there is none of that number, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    of = {"diagnosis__decision__workspace": workspace, "diagnosis__decision__number": number}
    found = DiagnosisFile.objects.filter(**of, diagnosis__number=diagnosis, number=file).first()
    if found is None:
        raise NotFoundError(f"Diagnosis {diagnosis} of {decision_label(number)} has no file {file}.")
    return _file(found)


def diagnosis_file_bytes(row: FileRow) -> Iterator[bytes]:
    """Yield the bytes of a file that ``diagnosis_file`` gave.

    Raises:
        TamperedError: they are not the ones that were stored.
    """
    found = DiagnosisFile.objects.get(pk=row.id)
    if found.attachment_id is not None:
        yield from attachment_blocks(found.attachment_id, row.name)
    else:
        yield blob_read(row.sha256, row.name)


def _row(found: Diagnosis) -> DiagnosisRow:
    return DiagnosisRow(
        number=found.number,
        revision=found.revision.number,
        trial=found.trial,
        pattern=found.pattern,
        points_at=found.points_at,
        note=found.note,
        late_us=found.late_us,
        person=found.person.display_name,
        made_at=found.made_at,
        planner_version=found.planner_version,
        result=found.result_id,
        files=found.file_count,  # type: ignore[attr-defined] # annotated by _rows
    )


def _file(found: DiagnosisFile) -> FileRow:
    return FileRow(
        id=found.pk,
        number=found.number,
        name=found.name,
        kind=found.kind,
        sha256=found.sha256,
        size_bytes=found.size_bytes,
        is_of_evidence=found.attachment_id is not None,
        uploaded_sha256=found.uploaded_sha256,
        removed=found.removed,
    )
