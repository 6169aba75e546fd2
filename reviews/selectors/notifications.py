"""How a person is told about a workspace, and what they were sent."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from reviews.models import Delivery, NoticeMode, NoticePreference, Person, Workspace
from reviews.selectors.people import standing_of

SHOWN = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRow:
    """One delivery to the person; one about the policy has no decision.

    ``due_at`` is when it is tried next, ``sent_at`` None until it was sent.
    """

    decision: str
    number: int | None
    title: str
    kind: str
    why: str
    happened_at: datetime
    state: str
    attempts: int
    due_at: datetime
    sent_at: datetime | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """What the page needs: the person's choice (``NoticeMode``), whether email works at all, the last deliveries."""

    mode: str
    email: str
    is_on: bool
    digest_hour: int
    deliveries: tuple[DeliveryRow, ...]


def notifications(*, actor: Person, workspace: Workspace) -> Notifications:
    """Return how the actor is told, and their last deliveries, newest first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    chosen = NoticePreference.objects.filter(workspace=workspace, person=actor).values_list("mode", flat=True).first()
    rows = Delivery.objects.filter(person=actor, notice__workspace=workspace).select_related("notice__decision")
    return Notifications(
        mode=chosen or NoticeMode.AT_ONCE,
        email=actor.email,
        is_on=settings.EMAIL_IS_ON,
        digest_hour=settings.DIGEST_HOUR,
        deliveries=tuple(_row(row) for row in rows.order_by("-pk")[:SHOWN]),
    )


def _row(row: Delivery) -> DeliveryRow:
    decision = row.notice.decision
    return DeliveryRow(
        decision=decision.label if decision else "",
        number=decision.number if decision else None,
        title=decision.title if decision else "",
        kind=row.notice.kind,
        why=row.why,
        happened_at=row.notice.happened_at,
        state=row.state,
        attempts=row.attempts,
        due_at=row.due_at,
        sent_at=row.sent_at,
        error=row.error,
    )
