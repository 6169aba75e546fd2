"""How one is told about a workspace by email, and what was sent."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from reviews.clock import when
from reviews.errors import InvalidRequestError
from reviews.models.notices import DeliveryState, NoticeMode, NoticeReason
from reviews.selectors.notifications import DeliveryRow, notifications
from reviews.selectors.people import workspace_of_member
from reviews.selectors.webhooks import CallRow
from reviews.services.notice_preferences import notice_preference_set
from reviews.web.formats import ago, count
from reviews.web.frame import PersonRequest, frame, page
from reviews.web.words import Word

STATES = {
    DeliveryState.WAITING: Word("Waiting", "wait", "plain"),
    DeliveryState.SENDING: Word("Sending", "wait", "plain"),
    DeliveryState.SENT: Word("Sent", "pass", "pass"),
    DeliveryState.GIVEN_UP: Word("Given up", "fail", "fail"),
}
NOTES = {
    NoticeMode.AT_ONCE: "One message for each act that concerns you.",
    NoticeMode.DIGEST: "One message a day with everything, at {hour:02}:00 UTC. "
    "An emergency that you can countersign comes at once.",
    NoticeMode.OFF: "No email. The list of decisions still says when it is your turn.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLine:
    """One delivery as text."""

    label: str
    href: str
    title: str
    why: str
    happened: str
    word: Word
    more: str


def delivery_line(row: DeliveryRow, slug: str, now: datetime) -> DeliveryLine:
    """Make a line of a delivery."""
    place = ("decision-detail", [slug, row.number]) if row.number else ("policy-detail", [slug])
    return DeliveryLine(
        label=row.decision or "Policy",
        href=reverse(place[0], args=place[1]),
        title=row.title,
        why=str(NoticeReason(row.why).label),
        happened=when(row.happened_at),
        word=STATES[DeliveryState(row.state)],
        more=progress_text(row, now),
    )


def progress_text(row: DeliveryRow | CallRow, now: datetime) -> str:
    """Say how far a delivery has come."""
    tried = count(row.attempts, "attempt")
    if row.state == DeliveryState.WAITING:
        return f"due {ago(row.due_at, now)}" + (f" after {tried}: {row.error}" if row.error else "")
    if row.state == DeliveryState.GIVEN_UP:
        return f"after {tried}: {row.error}"
    return when(row.sent_at) if row.sent_at else tried


@require_http_methods(["GET", "HEAD", "POST"])
@page
def notification_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show how one is told and what was sent; a form changes it."""
    workspace = workspace_of_member(request.user, slug)
    problems: tuple[str, ...] = ()
    if request.method == "POST":
        try:
            notice_preference_set(actor=request.user, workspace=workspace, mode=request.POST.get("mode", ""))
            return redirect("notification-list", slug)
        except InvalidRequestError as refused:
            problems = tuple(problem.sentence for problem in refused.problems)
    found = notifications(actor=request.user, workspace=workspace)
    now = timezone.now()
    context = frame(
        slug,
        "account",
        problems=problems,
        modes=[
            (mode.value, mode.label, NOTES[mode].format(hour=found.digest_hour), mode == found.mode)
            for mode in NoticeMode
        ],
        email=found.email,
        is_on=found.is_on,
        deliveries=[delivery_line(row, slug, now) for row in found.deliveries],
    )
    return render(request, "reviews/notification_list.html", context, status=422 if problems else 200)
