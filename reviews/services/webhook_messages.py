"""Tells webhooks of notices: one JSON object, signed, with an id that stays the same when it is sent again.

``Topogate-Signature`` is ``v1=`` and the hex HMAC-SHA256, under the webhook's secret, of timestamp, full stop and
body. Receivers compare it, refuse timestamps that are not of now, and do once what they see twice under one id.
"""

import hashlib
import hmac
import json
import time
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from planner.version import PLANNER_VERSION
from reviews.clock import database_now, utc_text
from reviews.models import Activation, DecisionState, Delivery, Notice
from reviews.selectors.proposals import proposal_said
from reviews.selectors.slots_now import DecisionNow, decisions_now, slots_now
from reviews.selectors.validity import differences_since
from reviews.services.messages import notice_path
from reviews.webhook_call import CallRefusedError, post

SCHEMA = "topogate.notice/v1"
DIFFERENCES_BYTES = 24 * 1024
"""Of the keys that differ; a message has at most 64 KiB."""


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
    post(webhook.url, body, headers, settings.WEBHOOK_HOSTS, proxy=settings.WEBHOOK_PROXY)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what stands in ``Topogate-Signature``."""
    signed = timestamp.encode() + b"." + body
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def notice_body(delivery: Delivery) -> bytes:
    """Write a notice as JSON: what happened to which decision, and what holds in its slot. No names and no free text.

    What happened is of its time, what holds of the moment of sending: a message that was tried again says nothing old.
    """
    notice, now = delivery.notice, database_now()
    found = decisions_now(notice.workspace, [notice.decision], now)[0] if notice.decision else None
    return json.dumps(
        {
            "schema": SCHEMA,
            "id": str(delivery.uid),
            "event": notice.kind,
            "happened_at": utc_text(notice.happened_at),
            "workspace": notice.workspace.slug,
            "decision": decision_value(notice, found) if found else None,
            "proposal": proposal_value(notice),
            "revision": notice.revision,
            "team": notice.team or None,
            "meaning": notice.meaning or None,
            "differences": differences_value(found.activation if found else None),
            "slot": slot_value(slots_now(notice.workspace, now, found.decision.slot)[0], now) if found else None,
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode()


def decision_value(notice: Notice, found: DecisionNow) -> dict[str, Any]:
    """Return which decision it is about, and its state now."""
    decision = found.decision
    path = reverse("decision-detail", args=[notice.workspace.slug, decision.number])
    named = {"number": decision.number, "slot": decision.slot}
    return named | {"state": found.state.state, "url": settings.PUBLIC_URL + path}


def proposal_value(notice: Notice) -> dict[str, Any] | None:
    """Return which proposal it is about and where it is countersigned; None where it is about none."""
    if notice.proposal is None:
        return None
    until = proposal_said(notice.proposal)[1]
    return {
        "id": notice.proposal.pk,
        "kind": notice.proposal.kind,
        "open_until": utc_text(until) if until else None,
        "url": settings.PUBLIC_URL + notice_path(notice),
    }


def differences_value(activation: Activation | None) -> list[dict[str, str]]:
    """Return the keys that hosts showed otherwise than what was put into force, as many as a message has room for."""
    found, room = [], DIFFERENCES_BYTES
    for one in differences_since(activation):
        room -= len(one.key.encode())
        if room < 0:
            break
        found.append({"key": one.key, "how": one.how, "team": one.team})
    return found


def slot_value(one: DecisionNow, now: datetime) -> dict[str, Any]:
    """Return what holds in a slot as of now, or what was in force there last: what a mirror copies."""
    row = one.activation
    return {
        "as_of": utc_text(now),
        "name": one.decision.slot,
        "holds": one.holds,
        "because": one.because,
        "decision": one.decision.number,
        "state": one.state.state,
        "revision": row.revision.number if row else None,
        "subject": row.subject if row else None,
        "topology": row.topology if row else None,
        "trial": row.trial if row else None,
        "rank_map_digest": row.rank_map_digest if row else None,
        "is_emergency": one.holds and one.state.state == DecisionState.EMERGENCY,
        "valid_from": utc_text(row.activated_at) if row else None,
        "valid_until": utc_text(row.valid_until) if row and row.valid_until else None,
        "waivers": [{"gate": waiver.gate, "ends_at": utc_text(waiver.ends_at)} for waiver in one.waivers],
    }
