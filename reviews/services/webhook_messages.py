"""Tells webhooks of notices: one JSON object, signed, with an id that stays the same when it is sent again.

``Topogate-Signature`` is ``v1=`` and the hex HMAC-SHA256, under the webhook's secret, of timestamp, full stop and
body. Receivers compare it, refuse timestamps that are not of now, and do once what they see twice under one id.
"""

import hashlib
import hmac
import json
import time

from django.conf import settings
from django.urls import reverse

from planner.version import PLANNER_VERSION
from reviews.clock import utc_text
from reviews.models import Delivery
from reviews.webhook_call import CallRefusedError, post

SCHEMA = "topogate.notice/v1"


def webhook_tell(delivery: Delivery) -> None:
    """Call the webhook of a delivery.

    Raises:
        CallRefusedError: it is not to be called any more, or did not accept the message.
        OSError: nobody answered in time.
    """
    webhook = delivery.webhook
    if webhook is None:
        raise ValueError(f"delivery {delivery.pk} goes to a person")
    if not webhook.secret:
        raise CallRefusedError("its secret cannot be opened: SECRET_KEY changed. Remove the webhook and add it anew")
    body, timestamp = notice_body(delivery), str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"topogate/{PLANNER_VERSION}",
        "Topogate-Event": delivery.notice.kind,
        "Topogate-Id": str(delivery.uid),
        "Topogate-Timestamp": timestamp,
        "Topogate-Signature": signature(webhook.secret, timestamp, body),
    }
    post(webhook.url, body, headers, settings.WEBHOOK_HOSTS)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what stands in ``Topogate-Signature``."""
    signed = timestamp.encode() + b"." + body
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def notice_body(delivery: Delivery) -> bytes:
    """Write a notice as JSON: what happened to which decision, and where to read on. No names and no free text."""
    notice, decision = delivery.notice, delivery.notice.decision
    path = reverse("decision-detail", args=[notice.workspace.slug, decision.number])
    return json.dumps(
        {
            "schema": SCHEMA,
            "id": str(delivery.uid),
            "event": notice.kind,
            "happened_at": utc_text(notice.happened_at),
            "workspace": notice.workspace.slug,
            "decision": {
                "number": decision.number,
                "slot": decision.slot,
                "state": decision.state,
                "url": settings.PUBLIC_URL + path,
            },
            "revision": notice.revision,
            "team": notice.team or None,
            "meaning": notice.meaning or None,
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
