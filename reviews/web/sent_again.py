"""A form that is sent twice in a row, as by a double click, is done once: the second is led where the first was led.

Rules kept: "twice in a row" is the same content from the same showing of a form by the same person, within a minute and
with no other form of theirs in between, so what somebody means anew is done anew; within a second, or while the first
is being done, nobody means anything anew, whatever else they send. While the first is being done the second waits; a
process that dies at it keeps nobody waiting for longer than its lease. Only an answer that leads on is given again: a
refusal, or a page with what is wrong, is worked out anew.

What tells one showing of a form from the next is its token against forgery, which every form carries and no two pages
share. Not handled: strangers, for an answer that logs somebody in cannot be given by its address alone, and requests
without a form, which have idempotency keys.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac
from django_htmx.http import HttpResponseClientRedirect

from reviews.web.cache_writes import require_cache_writes

KEPT_S = 60
"""A double click takes less than a second, a reload after a lost answer a few; no request is worked on for longer."""
AT_ONCE_S = 1.0
"""Sooner than this nobody means the same form anew, also where something else of theirs came in between."""
LEASE_S = 10
RENEW_S = 3.0
PAUSE_S = 0.05
TOKEN = "csrfmiddlewaretoken"  # noqa: S105 - the name of a field
AT_WORK, LAST, LED = "form-at-work", "form-last", "form-led"
FORM = "topogate.form"
"""Where a request keeps the form that it works on."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A form that is sent: whose it is, and the digest of all of it."""

    person: int
    digest: str

    @property
    def at_work(self) -> str:
        """The key of who works on it."""
        return f"{AT_WORK}:{self.digest}"

    def lead(self, href: str | None) -> None:
        """Keep where it led, if anywhere."""
        cache.set(f"{LAST}:{self.person}", self.digest, KEPT_S)
        cache.set(f"{LED}:{self.digest}", (href, time.time()), KEPT_S)

    def led(self, *, has_waited: bool) -> str | None:
        """Return where it led just now; None where it did not, or is meant anew, and then what was before is over."""
        href: str | None
        href, at = cache.get(f"{LED}:{self.digest}", (None, 0.0))
        if has_waited or time.time() < at + AT_ONCE_S or cache.get(f"{LAST}:{self.person}") == self.digest:
            return href
        if href:
            cache.delete(f"{LED}:{self.digest}")
        return None


class _Lease(threading.Thread):
    """Says again and again that a form is being worked on, for as long as this process lives and it is not done."""

    def __init__(self, key: str) -> None:
        super().__init__(daemon=True)
        self._key, self._is_done = key, threading.Event()

    def run(self) -> None:
        """Renew what is not done by then; most forms are."""
        while not self._is_done.wait(RENEW_S):
            with suppress(Error):
                cache.touch(self._key, LEASE_S)
            connection.close()

    def end(self) -> None:
        """Let the next one begin."""
        self._is_done.set()
        cache.delete(self._key)


class SentAgain:
    """Does a form once that comes twice in a row."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Keep where a form led, and let whoever waits for that go on."""
        response = self.get_response(request)
        if FORM in request.META:
            form, lease = request.META[FORM]
            # A script is led on by a header of its own.
            href = response.headers.get("Location") or response.headers.get("HX-Redirect")
            # What was done is answered, also where the database went away since.
            with suppress(Error):
                form.lead(href)
            with suppress(Error):
                lease.end()
        return response

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        """Lead on where the form led a moment ago; wait while it is being done."""
        is_form = request.method == "POST" and not getattr(view, "csrf_exempt", False)
        if not is_form or not request.user.is_authenticated or not request.POST.get(TOKEN):
            return None
        form = _Form(request.user.pk, _digest(request))
        has_waited = not cache.add(form.at_work, True, LEASE_S)
        if has_waited and not _begun(form.at_work):
            return None
        href = form.led(has_waited=has_waited)
        if href:
            cache.delete(form.at_work)
            return HttpResponseClientRedirect(href) if request.headers.get("HX-Request") else redirect(href)
        lease = _Lease(form.at_work)
        lease.start()
        request.META[FORM] = (form, lease)
        return None


def _begun(at_work: str) -> bool:
    """Begin to work on a form once nobody else does; False where another request has been at it for too long.

    Raises:
        OperationalError: nothing can be begun, as the database takes no writes.
    """
    require_cache_writes()
    until = time.monotonic() + KEPT_S
    while time.monotonic() < until:
        time.sleep(PAUSE_S)
        if cache.add(at_work, True, LEASE_S):
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
