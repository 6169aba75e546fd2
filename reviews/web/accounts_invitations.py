"""The page behind a one-time link: who it is for, and their new password."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from reviews.clock import when
from reviews.errors import InvalidRequestError, NotFoundError
from reviews.services.people_invitations import invitation_open, invitation_use
from reviews.web.frame import request_id

PASSWORD_SET = "Your password is set. Log in with it."  # noqa: S105 # a sentence, no password


@sensitive_post_parameters("password", "repeated")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Show whom the link is for; the form sets the password and leads to the login. Opening it uses nothing up."""
    problems: tuple[str, ...] = ()
    try:
        if request.method == "POST":
            password, repeated = (request.POST.get(name, "") for name in ("password", "repeated"))
            invitation_use(secret=secret, password=password, repeated=repeated, request_id=request_id())
            messages.success(request, PASSWORD_SET)
            return redirect("account_login")
        found = invitation_open(secret)
    except InvalidRequestError as refused:
        problems = tuple(f"{problem.found[:1].upper()}{problem.found[1:]}." for problem in refused.problems)
        found = invitation_open(secret)
    except NotFoundError as refused:
        context = {"status": 404, "heading": "This link opens nothing", "text": refused.message, "href": "/login"}
        return render(request, "reviews/refused.html", {**context, "action": "To the login"}, status=404)
    context = {
        "person": found.person,
        "workspace": found.workspace.title,
        "ends": when(found.expires_at),
        "problems": problems,
    }
    return render(request, "account/join.html", context, status=422 if problems else 200)
