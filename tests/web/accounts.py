"""Codes of authenticator apps as a phone would show them, and logins through the real page."""

import time

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.test import Client

from reviews.models import Person

PASSWORD = "a-long-password"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def person(login: str = "ada", password: str | None = PASSWORD) -> Person:
    """Somebody with a password."""
    return Person.objects.create_user(login, password, display_name=login.capitalize())


def app_of(somebody: Person) -> Authenticator:
    """Give somebody an authenticator app, and recovery codes as setting it up does."""
    RecoveryCodes.activate(somebody)
    return totp.TOTP.activate(somebody, SECRET).instance


def code_of_app(*, ahead: int = 0) -> str:
    """What the app shows now, or so many steps of 30 s ahead."""
    return str(totp.format_hotp_value(totp.hotp_value(SECRET, int(time.time()) // 30 + ahead)))


def wrong_code() -> str:
    """A code that the app shows nowhere near now."""
    shown = {code_of_app(ahead=step) for step in range(-2, 4)}
    return next(
        code for code in ("000000", "111111", "222222", "333333", "444444", "555555", "666666") if code not in shown
    )


def enter(client: Client, login: str = "ada", password: str = PASSWORD, **extra: str) -> int:
    """Send the form of the login page and return the status."""
    return client.post("/login", {"login": login, "password": password, **extra}).status_code


def is_in(client: Client) -> bool:
    """Whether the browser is logged in."""
    return client.get("/account/").status_code == 200
