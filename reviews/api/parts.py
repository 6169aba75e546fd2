"""Parts of a multipart body: the outer form is judged before the body is read, all parts before anything of them is.

Every part that is missing, repeated, of the wrong kind or not taken is told at once.
"""

from django.utils.http import parse_header_parameters
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from reviews.errors import Finding, InvalidRequestError

BINARY = {"type": "string", "format": "binary"}
LONGEST_CONTENT_TYPE = 256
REPLACED = "\N{REPLACEMENT CHARACTER}"
"""Stands where the bytes of a field are no UTF-8."""
FORM_TOKEN = "csrfmiddlewaretoken"  # noqa: S105 - the name of a field


def check_outer_form(request: Request) -> None:
    """Judge the content type, before anything of the body is read.

    Raises:
        UnsupportedMediaType: it is no multipart/form-data, or in another character set than UTF-8.
    """
    content_type = request.META.get("CONTENT_TYPE", "")
    media_type, parameters = parse_header_parameters(content_type[:LONGEST_CONTENT_TYPE])
    charset = parameters.get("charset", "utf-8").lower()
    if media_type != MultiPartParser.media_type or charset not in ("utf-8", "utf8"):
        raise UnsupportedMediaType(content_type[:80])


def unknown_parts(request: Request, *, files: tuple[str, ...], fields: tuple[str, ...]) -> list[Finding]:
    """Name parts that are not taken here, or not in this way, and fields that are no UTF-8."""
    sent = sorted((set(request.FILES) - set(files)) | (set(request.POST) - {*fields, FORM_TOKEN}))
    expected = f"one of {', '.join((*files, *fields))}"
    problems = [Finding("request", "request/unknown_part", name[:80], expected, "another part") for name in sent]
    problems += [
        Finding("request", "request/encoding", name, "UTF-8", "other bytes")
        for name in fields
        if any(REPLACED in str(value) for value in request.POST.getlist(name))
    ]
    return problems


def repeated_parts(request: Request) -> list[Finding]:
    """Name parts that were sent more than once."""
    return [
        Finding("request", "request/repeated_part", name[:80], "one part", f"{len(parts.getlist(name))} parts")
        for parts in (request.POST, request.FILES)
        for name in sorted(parts)
        if len(parts.getlist(name)) > 1
    ]


def file_problems(request: Request, name: str, most_bytes: int | None = None) -> list[Finding]:
    """Say what is wrong with the part that is to be one file of at most so many bytes."""
    uploads = request.FILES.getlist(name)
    if len(uploads) != 1:
        found = f"{len(uploads)} parts" if uploads else "none"
        return [Finding("request", "request/missing_part", name, "one part with a file name", found)]
    size = uploads[0].size or 0
    if most_bytes is not None and size > most_bytes:
        return [Finding("request", "request/file_size", name, f"at most {most_bytes:,} bytes", f"{size:,} bytes")]
    return []


def only_file(request: Request, name: str, most_bytes: int | None = None) -> bytes:
    """Take the file that is all of a body.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: it is not there, too large, or there is something beside it.
    """
    check_outer_form(request)
    problems = [*unknown_parts(request, files=(name,), fields=()), *file_problems(request, name, most_bytes)]
    if problems:
        raise InvalidRequestError(tuple(problems))
    return bytes(request.FILES[name].read())
