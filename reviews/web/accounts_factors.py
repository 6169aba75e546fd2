"""Second factors of one's own: authenticator app, passkeys, recovery codes."""

from typing import Any
from urllib.parse import urlencode

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.internal.flows import post_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.internal.auth import get_totp_secret
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.internal.auth import begin_registration
from allauth.mfa.webauthn.views import AddWebAuthnView
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from reviews.web.frame import PersonRequest, page


@require_safe
@page
def factors(request: PersonRequest) -> HttpResponse:
    """Lead to the part of the account that lists them."""
    response = redirect("account")
    response["Location"] += "#factors"
    return response


class FactorAddMixin:
    """Adding a factor, and back to the form that asked for one; new recovery codes are shown on the way.

    The code or signature that sets a factor up shows as much as one that confirms, so it counts as a proof.
    """

    kind: Authenticator.Type
    request: PersonRequest
    did_generate_recovery_codes: bool

    def form_valid(self, form: Form) -> HttpResponse:
        """Keep the factor, and that it was just used."""
        answer: HttpResponse = super().form_valid(form)  # type: ignore[misc] # of the view beside it
        added = Authenticator.objects.filter(user=self.request.user, type=self.kind).latest("pk")
        post_authentication(self.request, added, reauthenticated=True)
        return answer

    def get_success_url(self) -> str:
        """Go where it was asked for, by way of new recovery codes."""
        usual: str = super().get_success_url()  # type: ignore[misc] # of the view beside it
        back = back_of(self.request)
        if not back:
            return usual
        return f"{usual}?{urlencode({'next': back})}" if self.did_generate_recovery_codes else back

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say where to go on."""
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc] # of the view beside it
        return {**context, "back": back_of(self.request)}


def back_of(request: HttpRequest) -> str:
    """Return the place on this server that a request names to go back to, empty without one."""
    return get_next_redirect_url(request) or ""


class AppAdd(FactorAddMixin, ActivateTOTPView):
    """Set up an authenticator app. The secret is shown as text and drawn by an address of its own."""

    template_name = "mfa/totp/activate_form.html"
    kind = Authenticator.Type.TOTP

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Show the secret in groups of four signs, for whoever types it."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        secret = context["form"].secret
        grouped = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
        return {**context, "secret": grouped}


@require_safe
@page
@reauthentication_required(app="allauth.mfa")  # type: ignore[untyped-decorator] # the library ships no types
def app_picture(request: PersonRequest) -> HttpResponse:
    """Draw the secret that waits for its first code, as a file: the policy allows no picture inside a page."""
    adapter = get_adapter()
    drawing = adapter.build_totp_svg(adapter.build_totp_url(request.user, get_totp_secret()))
    return HttpResponse(drawing, content_type="image/svg+xml")


class PasskeyAdd(FactorAddMixin, AddWebAuthnView):
    """Add a passkey; every one may log its person in, so every one is kept on its device and unlocked there."""

    template_name = "mfa/webauthn/add_form.html"
    kind = Authenticator.Type.WEBAUTHN

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Ask the device for a key that it finds without a login being named."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "creation_options": begin_registration(self.request.user, passwordless=True)}


class RecoveryCodes(ViewRecoveryCodesView):
    """Recovery codes, shown once; whoever was on the way to a form goes on to it."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Say where to go on."""
        return {**super().get_context_data(**kwargs), "back": back_of(self.request)}
