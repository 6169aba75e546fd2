"""A login that is closed for a while, and the choice of light or dark."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from reviews.web.words import THEMES

YEAR_S = 365 * 86_400


def locked_out(request: HttpRequest, original: HttpResponse | None, credentials: object) -> HttpResponse:
    """Answer a login that failed too often; the same whether there is such a login or not."""
    wait = settings.AXES_COOLOFF_TIME
    context = {"minutes": wait.seconds // 60, "failures": settings.AXES_FAILURE_LIMIT}
    answer = render(request, "429.html", context, status=429)
    answer["Retry-After"] = str(wait.seconds)
    return answer


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the choice in a cookie and go back to where it was made; anything else follows the system."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = "/"
    # A name of the address table is no place here, so not by the shortcut that would look it up.
    response: HttpResponse = HttpResponseRedirect(target)
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=YEAR_S, samesite="Lax", httponly=True, secure=request.is_secure())
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response
