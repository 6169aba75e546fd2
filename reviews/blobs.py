"""Keeps bytes under the digest of exactly these bytes, and gives them back only while that is still true."""

from collections.abc import Mapping

from planner.canonical import file_sha256
from reviews.asked_once import once
from reviews.errors import TamperedError
from reviews.models import Blob


def blob_keep(data: bytes) -> Blob:
    """Store bytes once and return their row. Two writers of the same bytes end with the same row."""
    digest = file_sha256(data)
    Blob.objects.bulk_create([Blob(sha256=digest, size_bytes=len(data), data=data)], ignore_conflicts=True)
    return Blob(sha256=digest, size_bytes=len(data))


@once
def blob_read(sha256: str, what: str) -> bytes:
    """Return stored bytes by their digest; ``what`` names them in a refusal.

    Raises:
        TamperedError: the bytes are not the ones that were stored, or are gone.
    """
    return _stored(Blob.objects.filter(pk=sha256).values_list("data", flat=True).first(), sha256, what)


def blobs_read(wanted: Mapping[str, str]) -> dict[str, bytes]:
    """Return digest -> stored bytes in one query; ``wanted`` is digest -> what names them in a refusal.

    Raises:
        TamperedError: bytes are not the ones that were stored, or are gone.
    """
    found = dict(Blob.objects.filter(pk__in=list(wanted)).values_list("pk", "data"))
    return {digest: _stored(found.get(digest), digest, what) for digest, what in wanted.items()}


def _stored(data: bytes | memoryview | None, sha256: str, what: str) -> bytes:
    if data is None:
        raise TamperedError(f"The stored {what} is gone: expected {sha256}.")
    return checked(bytes(data), sha256, what)


def checked(data: bytes, sha256: str, what: str) -> bytes:
    """Return bytes that hash to ``sha256``.

    Raises:
        TamperedError: they do not.
    """
    found = file_sha256(data)
    if found != sha256:
        raise TamperedError(f"The stored {what} is not what was stored: expected {sha256}, found {found}.")
    return data
