"""The webhooks of a workspace and what they were sent. Secrets are not read."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from reviews.models import Delivery, Person, Webhook, Workspace
from reviews.policies.permissions import Verdict, may_administer
from reviews.selectors.people import standing_of

SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRow:
    """A webhook that is told."""

    id: int
    url: str
    made_by: str
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One message to a webhook; ``number`` is its decision's, where it is about one.

    ``due_at`` is when it is tried next, ``sent_at`` None until it was accepted.
    """

    url: str
    id: str
    event: str
    number: int | None
    state: str
    attempts: int
    due_at: datetime
    sent_at: datetime | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPage:
    """What the page needs; ``hosts`` are those that the installation lets be called."""

    may_administer: Verdict
    hosts: tuple[str, ...]
    webhooks: tuple[WebhookRow, ...]
    calls: tuple[CallRow, ...]


def webhook_page(*, actor: Person, workspace: Workspace) -> WebhookPage:
    """Return the webhooks in order of their making, and the last messages, newest first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    live = Webhook.objects.filter(workspace=workspace, removed_at=None).select_related("made_by").order_by("pk")
    calls = Delivery.objects.filter(notice__workspace=workspace, webhook__isnull=False)
    return WebhookPage(
        may_administer=may_administer(standing),
        hosts=tuple(sorted(settings.WEBHOOK_HOSTS)),
        webhooks=tuple(
            WebhookRow(id=row.pk, url=row.url, made_by=row.made_by.display_name, made_at=row.made_at) for row in live
        ),
        calls=tuple(_call(row) for row in calls.select_related("webhook", "notice__decision").order_by("-pk")[:SHOWN]),
    )


def _call(row: Delivery) -> CallRow:
    return CallRow(
        url=row.webhook.url if row.webhook else "",
        id=str(row.uid),
        event=row.notice.kind,
        number=row.notice.decision.number if row.notice.decision else None,
        state=row.state,
        attempts=row.attempts,
        due_at=row.due_at,
        sent_at=row.sent_at,
        error=row.error,
    )
