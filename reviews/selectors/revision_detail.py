"""Single revisions: what a poll asks for, and the stored bytes behind one."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from planner.decision_numbers import revision_label
from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.models import Person, Revision, Workspace
from reviews.selectors.decision_page import decision_named
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import revision_row, with_digests
from reviews.selectors.rows import RevisionRow

PAGE_SIZE = 25
FileKind = Literal["contract", "evidence", "plan"]


@dataclass(frozen=True, slots=True)
class RevisionList:
    """One page of a decision's revisions, newest first. ``older_than`` asks for the next page, or is None."""

    rows: tuple[RevisionRow, ...]
    older_than: int | None


@dataclass(frozen=True, slots=True)
class RevisionFile:
    """Stored bytes. ``version`` names them: the plan's id, or the digest of an uploaded file.

    ``data`` is None where the reader said that they have this version.
    """

    version: str
    data: bytes | None


def revision_rows(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    older_than: int | None = None,
    page_size: int = PAGE_SIZE,
) -> RevisionList:
    """Return a decision's revisions with numbers below ``older_than``, newest first.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    revisions = Revision.objects.filter(decision=decision_named(workspace, number))
    if older_than is not None:
        revisions = revisions.filter(number__lt=older_than)
    found = list(with_digests(revisions).order_by("-number")[: page_size + 1])
    shown = found[:page_size]
    return RevisionList(
        rows=tuple(revision_row(revision) for revision in shown),
        older_than=shown[-1].number if len(found) > page_size else None,
    )


def revision_detail(*, actor: Person, workspace: Workspace, number: int, revision: int) -> RevisionRow:
    """Return one revision and how its planning stands.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
    """
    return revision_row(_revision(actor, workspace, number, revision))


def revision_file(
    *, actor: Person, workspace: Workspace, number: int, revision: int, kind: FileKind, known: Collection[str] = ()
) -> RevisionFile:
    """Return a revision's contract or evidence as uploaded, or its plan; the bytes only where not ``known``.

    Raises:
        NotFoundError: no such decision or revision, no plan yet, or the actor is no member of the workspace.
        TamperedError: the stored bytes are not the ones that were stored.
    """
    found = _revision(actor, workspace, number, revision)
    if kind == "plan":
        planned = getattr(found, "planned", None)
        if planned is None:
            raise NotFoundError(f"{revision_label(number, revision)} has no plan yet.")
        version, blob_id = planned.plan.plan_id, planned.plan.blob_id
    else:
        document = found.contract if kind == "contract" else found.evidence
        version = blob_id = document.file_sha256
    if version in known:
        return RevisionFile(version, None)
    return RevisionFile(version, blob_read(blob_id, kind))


def _revision(actor: Person, workspace: Workspace, number: int, revision: int) -> Revision:
    standing_of(actor, workspace)
    found = (
        with_digests(Revision.objects.filter(decision__workspace=workspace, decision__number=number))
        .filter(number=revision)
        .first()
    )
    if found is None:
        raise NotFoundError(f"There is no {revision_label(number, revision)} in {workspace.slug}.")
    return found
