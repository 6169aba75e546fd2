"""Limits of one request that are met before anything of it is read as what it means: what was passed, in words."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent

from reviews.errors import Finding


class BodyTooLargeError(RequestDataTooBig):
    """The body of a request has more than ``MAX_BODY_BYTES``; ``length`` is what it says in bytes, None for nothing."""

    def __init__(self, length: int | None) -> None:
        super().__init__(f"The body has {length or 'too many'} bytes.")
        self.length = length


def passed_limit(error: Exception) -> Finding | None:
    """Return the limit that a request passed; None where the error is about something else."""
    if isinstance(error, BodyTooLargeError):
        found = f"{error.length:,} bytes" if error.length else "more"
        return _limit("request/body_size", "body", f"at most {settings.MAX_BODY_BYTES:,} bytes", found)
    if isinstance(error, RequestDataTooBig):
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        return _limit("request/field_size", "fields", f"at most {most:,} bytes of text beside the files", "more")
    if isinstance(error, TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return _limit("request/file_count", "files", f"at most {most} files", "more")
    if isinstance(error, TooManyFieldsSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return _limit("request/field_count", "fields", f"at most {most:,} fields", "more")
    return None


def _limit(code: str, place: str, expected: str, found: str) -> Finding:
    return Finding("request", code, place, expected, found)
