"""What an admin does with the people of a workspace: one form, one call each."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.services.erasure import member_erase
from reviews.services.people_roster import (
    Asker,
    account_close,
    account_open,
    link_make,
    member_invite,
    member_remove,
    member_role_set,
    seats_set,
)
from reviews.web.frame import PersonRequest, page, trace_of, workspace_of
from reviews.web.once import FIELD
from reviews.web.people_pages import people_page, person_page

SEAT_FIELD = "seat-"
Refused = (ConflictError, InvalidRequestError, NotAllowedError)


def asker_of(request: PersonRequest, slug: str) -> Asker:
    """Say who acts."""
    return Asker(
        person=request.user,
        workspace=workspace_of(slug),
        trace=trace_of(request),
    )


@never_cache
@require_POST
@page
def person_invite(request: PersonRequest, slug: str) -> HttpResponse:
    """Invite somebody; the link stands on the answer, once."""
    try:
        invited = member_invite(
            asker=asker_of(request, slug),
            login=request.POST.get("login", ""),
            name=request.POST.get("name", ""),
            email=request.POST.get("email", ""),
            role=request.POST.get("role", ""),
            once=request.POST.get(FIELD, ""),
        )
    except Refused as refused:
        return people_page(request, slug, problems=refused.sentences, status=refused.status)
    return people_page(request, slug, invited=invited)


@never_cache
@require_POST
@page
def person_link(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Make a link for somebody who lost their password; it stands on the answer, once."""
    forget = request.POST.get("forget_factors") == "on"
    once = request.POST.get(FIELD, "")
    try:
        made = link_make(asker=asker_of(request, slug), login=login, forget_factors=forget, once=once)
    except Refused as refused:
        return person_page(request, slug, login, problems=refused.sentences, status=refused.status)
    return person_page(request, slug, login, made=made)


@require_POST
@page
def person_role(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Change a role."""
    role = request.POST.get("role", "")
    return _acted(
        request, slug, login, "The role is changed.", lambda asker: member_role_set(asker=asker, login=login, role=role)
    )


@require_POST
@page
def person_seats(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Change seats."""
    names = [name for name in request.POST if name.startswith(SEAT_FIELD)]
    seats = {name.removeprefix(SEAT_FIELD): request.POST.get(name, "") for name in names}
    return _acted(
        request, slug, login, "The seats are changed.", lambda asker: seats_set(asker=asker, login=login, seats=seats)
    )


@require_POST
@page
def person_close(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Close an account."""
    return _acted(
        request,
        slug,
        login,
        "The account is closed, its sessions are ended.",
        lambda asker: account_close(asker=asker, login=login),
    )


@require_POST
@page
def person_open(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Open an account again."""
    return _acted(
        request, slug, login, "The account is open again.", lambda asker: account_open(asker=asker, login=login)
    )


@require_POST
@page
def person_erase(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Erase a person whose account is closed, once the login is repeated."""
    try:
        erased = member_erase(asker=asker_of(request, slug), login=login, repeated=request.POST.get("login", ""))
    except Refused as refused:
        return person_page(request, slug, login, problems=refused.sentences, status=refused.status)
    messages.success(request, "The person is erased. What they did stays, under a name that says nothing.")
    return redirect("person", slug, erased.login)


def _acted(request: PersonRequest, slug: str, login: str, said: str, act: Callable[[Asker], None]) -> HttpResponse:
    try:
        act(asker_of(request, slug))
    except Refused as refused:
        return person_page(request, slug, login, problems=refused.sentences, status=refused.status)
    messages.success(request, said)
    return redirect("person", slug, login)


@require_POST
@page
def person_remove(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Take somebody out of the workspace."""
    try:
        member_remove(asker=asker_of(request, slug), login=login)
    except Refused as refused:
        return person_page(request, slug, login, problems=refused.sentences, status=refused.status)
    messages.success(request, f"{login} is no member any more.")
    return redirect("people", slug)
