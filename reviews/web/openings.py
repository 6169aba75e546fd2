"""Opening an item before approving, and settling a condition or follow-up: plain forms that lead back."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from reviews.errors import InvalidRequestError, NotFoundError
from reviews.selectors.pages import decision_view
from reviews.services.acting import PROSE_LENGTH
from reviews.services.openings import item_open
from reviews.services.withdrawals import point_settle
from reviews.web.frame import PersonRequest, frame, page, trace_of, workspace_of
from reviews.web.links import Query
from reviews.web.opening_rows import item_named, place_of
from reviews.web.signoff_rows import point_line


@require_POST
@page
def item_opened(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Note that an item was opened, and lead to where it stands on the decision's page."""
    workspace = workspace_of(slug)
    team, wanted = request.POST.get("team", ""), request.POST.get("item", "")
    item_open(actor=request.user, workspace=workspace, number=number, team=team, item=wanted)
    found = decision_view(actor=request.user, workspace=workspace, number=number, team=team)
    item = item_named(found.reviewing, wanted) if found.reviewing else None
    query = Query((("team", team),))
    place = place_of(item, found.plan, query) if item and found.plan else ""
    here = reverse("decision-detail", args=[slug, number])
    return redirect(f"{here}{place if place.startswith('?') else query.link() + place}")


@require_http_methods(["GET", "HEAD", "POST"])
@page
def point_settlement(request: PersonRequest, slug: str, number: int, point: int) -> HttpResponse:
    """Show a condition or follow-up that would be settled, or settle it; a refused note is kept.

    Raises:
        NotFoundError: no such point on this decision, or it is settled.
        NotAllowedError: the reader may not settle it.
    """
    workspace = workspace_of(slug)
    found = decision_view(actor=request.user, workspace=workspace, number=number, read_plan=False).page
    pairs = [(signoff, row) for signoff in found.signoffs for row in signoff.points if row.id == point]
    if not pairs or (request.method != "POST" and pairs[0][1].settled_by):
        raise NotFoundError(f"There is no open condition or follow-up of this number on {found.label}.")
    back = f"{reverse('decision-detail', args=[slug, number])}#requirements"
    note, problem = "", ""
    if request.method == "POST":
        note = request.POST.get("note", "")
        try:
            trace = trace_of(request)
            point_settle(actor=request.user, workspace=workspace, point_id=point, note=note, trace=trace)
        except InvalidRequestError as refused:
            problem = refused.message
        else:
            return redirect(back)
    signoff, row = pairs[0]
    context = frame(
        slug,
        "inbox",
        decision=found,
        point=point_line(row),
        signoff=signoff,
        back=back,
        note=note,
        problem=problem,
        longest=PROSE_LENGTH,
    )
    return render(request, "reviews/point_settle.html", context, status=422 if problem else 200)
