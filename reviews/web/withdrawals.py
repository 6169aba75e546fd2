"""Taking back one's own sign-off: a page that shows it and asks for the reason."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from reviews.errors import InvalidRequestError, NotFoundError
from reviews.selectors.decision_page import decision_page
from reviews.services.acting import PROSE_LENGTH
from reviews.services.withdrawals import signoff_withdraw
from reviews.web.frame import PersonRequest, authentication, frame, page, request_id, workspace_of
from reviews.web.signoff_rows import own_signoff


@require_http_methods(["GET", "HEAD", "POST"])
@page
def signoff_withdrawal(request: PersonRequest, slug: str, number: int, signoff: int) -> HttpResponse:
    """Show the sign-off that would be taken back, or take it back; a refused reason is kept.

    An attempt on somebody else's is left to the service, which refuses and records it.

    Raises:
        NotFoundError: no such sign-off on this decision, or it is not the reader's to show, or was taken back.
        NotAllowedError: an attempt on somebody else's.
    """
    workspace = workspace_of(slug)
    found = decision_page(actor=request.user, workspace=workspace, number=number, read_plan=False)
    row = next((row for row in found.signoffs if row.id == signoff), None)
    is_shown = row is not None and row.is_mine and row.withdrawn_at is None
    if row is None or (request.method != "POST" and not is_shown):
        raise NotFoundError(f"You have no sign-off with this number that stands on {found.label}.")
    reason, problem = "", ""
    if request.method == "POST":
        reason = request.POST.get("reason", "")
        try:
            signoff_withdraw(
                actor=request.user,
                workspace=workspace,
                signoff_id=signoff,
                reason=reason,
                request_id=request_id(),
                authentication=authentication(request),
            )
        except InvalidRequestError as refused:
            problem = refused.message
        else:
            return redirect(f"{reverse('decision-detail', args=[slug, number])}#requirements")
    context = frame(
        slug,
        "inbox",
        decision=found,
        own=own_signoff(row, timezone.now()),
        back=reverse("decision-detail", args=[slug, number]),
        reason=reason,
        problem=problem,
        longest=PROSE_LENGTH,
    )
    return render(request, "reviews/signoff_withdraw.html", context, status=422 if problem else 200)
