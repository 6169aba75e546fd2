"""Logging in and confirming who one is: the library's flows on our own pages."""

from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.account.adapter import get_adapter
from allauth.account.views import LoginView, PasswordChangeView, PasswordSetView, ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as CodeAgainView
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal.auth import begin_authentication
from allauth.mfa.webauthn.views import ReauthenticateWebAuthnView
from django.conf import settings
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from reviews.models import Person
from reviews.selectors.proofs import has_second_factor
from reviews.web.cache_writes import require_cache_writes
from reviews.web.frame import nothing_to_confirm_with
from reviews.web.reauthentication import FACTOR, SECOND, keeps_typed


class Login(LoginView):
    """The login page; whoever is logged in already is led on."""

    template_name = "account/login.html"

    def get_next_url(self) -> str | None:
        """Return where to go, nothing for the usual place; back to this page would go in a circle."""
        target = super().get_next_url()
        return None if target and urlsplit(target).path == self.request.path else target

    def get_authenticated_redirect_url(self) -> str:
        """Lead on whoever is logged in."""
        return self.get_next_url() or settings.LOGIN_REDIRECT_URL

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the way back and the login of the organisation."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "next": self.get_next_url() or "", "other_login": other_login()}


def other_login() -> dict[str, str]:
    """Name the login of the organisation and its address; empty where none is set up."""
    if not settings.OIDC_ISSUER_URL:
        return {}
    return {"name": settings.OIDC_NAME, "href": reverse("openid_connect_login", args=["oidc"])}


class SecondFactor(AuthenticateView):
    """The page after the password of somebody with a second factor."""

    template_name = "mfa/authenticate.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say which factors the person has."""
        return {**super().get_context_data(**kwargs), "factors": factors_of(self.stage.login.user)}


def factors_of(person: Person) -> frozenset[str]:
    """Return the kinds of second factors that a person has set up: ``totp``, ``webauthn``, ``recovery_codes``."""
    return frozenset(Authenticator.objects.filter(user=person).values_list("type", flat=True))


class ConfirmationMixin:
    """One page with every method that the person has, whichever of the three addresses answers."""

    # Of the library's view beside it.
    get_next_url: Callable[[], str | None]

    template_name = "account/reauthenticate.html"
    method: str

    request: HttpRequest

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Say so where there is no method at all; the library would refuse without a word."""
        if not get_adapter().get_reauthentication_methods(request.user):
            return nothing_to_confirm_with(request)
        shown: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc] # of the view beside it
        return shown

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say which methods there are, which one failed, and what a passkey is to sign."""
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc] # of the view beside it
        person = cast(Person, self.request.user)
        factors = factors_of(person)
        form: Form = context["form"]
        is_second = (self.request.POST or self.request.GET).get(FACTOR) == SECOND
        problem = next((text for texts in form.errors.values() for text in texts), "")
        return {
            **context,
            "factors": factors,
            "is_second_demanded": is_second,
            "sets_up": is_second and not has_second_factor(person),
            "has_password": person.has_usable_password() and not is_second,
            "problem": {self.method: problem} if problem else {},
            "back": self.get_next_url() or "",
            "keeps_typed": keeps_typed(self.request, self.get_next_url() or ""),
            "request_options": begin_authentication(person) if "webauthn" in factors else None,
        }


class ConfirmByPassword(ConfirmationMixin, ReauthenticateView):
    """Confirm with the password; the address that leads to all methods."""

    method = "password"


class ConfirmByCode(ConfirmationMixin, CodeAgainView):
    """Confirm with a code."""

    method = "code"


class ConfirmByPasskey(ConfirmationMixin, ReauthenticateWebAuthnView):
    """Confirm with a passkey."""

    method = "passkey"

    def form_invalid(self, form: Form) -> HttpResponse:
        """Say on the page itself what is wrong."""
        return self.render_to_response(self.get_context_data(form=form))  # type: ignore[no-any-return] # of the library


class PasswordChange(PasswordChangeView):
    """Change the password; every other session of the person ends with it."""

    template_name = "account/password_change.html"

    def get_default_success_url(self) -> str:
        """Go back to the account."""
        return reverse("account")


class PasswordSet(PasswordSetView):
    """Set a first password."""

    template_name = "account/password_change.html"

    def get_default_success_url(self) -> str:
        """Go back to the account."""
        return reverse("account")


def too_many(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer requests that come too fast, whoever they come from.

    The library takes requests that it could not count for too many; those are a failure of the database.

    Raises:
        OperationalError: the database takes no writes, as on a full disk.
    """
    require_cache_writes()
    answer = render(request, "429_pace.html", status=429)
    answer["Retry-After"] = "60"
    return answer


def logged_out(request: HttpRequest) -> HttpResponse:
    """Lead a person whose session just ended to the login."""
    return HttpResponseRedirect(settings.LOGOUT_REDIRECT_URL)
