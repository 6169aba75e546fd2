"""Sends what waits to be sent: claim by lease, send, mark; tried again with growing pauses, given up in the end.

A delivery that was sent and not yet marked when its worker died is sent once more when the lease ends, with the same
message id. Everything that stands in a digest of one person goes in one message.
"""

import logging
import smtplib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from reviews import queue
from reviews.clock import database_now
from reviews.models import Membership
from reviews.models.notices import Delivery, DeliveryState
from reviews.services.leases import in_seconds
from reviews.services.messages import digest_message, notice_message
from reviews.services.webhook_messages import webhook_tell
from reviews.webhook_call import CallRefusedError

LEASE_SECONDS = 120
WAKE_AT_ONCE = 100
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720))
"""How long to wait after each failed attempt; after one more it is given up."""
ERROR_LENGTH = 300
OF_NOTICE = ("decision", "proposal", "workspace", "actor")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Held:
    """Deliveries to one person or webhook that this process may send; ``rows`` is never empty."""

    token: uuid.UUID
    rows: tuple[Delivery, ...]


def deliveries_sweep() -> tuple[int, ...]:
    """Wake workers for deliveries that are due; return those of which the broker took no message.

    Safe to run from any number of processes at any time.
    """
    _give_up_lost()
    is_forgotten = Q(woken_at=None) | Q(woken_at__lte=in_seconds(-settings.PLAN_REWAKE_SECONDS))
    due = Delivery.objects.filter(_free(), is_forgotten).order_by("due_at", "pk")
    ids = list(due.values_list("pk", flat=True)[:WAKE_AT_ONCE])
    for number, delivery_id in enumerate(ids):
        if not queue.wake(delivery_id, queue.NOTIFY_TASK):
            return tuple(ids[number:])
        Delivery.objects.filter(pk=delivery_id).update(woken_at=Now())
    return ()


def delivery_send(delivery_id: int) -> DeliveryState | None:
    """Send one delivery, or the digest that it stands in; None when there is nothing to do."""
    held = _claim(delivery_id)
    if held is None or not _is_wanted(held):
        return None
    try:
        _hand_over(held.rows)
    except (smtplib.SMTPException, CallRefusedError, OSError) as error:
        return _failed(held, f"{type(error).__name__}: {error}")
    return _end(held, DeliveryState.SENT, sent_at=Now(), error="")


def _hand_over(rows: Sequence[Delivery]) -> None:
    first = rows[0]
    if first.webhook is not None:
        webhook_tell(first)
    elif first.is_digest:
        digest_message(rows).send()
    else:
        notice_message(first).send()


def _free() -> Q:
    return Q(state=DeliveryState.WAITING, due_at__lte=Now()) | Q(
        state=DeliveryState.SENDING, lease_until__lt=Now(), attempts__lte=len(PAUSES)
    )


def _claim(delivery_id: int) -> Held | None:
    asked = Delivery.objects.filter(pk=delivery_id).select_related("notice").first()
    if asked is None:
        return None
    wanted = Q(pk=delivery_id)
    if asked.is_digest:
        wanted = Q(person_id=asked.person_id, notice__workspace_id=asked.notice.workspace_id, is_digest=True)
    token = uuid.uuid4()
    ids = list(Delivery.objects.filter(wanted, _free()).values_list("pk", flat=True))
    Delivery.objects.filter(_free(), pk__in=ids).update(
        state=DeliveryState.SENDING,
        lease_token=token,
        lease_until=in_seconds(LEASE_SECONDS),
        attempts=F("attempts") + 1,
    )
    held = Delivery.objects.filter(lease_token=token).order_by("pk")
    rows = tuple(held.select_related("person", "webhook", *(f"notice__{name}" for name in OF_NOTICE)))
    return Held(token, rows) if rows else None


def _is_wanted(held: Held) -> bool:
    """Whether the person still belongs to the workspace and can be reached; else the deliveries are dropped.

    So are those to a webhook that was removed.
    """
    row = held.rows[0]
    if row.webhook is not None and row.webhook.removed_at is None:
        return True
    members = Membership.objects.filter(workspace_id=row.notice.workspace_id, person=row.person_id)
    if row.person is not None and row.person.is_active and row.person.email and members.exists():
        return True
    Delivery.objects.filter(lease_token=held.token).delete()
    return False


def _failed(held: Held, error: str) -> DeliveryState:
    error, attempts = " ".join(error.split())[:ERROR_LENGTH], max(row.attempts for row in held.rows)
    if attempts > len(PAUSES):
        logger.warning("delivery %d was given up after %d attempts: %s", held.rows[0].pk, attempts, error)
        return _end(held, DeliveryState.GIVEN_UP, error=error)
    return _end(held, DeliveryState.WAITING, error=error, due_at=database_now() + PAUSES[attempts - 1], woken_at=None)


def _end(held: Held, state: DeliveryState, **fields: object) -> DeliveryState:
    """Give the deliveries back in a state; what somebody else holds by now stays as it is."""
    Delivery.objects.filter(lease_token=held.token).update(state=state, lease_token=None, lease_until=None, **fields)
    return state


def _give_up_lost() -> None:
    """Give up on deliveries whose workers died again and again."""
    with transaction.atomic():
        Delivery.objects.filter(state=DeliveryState.SENDING, lease_until__lt=Now(), attempts__gt=len(PAUSES)).update(
            state=DeliveryState.GIVEN_UP,
            lease_token=None,
            lease_until=None,
            error="Every worker that sent it died before it could say so.",
        )
