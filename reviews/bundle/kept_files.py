"""The files behind what a bundle tells of: those that evidence was made of, and those that a diagnosis was read from.

Which there are say the evidence documents (their ``provenance``) and the entries about diagnoses, read by the code of
the verifier, so that it finds the rows of the list again. All are listed, whether they are kept here, and whether they
are in the bundle or not; those that are lie under their digests, once each. Bytes are written as they are stored: where
they are not the ones that the digest names, the verifier says so.
"""

import hashlib
from collections.abc import Iterator

from django.db.models import Sum

from planner.canonical import file_sha256
from planner.verifier.verify import STRICT, Rules, Tree, files_of
from reviews.bundle.archive import Archive
from reviews.bundle.tables import table_cells
from reviews.bundle.work import MEBIBYTE, Work
from reviews.models import Attachment, AttachmentPiece, Blob, DiagnosisFile, Workspace
from reviews.spreadsheet import Value, csv_lines

COLUMNS = ("sha256", "size_bytes", "name", "behind", "uploaded_sha256", "included")


def kept_bytes(workspace: Workspace) -> int:
    """Return how many bytes all kept files of a workspace have, those twice that stand behind two things."""
    found = (
        Attachment.objects.filter(document__workspace=workspace),
        DiagnosisFile.objects.filter(diagnosis__decision__workspace=workspace, blob__isnull=False),
    )
    return sum(rows.aggregate(size=Sum("size_bytes", default=0))["size"] for rows in found)


def files_write(archive: Archive, workspace: Workspace, rules: Rules, work: Work, *, included: bool) -> tuple[str, ...]:
    """List the files behind all that the log tells of, and write those that are kept where they are ``included``.

    Returns which are not as they were stored.

    Raises:
        TooLargeError: they do not fit.
    """
    rows: list[list[Value]] = []
    seen: set[str] = set()
    faults: list[str] = []
    for named in _named(rules, faults):
        sha256, kept = named["sha256"], _kept(workspace, named["sha256"])
        is_written = included and sha256 not in seen
        if is_written and kept is not None and _copied(archive, sha256, kept, work) != sha256:
            faults.append(f"The file {named['name']} behind {named['behind']} is not the one stored.")
        seen.add(sha256)
        said = {"size_bytes": kept and kept.size_bytes, "uploaded_sha256": kept and kept.uploaded_sha256} | named
        rows.append(table_cells(said | {"included": "yes" if included and kept else "no"}, COLUMNS))
    archive.add("tables/files.csv", csv_lines(COLUMNS, rows))
    return tuple(faults)


def _named(rules: Rules, faults: list[str]) -> Iterator[Tree]:
    """Yield the files that evidence and diagnoses name; of a log that was rewritten that may be none. Adds a fault."""
    try:
        yield from files_of(rules, _document)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        faults.append(f"The files behind evidence cannot be listed: {error!r}.")


def _document(name: str) -> Tree:
    """Return what a document says by its name in the bundle, nothing where it is gone or not the one stored."""
    digest = f"sha256:{name.removeprefix('documents/').removesuffix('.json')}"
    data = bytes(Blob.objects.filter(pk=digest).values_list("data", flat=True).first() or b"")
    return Tree(STRICT(data.decode())) if file_sha256(data) == digest else Tree()


def _kept(workspace: Workspace, sha256: str) -> Attachment | DiagnosisFile | None:
    """Return a row that keeps the file with this digest, if the workspace has one."""
    behind = Attachment.objects.filter(document__workspace=workspace, sha256=sha256).order_by("pk").first()
    rows = DiagnosisFile.objects.filter(diagnosis__decision__workspace=workspace, sha256=sha256, blob__isnull=False)
    return behind or rows.order_by("pk").first()


def _copied(archive: Archive, sha256: str, row: Attachment | DiagnosisFile, work: Work) -> str:
    """Write a file under the digest that it should have; return the one that it has."""
    digest = hashlib.sha256()

    def blocks() -> Iterator[bytes]:
        for block in _of_pieces(row) if isinstance(row, Attachment) else _of_blob(row):
            digest.update(block)
            yield block
            work.did(len(block) * MEBIBYTE / (1 << 20))

    archive.add(f"files/{sha256.removeprefix('sha256:')}.bin", blocks())
    return f"sha256:{digest.hexdigest()}"


def _of_pieces(row: Attachment) -> Iterator[bytes]:
    pieces = AttachmentPiece.objects.filter(attachment=row).order_by("number")
    for pk in list(pieces.values_list("pk", flat=True)):
        yield bytes(AttachmentPiece.objects.values_list("blob__data", flat=True).get(pk=pk))


def _of_blob(row: DiagnosisFile) -> Iterator[bytes]:
    yield bytes(Blob.objects.values_list("data", flat=True).get(pk=row.blob_id))
