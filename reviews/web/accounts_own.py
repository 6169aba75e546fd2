"""One's own account: name, password, second factors, sessions, the login of one's organisation."""

import re
from dataclasses import dataclass

from allauth.account.decorators import reauthentication_required
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from reviews.clock import when
from reviews.errors import InvalidRequestError
from reviews.models import Person
from reviews.selectors.people import workspace_rows
from reviews.selectors.proofs import demands_second_factor
from reviews.selectors.sessions import session_rows
from reviews.services.people_accounts import (
    NAME_LENGTH,
    other_login_remove,
    person_rename,
    session_finish,
    sessions_finish,
)
from reviews.web.accounts import logged_out, other_login
from reviews.web.frame import PersonRequest, page, trace_of

BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone|iPad", "iOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session as text."""

    id: int
    browser: str
    address: str
    began: str
    is_this: bool


@dataclass(frozen=True, slots=True)
class PasskeyLine:
    """One passkey as text."""

    id: int
    name: str
    added: str
    used: str


@require_http_methods(["GET", "HEAD", "POST"])
@page
def account(request: PersonRequest) -> HttpResponse:
    """Show the account; the form changes the printed name."""
    problem, name = "", request.user.display_name
    if request.method == "POST":
        name = request.POST.get("name", "")
        try:
            person_rename(actor=request.user, name=name, trace=trace_of(request))
        except InvalidRequestError as refused:
            problem = refused.message
            request.user.refresh_from_db(fields=["display_name"])
        else:
            messages.success(request, "Your name is changed.")
            return redirect("account")
    return render(request, "account/account.html", page_of(request, name, problem), status=422 if problem else 200)


def page_of(request: PersonRequest, name: str, problem: str) -> dict[str, object]:
    """Return what the page shows."""
    held = list(Authenticator.objects.filter(user=request.user).order_by("pk"))
    kinds = {row.type for row in held}
    workspaces = workspace_rows(request.user)
    codes = next((row for row in held if row.type == Authenticator.Type.RECOVERY_CODES), None)
    return {
        "name": name,
        "problem": problem,
        "longest": NAME_LENGTH,
        "workspaces": workspaces,
        "has_password": request.user.has_usable_password(),
        "has_app": Authenticator.Type.TOTP in kinds,
        "passkeys": [passkey_line(row) for row in held if row.type == Authenticator.Type.WEBAUTHN],
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else None,
        "is_demanded": demands_second_factor(*(row.id for row in workspaces)),
        "sessions": session_lines(request.user, request.session.session_key),
        "other_login": other_login(),
        "is_linked": SocialAccount.objects.filter(user=request.user).exists(),
    }


def passkey_line(row: Authenticator) -> PasskeyLine:
    """Make a line of a passkey."""
    used = when(row.last_used_at) if row.last_used_at else "never"
    return PasskeyLine(row.pk, row.wrap().name, when(row.created_at), used)


def session_lines(person: Person, this: str | None) -> list[SessionLine]:
    """Make lines of the sessions of a person, the newest first; ``this`` is the key of the one that asks."""
    return [
        SessionLine(row.id, browser_of(row.user_agent), row.address, when(row.began_at), row.key == this)
        for row in session_rows(person)
    ]


def browser_of(user_agent: str) -> str:
    """Name browser and system as far as the browser tells them."""
    browser = next((name for sign, name in BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS if re.search(sign, user_agent)), "")
    return " on ".join(filter(None, (browser, system))) or "A browser that does not say what it is"


@require_POST
@page
def session_end(request: PersonRequest, session: int) -> HttpResponse:
    """End one session; ending this very one logs out."""
    this = request.session.session_key
    ended = session_finish(actor=request.user, session_id=session)
    if ended == this:
        logout(request)
        return logged_out(request)
    messages.success(request, "The session is ended.")
    return redirect(f"{reverse('account')}#sessions")


@require_POST
@page
def other_sessions_end(request: PersonRequest) -> HttpResponse:
    """End every session but this one."""
    sessions_finish(person=request.user, by=request.user, but=request.session.session_key)
    messages.success(request, "All other sessions are ended.")
    return redirect(f"{reverse('account')}#sessions")


@require_POST
@page
@reauthentication_required(app="allauth.account")  # type: ignore[untyped-decorator] # the library ships no types
def other_login_unlink(request: PersonRequest) -> HttpResponse:
    """Unlink the login of one's organisation, unless it is the only way in."""
    other_login_remove(actor=request.user, trace=trace_of(request))
    messages.success(request, "The login of your organisation is not linked any more.")
    return redirect("account")
