"""Requests that the framework itself turns away, before any view has seen them."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import bad_request


def turned_away(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say of a form that is too large what it may hold; the framework's own answer to all else.

    The sender is not known yet, so this is no entry of a workspace's log.
    """
    if not isinstance(exception, RequestDataTooBig):
        return bad_request(request, exception)
    most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 2**20:.0f} MiB"
    return render(request, "413.html", {"most": most}, status=413)
