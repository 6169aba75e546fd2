"""Putting a decision into force, or ending its review: one page, one form for each act that fits."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from reviews.errors import (
    ConflictError,
    InvalidRequestError,
    NotAllowedError,
    ProofNeededError,
    ReviewError,
    TamperedError,
)
from reviews.models import Decision
from reviews.selectors.pages import release_view
from reviews.services.activation import decision_activate
from reviews.services.closing import decision_close, decision_reject, decision_withdraw
from reviews.services.people import Trace
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, authentication, frame, page, request_id, workspace_of
from reviews.web.page_rows import subject_digests
from reviews.web.reauthentication import ask_again, typed_before
from reviews.web.release_rows import acts_of, in_force_of
from reviews.web.signoff_rows import requirements_of

ENDS: dict[str, Callable[..., Decision]] = {
    "close": decision_close,
    "reject": decision_reject,
    "withdraw": decision_withdraw,
}
FIELDS = ("act", "statement", "reason", "rollback", "seen_subject")


@require_http_methods(["GET", "HEAD", "POST"])
@page
def decision_release(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what can be done with a reviewed decision, or do it; a refused form keeps what was typed."""
    if request.method != "POST":
        return _shown(request, slug, number, typed=typed_before(request))
    typed = {name: request.POST.get(name, "") for name in FIELDS}
    try:
        _done(request, slug, number, typed)
    except ProofNeededError:
        return ask_again(request, back=reverse("decision-release", args=[slug, number]), typed=typed)
    except (ConflictError, NotAllowedError, InvalidRequestError, TamperedError) as refused:
        return _shown(request, slug, number, typed=typed, refused=refused)
    return redirect(reverse("decision-detail", args=[slug, number]))


def _done(request: PersonRequest, slug: str, number: int, typed: dict[str, str]) -> None:
    common: dict[str, Any] = {
        "actor": request.user,
        "workspace": workspace_of(slug),
        "number": number,
        "trace": Trace(request_id(), authentication(request)),
    }
    end = ENDS.get(typed["act"])
    if end is not None:
        end(reason=typed["reason"], **common)
        return
    decision_activate(
        statement=typed["statement"], seen_subject=typed["seen_subject"], rollback=typed["rollback"], **common
    )


def _shown(
    request: PersonRequest, slug: str, number: int, *, typed: dict[str, str], refused: ReviewError | None = None
) -> HttpResponse:
    found = release_view(actor=request.user, workspace=workspace_of(slug), number=number)
    problem = refused.message if refused else ""
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-release"),
        number=number,
        acts=acts_of(found.page, typed=typed, problem=problem),
        in_force=in_force_of(found.page.activation),
        requirements=requirements_of(found.page, timezone.now()),
        subject=found.page.newest.subject or "",
        digests=subject_digests(found.page.newest),
        rollbacks=tuple((choice.value, choice.text) for choice in found.rollbacks),
        rollback=typed.get("rollback", ""),
        state_because=found.page.state_because,
    )
    return render(request, "reviews/decision_release.html", context, status=refused.status if refused else 200)
