"""The files behind what a bundle tells of: those that evidence was made of, and those that a diagnosis was read from.

All of them are listed, whether they are in the bundle or not; those that are lie under their digests, once each. Bytes
are written as they are stored: where they are not the ones that the digest names, the verifier says so.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Sum

from planner.decision_numbers import decision_label
from planner.verifier.verify import Rules
from reviews.bundle.archive import Archive
from reviews.bundle.work import MEBIBYTE, Work
from reviews.models import Attachment, AttachmentPiece, Blob, DiagnosisFile, Workspace
from reviews.spreadsheet import Value, csv_lines

COLUMNS = ("sha256", "size_bytes", "name", "behind", "uploaded_sha256", "included")
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A file as it is kept; ``behind`` names what was read from it, ``uploaded_sha256`` the file as it was sent."""

    sha256: str
    size_bytes: int
    name: str
    behind: str
    uploaded_sha256: str
    blocks: Callable[[], Iterator[bytes]]


def kept_bytes(workspace: Workspace) -> int:
    """Return how many bytes all kept files of a workspace have, those twice that stand behind two things."""
    found = (
        Attachment.objects.filter(document__workspace=workspace),
        DiagnosisFile.objects.filter(diagnosis__decision__workspace=workspace, blob__isnull=False),
    )
    return sum(rows.aggregate(size=Sum("size_bytes", default=0))["size"] for rows in found)


def files_write(archive: Archive, workspace: Workspace, rules: Rules, work: Work, *, included: bool) -> tuple[str, ...]:
    """List the files behind all that the log tells of, and write them where they are ``included``.

    Returns which are not as they were stored.

    Raises:
        TooLargeError: they do not fit.
    """
    rows: list[list[Value]] = []
    seen: set[str] = set()
    faults: list[str] = []
    for file in kept_files(workspace, rules):
        rows.append([getattr(file, name, "yes" if included else "no") for name in COLUMNS])
        if included and file.sha256 not in seen and _copied(archive, file, work) != file.sha256:
            faults.append(f"The file {file.name} behind {file.behind} is not the one stored.")
        seen.add(file.sha256)
    archive.add("tables/files.csv", csv_lines(COLUMNS, rows))
    return tuple(faults)


def _copied(archive: Archive, file: KeptFile, work: Work) -> str:
    """Write a file under the digest that it should have; return the one that it has."""
    digest = hashlib.sha256()

    def blocks() -> Iterator[bytes]:
        for block in file.blocks():
            digest.update(block)
            yield block
            work.did(len(block) * MEBIBYTE / (1 << 20))

    archive.add(f"files/{file.sha256.removeprefix('sha256:')}.bin", blocks())
    return f"sha256:{digest.hexdigest()}"


def kept_files(workspace: Workspace, rules: Rules) -> Iterator[KeptFile]:
    """Yield the files behind the evidence of every revision in the log, then those of diagnoses of its decisions."""
    named = {said["evidence_file_sha256"] for one in rules.decisions.values() for said in one["revisions"].values()}
    for some in _parts(sorted(one for one in named if isinstance(one, str))):
        rows = Attachment.objects.filter(document__workspace=workspace, document__blob__in=some)
        for row in rows.select_related("document").order_by("document__blob", "name", "pk"):
            yield _kept(row, f"evidence {row.document.file_sha256}", partial(_of_pieces, row.pk))
    numbers = sorted(number for number, said in rules.decisions.items() if type(number) is int and said["revisions"])
    for some in _parts(numbers):
        found = DiagnosisFile.objects.filter(diagnosis__decision__workspace=workspace, blob__isnull=False)
        of_these = found.filter(diagnosis__decision__number__in=some).select_related("diagnosis__decision")
        for file in of_these.order_by("diagnosis__decision__number", "diagnosis__number", "number"):
            behind = f"diagnosis {file.diagnosis.number} of {decision_label(file.diagnosis.decision.number)}"
            yield _kept(file, behind, partial(_of_blob, file.blob_id))


def _kept(row: Attachment | DiagnosisFile, behind: str, blocks: Callable[[], Iterator[bytes]]) -> KeptFile:
    return KeptFile(
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        name=row.name,
        behind=behind,
        uploaded_sha256=row.uploaded_sha256,
        blocks=blocks,
    )


def _of_pieces(attachment_id: int) -> Iterator[bytes]:
    pieces = AttachmentPiece.objects.filter(attachment_id=attachment_id).order_by("number")
    for pk in list(pieces.values_list("pk", flat=True)):
        yield bytes(AttachmentPiece.objects.values_list("blob__data", flat=True).get(pk=pk))


def _of_blob(sha256: str | None) -> Iterator[bytes]:
    yield bytes(Blob.objects.values_list("data", flat=True).get(pk=sha256))


def _parts(items: list[Any]) -> Iterable[list[Any]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))
