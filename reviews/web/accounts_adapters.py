"""What django-allauth asks an installation to decide: who may come in, what is said, how secrets lie in the database.

Rules kept: nobody signs up; a closed account is told nothing that a wrong password is not told; a way back leads to
this host alone; secrets of second factors are encrypted under ``SECRET_KEY``.
"""

import base64
import secrets
from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from reviews.models import Person
from reviews.sealing import FACTORS, SealBrokenError, seal, unseal

log = structlog.get_logger("topogate.accounts")

SAID = {
    "account/messages/password_changed.txt": "Your password is changed. Other sessions of yours are ended.",
    "account/messages/password_set.txt": "Your password is set.",
    "mfa/messages/totp_activated.txt": "Codes of your authenticator app are asked for from now on.",
    "mfa/messages/totp_deactivated.txt": "Codes of the authenticator app are not asked for any more.",
    "mfa/messages/webauthn_added.txt": "The passkey is added. It logs you in and confirms that it is you.",
    "mfa/messages/webauthn_removed.txt": "The passkey is removed.",
    "mfa/messages/recovery_codes_generated.txt": "Recovery codes are made. Earlier ones are void.",
    "socialaccount/messages/account_connected.txt": "The login of your organisation is linked.",
    "socialaccount/messages/account_disconnected.txt": "The login of your organisation is not linked any more.",
}
"""What people read after an act of the library; everything else it would say is plain from the page itself."""
NOT_LINKED = "No account here is linked to this login. Log in with your password once and link it under Account."


class AccountAdapter(DefaultAccountAdapter):
    """Logins and passwords."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "incorrect_code": "This code is wrong, too old or used already. Take the next one.",
        "incorrect_password": "This is not your password.",
        "enter_current_password": "This is not your present password.",
        "too_many_login_attempts": "Too many wrong codes for this account. Wait five minutes.",
        "rate_limited": "Too many wrong codes for this account. Wait five minutes.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody signs up; admins invite."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count nothing here: axes counts what fails, and one wrong password is to be counted once."""

    def is_safe_url(self, url: str | None) -> bool:
        """Whether a way back leads to this host; that another host is served as well makes it no way back."""
        return url_has_allowed_host_and_scheme(
            url, allowed_hosts={self.request.get_host()}, require_https=self.request.is_secure()
        )

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        """Say in our own words what was done, pass on what went wrong; drop what is plain from the page."""
        said = message or SAID.get(message_template or "")
        if said:
            messages.add_message(request, level, said)

    def respond_user_inactive(self, request: HttpRequest, user: Person) -> HttpResponse:
        """Turn a closed account away that came by passkey or by another login; passwords never get here."""
        log.warning("login.refused", person=user.token, reason="account closed")
        return turned_away(request, "This account is closed. An admin can open it again.")


class SecondFactorAdapter(DefaultMFAAdapter):
    """Codes, passkeys, recovery codes."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
    }

    def encrypt(self, text: str) -> str:
        """Encrypt a secret under the present key."""
        return seal(text, FACTORS)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt under any key in use. What no key opens becomes a secret that nobody knows: no code matches it."""
        try:
            return unseal(encrypted_text, FACTORS)
        except SealBrokenError:
            log.error("second_factor.unreadable", reason="encrypted under a SECRET_KEY that is not known any more")
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Name this installation for passkeys; they are bound to its host."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Topogate"}


class OtherLoginAdapter(DefaultSocialAccountAdapter):
    """Logins of an organisation by OpenID Connect."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Let in only whoever linked this login to their account here.

        Raises:
            ImmediateHttpResponse: nobody did.
        """
        is_linking = sociallogin.state.get("process") == "connect"
        if not sociallogin.is_existing and not is_linking:
            log.warning("login.refused", reason="no account is linked", provider=sociallogin.account.provider)
            raise ImmediateHttpResponse(turned_away(request, NOT_LINKED))

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        """Go back to the account after linking."""
        return reverse("account")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Say that the other login failed.

        Raises:
            ImmediateHttpResponse: always.
        """
        log.warning("login.refused", reason="the other login failed", error=str(error), detail=repr(exception)[:200])
        raise ImmediateHttpResponse(
            turned_away(request, "The login of your organisation did not succeed. Nothing was changed.")
        )


def turned_away(request: HttpRequest, text: str) -> HttpResponse:
    """Answer a login that leads nowhere."""
    context = {"status": 403, "heading": "Not logged in", "text": text, "href": "/login", "action": "To the login"}
    return render(request, "reviews/refused.html", context, status=403)
