"""Documents as they arrive: opaque parts of a multipart body.

The framework never reads a document: it is taken out of its part byte for byte and goes to the planner's intake,
which gives every file the same verdict wherever it comes from.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from rest_framework.request import Request

from reviews.api.authentication import actor, authentication, request_id
from reviews.api.parts import check_outer_form, repeated_parts, unknown_parts
from reviews.errors import DocumentName, Finding, InvalidRequestError
from reviews.limits import passed_limit
from reviews.models import Decision, Workspace
from reviews.selectors.decision_page import decision_of_member
from reviews.services.submissions import submission_refuse

DOCUMENTS: tuple[DocumentName, ...] = ("contract", "evidence")


@dataclass(frozen=True, slots=True)
class Upload:
    """What was sent: each document's bytes (None where the part is absent) and the fields beside them."""

    contract: bytes | None
    evidence: bytes | None
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Both documents."""

    contract: bytes
    evidence: bytes
    fields: dict[str, str]


@contextmanager
def refusals_kept(request: Request, workspace: Workspace, number: int | None = None) -> Iterator[None]:
    """Record a refusal of the block's parts in the audit log, like that of documents; it goes on as it was raised.

    ``number`` is the decision that would have got a revision.

    Raises:
        NotFoundError: no such decision, or the caller is no member of the workspace; nothing is recorded.
        NotAllowedError: the caller may not submit, whatever was sent.
    """
    try:
        yield
    except (InvalidRequestError, RequestDataTooBig, TooManyFilesSent, TooManyFieldsSent) as refused:
        passed = passed_limit(refused)
        with suppress(InvalidRequestError):
            submission_refuse(
                actor=actor(request),
                workspace=workspace,
                problems=refused.problems if isinstance(refused, InvalidRequestError) else (passed,) if passed else (),
                decision=_decision(request, workspace, number),
                request_id=request_id(),
                authentication=authentication(request),
            )
        raise


def _decision(request: Request, workspace: Workspace, number: int | None) -> Decision | None:
    if number is None:
        return None
    return decision_of_member(actor=actor(request), workspace=workspace, number=number)


def uploaded(request: Request, *, fields: tuple[str, ...], needs_both: bool = True) -> Upload:
    """Take the parts out of the body; ``fields`` names what may stand beside the documents.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: with every part that is missing, repeated, of the wrong kind or not taken here.
    """
    check_outer_form(request)
    problems = [
        # A document that is sent as text is known; what is wrong with it is said below.
        *(one for one in unknown_parts(request, files=DOCUMENTS, fields=fields) if one.pointer not in DOCUMENTS),
        *repeated_parts(request),
        *(problem for name in DOCUMENTS for problem in _wrong_kind(request, name)),
        *_missing(request, needs_both=needs_both),
    ]
    if problems:
        raise InvalidRequestError(tuple(problems))
    return Upload(
        contract=_bytes(request, "contract"),
        evidence=_bytes(request, "evidence"),
        fields={name: str(request.POST[name]) for name in fields if name in request.POST},
    )


def uploaded_pair(request: Request, *, fields: tuple[str, ...]) -> Pair:
    """The same where both documents are needed."""
    found = uploaded(request, fields=fields)
    return Pair(found.contract or b"", found.evidence or b"", found.fields)


def _bytes(request: Request, name: DocumentName) -> bytes | None:
    upload: UploadedFile[bytes] | None = request.FILES.get(name)
    return None if upload is None else bytes(upload.read())


def _wrong_kind(request: Request, name: DocumentName) -> list[Finding]:
    """A field is text in somebody's character set; only a part with a file name keeps its bytes."""
    if name not in request.POST:
        return []
    return [Finding(name, "request/not_a_file", "", "a part with a file name", "a field of text")]


def _missing(request: Request, *, needs_both: bool) -> list[Finding]:
    absent = [name for name in DOCUMENTS if name not in request.FILES and name not in request.POST]
    if not needs_both and len(absent) < len(DOCUMENTS):
        return []
    return [Finding(name, "request/missing_part", "", f"a file in a part named {name}", "nothing") for name in absent]
