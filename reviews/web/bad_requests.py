"""Pages for requests that were turned away before any view has read them, or that the server could not finish."""

from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader

from reviews.errors import Finding, ReviewError
from reviews.limits import passed_limit
from reviews.models import Person
from reviews.selectors.decision_page import decision_named
from reviews.services.submissions import submission_refuse
from reviews.web.frame import PersonRequest, authentication, request_id, workspace_of
from reviews.web.links import number_or_none


def page_of_unread(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say which limit the request passed, or that it cannot be read.

    A submission of somebody who is logged in is an entry of the workspace's log, like every refused one.
    """
    passed = passed_limit(exception)
    if passed is None:
        return HttpResponse(loader.render_to_string("400.html"), status=400)
    match = request.resolver_match
    if match is not None and match.url_name == "decision-new" and isinstance(request.user, Person):
        record(cast(PersonRequest, request), match.kwargs["slug"], passed)
    return render(request, "413.html", {"passed": passed}, status=413)


def page_of_method(request: HttpRequest, bare: HttpResponse) -> HttpResponse:
    """Say that an address takes no request of this kind; ``bare`` is the answer that names those it takes."""
    page = render(request, "405.html", {"is_act": "GET" not in bare["Allow"]}, status=405)
    page["Allow"] = bare["Allow"]
    return page


def page_of_failure(request: HttpRequest, status: int) -> HttpResponse:
    """Say that the server failed (500), or that the database cannot be used now (503).

    Neither page asks who reads it: that would take the database.
    """
    return HttpResponse(loader.render_to_string(f"{status}.html"), status=status)


def record(request: PersonRequest, slug: str, passed: Finding) -> None:
    """Record a submission of which nothing could be read; who may not even know of the workspace leaves no entry."""
    number = number_or_none(request.GET.get("decision", ""))
    try:
        workspace = workspace_of(slug)
        submission_refuse(
            actor=request.user,
            workspace=workspace,
            problems=(passed,),
            decision=decision_named(workspace, number) if number else None,
            request_id=request_id(),
            authentication=authentication(request),
        )
    except ReviewError:
        return
