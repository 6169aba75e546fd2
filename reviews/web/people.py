"""Logging in, and the choice of light or dark."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from reviews.models.fields import SLUG_LENGTH
from reviews.web.words import THEMES

YEAR_S = 365 * 86_400


class LoginForm(AuthenticationForm):
    """Login and password. The framework's own form tells only the browser how long a login may be."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Longer ones would be looked up, and counted in a column that has no room for them.
        self.fields["username"].validators.append(MaxLengthValidator(SLUG_LENGTH))


class Login(LoginView):
    """The login page; whoever is logged in already is led on."""

    template_name = "reviews/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Return where to go, empty for the usual place; back to this page would go in a circle."""
        target = str(super().get_redirect_url())
        return "" if urlsplit(target).path == self.request.path else target


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
    response = redirect(target)
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=YEAR_S, samesite="Lax", httponly=True, secure=request.is_secure())
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response
