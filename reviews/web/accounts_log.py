"""Lines of the server's log about accounts: logins, proofs, factors, passwords. Importing this module connects it.

People are named by their token, as in audit entries. What is about a workspace is an entry there instead.
"""

from typing import Any

import structlog
from allauth.account.signals import authentication_step_completed, password_changed, password_set
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from allauth.socialaccount.signals import social_account_added
from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from reviews.errors import printable
from reviews.models import Person

log = structlog.get_logger("topogate.accounts")


@receiver(user_logged_in)
def logged_in(sender: type, user: Person, **kwargs: Any) -> None:
    """Somebody is in."""
    log.info("login.succeeded", person=user.token)


@receiver(user_logged_out)
def logged_out(sender: type, user: Person | None, **kwargs: Any) -> None:
    """Somebody left."""
    if user is not None:
        log.info("logout", person=user.token)


@receiver(user_login_failed)
def login_failed(sender: type, credentials: dict[str, Any], request: HttpRequest | None, **kwargs: Any) -> None:
    """A password or a code was wrong, or the login was closed already."""
    log.warning("login.failed", login=printable(str(credentials.get("username", ""))), address=address_of(request))


@receiver(user_locked_out)
def login_closed(sender: type, username: str | None, ip_address: str | None, **kwargs: Any) -> None:
    """A login is closed for an address for a while."""
    log.warning("login.closed", login=printable(username or ""), address=ip_address)


@receiver(authentication_step_completed)
def proved(sender: type, user: Person, method: str, **kwargs: Any) -> None:
    """Somebody who is logged in confirmed who they are."""
    if kwargs.get("reauthenticated"):
        log.info("proof.given", person=user.token, method=kwargs.get("type") or method)


@receiver([authenticator_added, authenticator_removed, authenticator_reset])
def factor_changed(sender: type, signal: Any, user: Person, authenticator: Any, **kwargs: Any) -> None:
    """A second factor came, went or was made anew."""
    names = {
        id(authenticator_added): "second_factor.added",
        id(authenticator_removed): "second_factor.removed",
        id(authenticator_reset): "second_factor.renewed",
    }
    log.warning(names[id(signal)], person=user.token, kind=authenticator.type)


@receiver([password_changed, password_set])
def password_is_new(sender: type, user: Person, **kwargs: Any) -> None:
    """Somebody has another password."""
    log.warning("password.changed", person=user.token)


@receiver(social_account_added)
def other_login_linked(sender: type, sociallogin: Any, **kwargs: Any) -> None:
    """Somebody linked the login of their organisation."""
    log.warning("other_login.linked", person=sociallogin.user.token)


def address_of(request: HttpRequest | None) -> str:
    """Return the address of the connection; what a header claims is not asked."""
    return request.META.get("REMOTE_ADDR", "") if request else ""
