"""Second factors of one's own: authenticator app, passkeys, recovery codes."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import get_totp_secret
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.internal.auth import begin_registration
from allauth.mfa.webauthn.views import AddWebAuthnView
from django.http import HttpResponse
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


class AppAdd(ActivateTOTPView):
    """Set up an authenticator app. The secret is shown as text and drawn by an address of its own."""

    template_name = "mfa/totp/activate_form.html"

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


class PasskeyAdd(AddWebAuthnView):
    """Add a passkey; every one may log its person in, so every one is kept on its device and unlocked there."""

    template_name = "mfa/webauthn/add_form.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Ask the device for a key that it finds without a login being named."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "creation_options": begin_registration(self.request.user, passwordless=True)}


def has_second_factor(person_id: int) -> bool:
    """Whether a person has set up an authenticator app or a passkey."""
    kinds = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return bool(Authenticator.objects.filter(user_id=person_id, type__in=kinds).exists())
