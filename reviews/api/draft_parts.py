"""What is sent about a draft of evidence: parts of a multipart body, judged before anything of them is read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from rest_framework.request import Request

from planner.whole_numbers import whole_number
from reviews.api.parts import BINARY, check_outer_form, only_file, unknown_parts
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.services.draft_files import Given

FILES = {"type": "array", "items": BINARY, "minItems": 1}
CHANGES = {
    **BINARY,
    "contentMediaType": "application/json",
    "description": '`{"changes": [{"do": "answer", "at": "/provenance/collected_by", "value": "pilot team"}, ...]}`; '
    "each `do` is a change of the author guide",
}
MOST_DIGITS = 4
MAX_CHANGES_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class SentContract:
    """What a draft begins with."""

    contract: bytes | None
    contract_sha256: str
    name: str
    hides_hosts: bool


def sent_contract(request: Request) -> SentContract:
    """Take the parts that begin a draft.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: with every part that is missing, doubled, or not taken here.
    """
    check_outer_form(request)
    fields = ("contract_sha256", "name", "hide_hosts")
    problems = unknown_parts(request, files=("contract",), fields=fields)
    given = {name: str(request.POST.get(name, "")) for name in fields}
    uploads = request.FILES.getlist("contract")
    if len(uploads) + bool(given["contract_sha256"]) != 1:
        found = "none" if not uploads and not given["contract_sha256"] else "several"
        problems.append(Finding("contract", "request/missing_part", "", "one contract: a file or a digest", found))
    if given["hide_hosts"] not in ("", "true", "false"):
        problems.append(Finding("request", "request/encoding", "hide_hosts", "true or false", "another text"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    contract = bytes(uploads[0].read()) if uploads else None
    return SentContract(contract, given["contract_sha256"], given["name"], given["hide_hosts"] == "true")


@dataclass(frozen=True, slots=True)
class SentDocument:
    """What a draft of a contract begins with: a document, the digest of a stored one, or neither."""

    document: bytes | None
    contract_sha256: str


@dataclass(frozen=True, slots=True)
class SentHardware:
    """Files that fill a contract in: names and bytes, and how nodes are counted and named."""

    config: tuple[tuple[str, bytes], ...]
    topology: tuple[tuple[str, bytes], ...]
    names: tuple[str, ...]
    copies: int


def sent_document(request: Request) -> SentDocument:
    """Take the parts that begin a draft of a contract; without any body it begins empty.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: with every part that is doubled or not taken here.
    """
    if not request.META.get("CONTENT_TYPE"):
        return SentDocument(None, "")
    check_outer_form(request)
    problems = unknown_parts(request, files=("document",), fields=("contract_sha256",))
    uploads, stored = request.FILES.getlist("document"), str(request.POST.get("contract_sha256", ""))
    if len(uploads) + bool(stored) > 1:
        expected = "one document: a file or a digest"
        problems.append(Finding("request", "request/missing_part", "document", expected, "several"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return SentDocument(bytes(uploads[0].read()) if uploads else None, stored)


def sent_hardware(request: Request) -> SentHardware:
    """Take files of a model and of hardware.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: there is none, or a part that is not taken here.
    """
    check_outer_form(request)
    problems = unknown_parts(request, files=("config", "topology"), fields=("copies", "node_names"))
    copies = str(request.POST.get("copies", "1"))
    count = whole_number(copies, MOST_DIGITS)
    if count is None:
        problems.append(Finding("request", "request/count", "copies", "a whole number", printable(copies, 40)))
    if not request.FILES.getlist("config") and not request.FILES.getlist("topology"):
        problems.append(Finding("request", "request/missing_part", "config", "a file, or one in topology", "none"))
    if problems or count is None:
        raise InvalidRequestError(tuple(problems))
    return SentHardware(
        config=_named(request, "config"),
        topology=_named(request, "topology"),
        names=tuple(str(request.POST.get("node_names", "")).replace(",", " ").split()),
        copies=count,
    )


def _named(request: Request, part: str) -> tuple[tuple[str, bytes], ...]:
    return tuple((printable(upload.name or "file", 80), bytes(upload.read())) for upload in request.FILES.getlist(part))


def sent_files(request: Request) -> list[Given]:
    """Take the files out of a body; their bytes stay where they are until they are read.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: there is none, or a part that is not taken here.
    """
    check_outer_form(request)
    problems = unknown_parts(request, files=("files",), fields=())
    uploads = request.FILES.getlist("files")
    if not uploads:
        problems.append(Finding("request", "request/missing_part", "files", "at least one file", "none"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return given_files(request)


def given_files(request: Request) -> list[Given]:
    """Return the files of a body as the services take them, none where it has none."""
    uploads = request.FILES.getlist("files")
    return [Given(upload.name or "unnamed", upload.size or 0, _blocks(upload)) for upload in uploads]


def _blocks(upload: "UploadedFile[bytes]") -> Callable[[], Iterable[bytes]]:
    return lambda: upload.chunks()


def sent_changes(request: Request) -> bytes:
    """Take the changes out of a body.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: there are none, or too many bytes of them.
    """
    return only_file(request, "changes", MAX_CHANGES_BYTES)
