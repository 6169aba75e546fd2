"""The bridge between stored drafts of evidence and the planner's evidence builder: bytes in, records and bytes out.

A draft's body holds what people decided; what importers read stands beside it, one compressed reading a file, because
it is large and never changes. Together they are the builder's ``Draft``. Knows no people and no rows.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from planner import builder
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError
from planner.intake import read_contract
from reviews.errors import DocumentsRefusedError, Finding, InvalidRequestError

__all__ = [
    "Body",
    "Work",
    "body_bytes",
    "body_of",
    "contract_of",
    "new_body",
    "reading_bytes",
    "reading_of",
    "refusal_of",
    "with_files",
]


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What a draft of evidence is besides its files.

    ``contract_sha256`` names the contract's bytes, which are those of ``contract_text``, or where that is None of a
    stored document. ``hosts_salt`` is set where host names are replaced (hex). ``draft`` is the builder's, its files
    left out.
    """

    contract_sha256: str
    contract_text: str | None = None
    hosts_salt: str = ""
    draft: builder.Draft


@dataclass(frozen=True, slots=True)
class Work:
    """A draft as the builder sees it, and the contract it is made for."""

    draft: builder.Draft
    contract: ContractDocument


def contract_of(raw: bytes) -> ContractDocument:
    """Read a contract.

    Raises:
        DocumentsRefusedError: with every problem.
    """
    try:
        return read_contract(raw)
    except DocumentRefusedError as refused:
        findings = tuple(Finding.of(problem, "contract") for problem in refused.problems)
        raise DocumentsRefusedError(findings) from refused


def new_body(contract: ContractDocument, *, own: bytes | None, hosts_salt: str) -> Body:
    """Return the body of a draft without files; ``own`` are the contract's bytes where they are not stored."""
    return Body(
        contract_sha256=contract.file_sha256,
        contract_text=None if own is None else own.decode(),
        hosts_salt=hosts_salt,
        draft=builder.Draft(contract_content_id=contract.content_id),
    )


def body_bytes(body: Body, draft: builder.Draft | None = None) -> bytes:
    """Return a body as it is stored, with the builder's draft in its new state where one is given."""
    whole = body.draft if draft is None else draft
    return msgspec.json.encode(
        msgspec.structs.replace(body, draft=msgspec.structs.replace(whole, files={})), order="deterministic"
    )


def body_of(raw: bytes) -> Body:
    """Read a stored body."""
    return msgspec.json.decode(raw, type=Body)


def reading_bytes(reading: builder.DraftFile) -> bytes:
    """Return what an importer read of a file as it is stored."""
    return zlib.compress(msgspec.json.encode(reading), 1)


def read_bytes(name: str, handle: BinaryIO) -> builder.DraftFile:
    """Read a file by the importer that knows its content; see ``planner.builder.read_file``."""
    return builder.read_file(name, handle)


def reading_of(stored: bytes) -> builder.DraftFile:
    """Read a stored reading."""
    return msgspec.json.decode(zlib.decompress(stored), type=builder.DraftFile)


def with_files(body: Body, readings: Iterable[builder.DraftFile]) -> builder.Draft:
    """Return the builder's draft whole: what people decided, and the readings of its files."""
    files = {builder.file_id(reading.sha256): reading for reading in readings}
    return msgspec.structs.replace(body.draft, files=dict(sorted(files.items())))


def refusal_of(refused: DocumentRefusedError) -> InvalidRequestError:
    """Return the builder's refusal as one of the request: the places it names are those of the draft."""
    return InvalidRequestError(tuple(Finding.of(problem, "request") for problem in refused.problems))
