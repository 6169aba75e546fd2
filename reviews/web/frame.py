"""What all pages share: who is asking, in which workspace, and how a refusal is answered. No rule lives here."""

import shlex
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlencode, urlsplit

import structlog
from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from reviews.asked_once import reading
from reviews.errors import NotFoundError, ReviewError, TamperedError
from reviews.facts import Authentication, Standing
from reviews.models import Person, Workspace
from reviews.policies.permissions import may_submit
from reviews.selectors.people import standing_of, workspace_named
from reviews.selectors.turns import turn_count
from reviews.services.people import Trace
from reviews.web.reauthentication import recent_authentication

P = ParamSpec("P")

HEADINGS = {
    403: "You may not do this",
    404: "There is no such page",
    409: "This moved while you read it",
    422: "Something in the request is wrong",
}
TAMPERED = "What is stored here was changed"
TYPED = (
    *("statement", "conditions", "follow_ups", "failing_gates", "reason", "note", "text"),
    *("policy", "contract", "evidence", "document_text", "config_text", "topology_text"),
)
"""Fields of forms with somebody's own words or a pasted document, which no refusal loses."""


class PersonRequest(HttpRequest):
    """A request of somebody who is logged in.

    ``turn_count`` and ``may_submit`` are worked out when the bar of a page asks for them.
    """

    user: Person
    turn_count: "int | SimpleLazyObject[int]"
    may_submit: "SimpleLazyObject[bool]"
    htmx: HtmxDetails


def page(view: Callable[Concatenate[PersonRequest, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Make a page of a view: it needs a login, a refusal becomes a page that says why, and no cache keeps it."""

    @wraps(view)
    def answer(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return to_login(request)
        asked = cast(PersonRequest, request)
        membership = cache(lambda: membership_of(asked.user, kwargs.get("slug")))
        asked.turn_count = SimpleLazyObject(lambda: turns_of(membership()))
        asked.may_submit = SimpleLazyObject(lambda: submits(membership()))
        try:
            with reading() if request.method in ("GET", "HEAD") else nullcontext():
                shown: HttpResponseBase = view(asked, *args, **kwargs)
        except ReviewError as refused:
            shown = refusal(request, refused)
        except ReauthenticationRequired:
            if get_adapter().get_reauthentication_methods(request.user):
                raise
            shown = login_too_old(request)
        shown.headers.setdefault("Cache-Control", "private, no-store")
        return shown

    return answer


def to_login(request: HttpRequest) -> HttpResponse:
    """Send a stranger to the login, which leads back; what a form was sent with would be lost on the way."""
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    context = {
        "status": 403,
        "why": "login",
        "heading": "You are not logged in any more",
        "text": "Nothing was changed. Log in and send the form again.",
        "kept": typed_text(request),
        "href": f"{reverse('account_login')}?{urlencode({'next': form_address(request) or '/'})}",
        "action": "Log in",
    }
    return render(request, "reviews/refused.html", context, status=403)


def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose protection against forgery did not match; what came from another site is not shown."""
    back = form_address(request)
    context = {
        "status": 403,
        "why": "form",
        "heading": "The form is too old",
        "text": "The page that you sent was opened before you logged in, or cookies are off. Open it anew and send it "
        "again. Nothing was changed.",
        **({"kept": typed_text(request), "href": back, "action": "Open it anew"} if back else {}),
    }
    return render(request, "reviews/refused.html", context, status=403)


def login_too_old(request: HttpRequest) -> HttpResponse:
    """Tell somebody without a password or second factor how to do what needs a fresh proof: by logging in again."""
    minutes = settings.ACCOUNT_REAUTHENTICATION_TIMEOUT // 60
    context = {
        "status": 403,
        "heading": "Your login is too old for this",
        "text": f"It needs a login of the last {minutes} minutes, and your account has no password or second factor "
        "to confirm it with. Log out, log in again, and come back at once.",
        "href": reverse("account"),
        "action": "Back to your account",
    }
    return render(request, "reviews/refused.html", context, status=403)


def nothing_to_confirm_with(request: HttpRequest) -> HttpResponse:
    """Say to somebody without a password or second factor what the page of confirmations is, and what to do."""
    context = {
        "status": 403,
        "heading": "You have nothing to confirm with",
        "text": "This page asks who you are once more before you sign. Your account has no password and no second "
        "factor: set up one of them, or log out and in again, which counts as well.",
        "href": reverse("account"),
        "action": "Go to your account",
    }
    return render(request, "reviews/refused.html", context, status=403)


def form_address(request: HttpRequest) -> str:
    """Return the path of the page that a form was sent from, empty where it was none of this server."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    return came_from._replace(scheme="", netloc="").geturl() if came_from.netloc == request.get_host() else ""


def typed_text(request: HttpRequest) -> str:
    """Return what was written in a form that is refused, one field below the other."""
    return "\n\n".join(request.POST[name] for name in TYPED if request.POST.get(name))


def membership_of(person: Person, slug: object) -> tuple[Standing, Workspace] | None:
    """Return who a person is in the workspace of an address; None without one, or where it is not theirs."""
    try:
        workspace = workspace_named(str(slug)) if slug else None
        return (standing_of(person, workspace), workspace) if workspace else None
    except NotFoundError:
        return None


def turns_of(membership: tuple[Standing, Workspace] | None) -> int:
    """Count the decisions of a workspace that wait on a member."""
    return turn_count(*membership) if membership else 0


def submits(membership: tuple[Standing, Workspace] | None) -> bool:
    """Whether a member may submit to the workspace."""
    return membership is not None and may_submit(membership[0]).allowed


def refusal(request: HttpRequest, refused: ReviewError) -> HttpResponse:
    """Answer a refused request with its status and its own words, and give back what was written in its form."""
    heading = TAMPERED if isinstance(refused, TamperedError) else HEADINGS.get(refused.status, "Refused")
    context = {"status": refused.status, "heading": heading, "text": refused.message, "kept": typed_text(request)}
    return render(request, "reviews/refused.html", context, status=refused.status)


def workspace_of(slug: str) -> Workspace:
    """Return the workspace of an address; whether the person belongs to it is the selector's question."""
    return workspace_named(slug)


def server_of(request: HttpRequest) -> str:
    """Return the address of this server, as commands take it."""
    return request.build_absolute_uri("/").rstrip("/")


def identity_post_command(request: HttpRequest, slot: str, workspace: str, file: str) -> str:
    """Return the command that sends what a host said of itself."""
    where = f"--server {server_of(request)} --workspace {workspace}"
    return f"topogate identity post {file} --slot {shlex.quote(slot)} {where}"


def go_to(request: PersonRequest, href: str) -> HttpResponse:
    """Lead on to another page: a script is told where, for it would fetch a redirect's page and then load it again."""
    return HttpResponseClientRedirect(href) if request.htmx else redirect(href)


def frame(workspace: str, nav: str, **values: Any) -> dict[str, Any]:
    """Return a page's context with what the frame needs; ``nav`` is the entry of the bar that is current."""
    return {"workspace_slug": workspace, "nav": nav, **values}


def request_id() -> str:
    """Return the id that the log lines of this request carry."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def authentication(request: PersonRequest) -> Authentication:
    """Say how and how long ago the person proved who they are."""
    return recent_authentication(request)


def trace_of(request: PersonRequest) -> Trace:
    """Say what an entry of the log tells of the request that made it."""
    return Trace(request_id(), authentication(request))
