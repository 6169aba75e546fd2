"""Webhooks of a workspace: list, add, remove. A secret is shown on the answer to adding, once."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from reviews.clock import when
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models.notices import DeliveryState
from reviews.selectors.people import workspace_of_member
from reviews.selectors.webhooks import webhook_page
from reviews.services.webhooks import MadeWebhook, webhook_add, webhook_remove
from reviews.web.frame import PersonRequest, frame, page, trace_of
from reviews.web.notifications import STATES, progress_text
from reviews.web.once import FIELD


@require_http_methods(["GET", "HEAD", "POST"])
@page
def webhook_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the webhooks and what they were sent; a form adds another."""
    if request.method != "POST":
        return answer(request, slug)
    try:
        made = webhook_add(
            actor=request.user,
            workspace=workspace_of_member(request.user, slug),
            url=request.POST.get("url", ""),
            once=request.POST.get(FIELD, ""),
            trace=trace_of(request),
        )
    except InvalidRequestError as refused:
        return answer(request, slug, problems=tuple(problem.sentence for problem in refused.problems), status=422)
    except (ConflictError, NotAllowedError) as refused:
        return answer(request, slug, problems=(refused.message,), status=refused.status)
    return answer(request, slug, made=made)


@require_POST
@page
def webhook_removed(request: PersonRequest, slug: str, webhook_id: int) -> HttpResponse:
    """Remove a webhook and go back to the list."""
    workspace = workspace_of_member(request.user, slug)
    webhook_remove(actor=request.user, workspace=workspace, webhook_id=webhook_id, trace=trace_of(request))
    return redirect("webhook-list", slug)


def answer(
    request: PersonRequest,
    slug: str,
    *,
    made: MadeWebhook | None = None,
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    """Render the page, with a new webhook's secret or with what is wrong."""
    found = webhook_page(actor=request.user, workspace=workspace_of_member(request.user, slug))
    now = timezone.now()
    context = frame(
        slug,
        "people",
        made=made,
        problems=problems,
        url=request.POST.get("url", "") if problems else "",
        off=found.may_administer.reason,
        hosts=found.hosts,
        webhooks=[(row.id, row.url, row.made_by, when(row.made_at)) for row in found.webhooks],
        calls=[(row, STATES[DeliveryState(row.state)], progress_text(row, now)) for row in found.calls],
    )
    return render(request, "reviews/webhook_list.html", context, status=status)
