"""A form that is sent twice in a row, as by a double click, is done once: the second is led where the first was led.

Rules kept: "twice in a row" is the same content from the same showing of a form by the same person, within a minute and
with no other form of theirs in between, so what somebody means anew is done anew. While the first is being done the
second waits. Only an answer that leads on is given again: a refusal, or a page with what is wrong, is worked out anew.

What tells one showing of a form from the next is its token against forgery, which every form carries and no two pages
share. Not handled: strangers, for an answer that logs somebody in cannot be given by its address alone, and requests
without a form, which have idempotency keys.
"""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress

from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac
from django_htmx.http import HttpResponseClientRedirect

from reviews.web.cache_writes import require_cache_writes

KEPT_S = 60
"""A double click takes less than a second, a reload after a lost answer a few; no request is worked on for longer."""
PAUSE_S = 0.05
TOKEN = "csrfmiddlewaretoken"  # noqa: S105 - the name of a field
AT_WORK, LAST = "form-at-work", "form-last"
FORM = "topogate.form"
"""Where a request keeps under which keys its form is at work, and where it led."""


class SentAgain:
    """Does a form once that comes twice in a row."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Keep where a form led, and let whoever waits for that go on."""
        response = self.get_response(request)
        if FORM in request.META:
            at_work, last, digest = request.META[FORM]
            # A script is led on by a header of its own.
            href = response.headers.get("Location") or response.headers.get("HX-Redirect")
            # What was done is answered, also where the database went away since.
            with suppress(Error):
                cache.set(last, (digest, href), KEPT_S)
                cache.delete(at_work)
        return response

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        """Lead on where the form led a moment ago; wait while it is being done."""
        is_form = request.method == "POST" and not getattr(view, "csrf_exempt", False)
        if not is_form or not request.user.is_authenticated or not request.POST.get(TOKEN):
            return None
        digest = _digest(request)
        at_work, last = f"{AT_WORK}:{digest}", f"{LAST}:{request.user.pk}"
        if not _begun(at_work):
            return None
        before, href = cache.get(last, ("", None))
        if before == digest and href:
            cache.delete(at_work)
            return HttpResponseClientRedirect(href) if request.headers.get("HX-Request") else redirect(href)
        request.META[FORM] = (at_work, last, digest)
        return None


def _begun(at_work: str) -> bool:
    """Begin to work on a form, as the only one; False where another request has been at it for too long.

    Raises:
        OperationalError: nothing can be begun, as the database takes no writes.
    """
    if cache.add(at_work, True, KEPT_S):
        return True
    require_cache_writes()
    until = time.monotonic() + KEPT_S
    while time.monotonic() < until:
        time.sleep(PAUSE_S)
        if cache.add(at_work, True, KEPT_S):
            return True
    return False


def _digest(request: HttpRequest) -> str:
    """Name what was sent: who, where to, every field with the form's token, every file. It tells nothing of them."""
    files = [
        (field, upload.name, _file_digest(upload)) for field, uploads in request.FILES.lists() for upload in uploads
    ]
    sent = json.dumps([request.user.pk, request.get_full_path(), sorted(request.POST.lists()), files])
    return salted_hmac(__name__, sent, algorithm="sha256").hexdigest()


def _file_digest(upload: "UploadedFile[bytes]") -> str:
    digest = hashlib.sha256()
    for chunk in upload.chunks():
        digest.update(chunk)
    upload.seek(0)
    return digest.hexdigest()
