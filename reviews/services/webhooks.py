"""Adds and removes webhooks of a workspace. Admins do it; both are entries of the audit log, refused attempts too."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from django.conf import settings

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError, printable
from reviews.facts import Standing
from reviews.models import Delivery, DeliveryState, Person, Webhook, Workspace
from reviews.policies.permissions import may_administer
from reviews.sealing import MADE_WEBHOOKS, derived_secret
from reviews.selectors.people import standing_of
from reviews.services.acting import require
from reviews.services.people import UNTRACED, Trace
from reviews.services.shown_again import shown_again_require
from reviews.webhook_call import CallRefusedError, target_of

MOST = 10


@dataclass(frozen=True, slots=True)
class MadeWebhook:
    """A new webhook. ``secret`` is never shown again."""

    url: str
    secret: str


def webhook_add(
    *, actor: Person, workspace: Workspace, url: str, once: str = "", trace: Trace = UNTRACED
) -> MadeWebhook:
    """Tell an address of everything notable in the workspace from now on.

    The same again from the form that carried ``once`` returns the first, for an hour.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor is no admin of it.
        InvalidRequestError: the address is none that may be called.
        ConflictError: it is there already, was added by this form long ago, or there are as many as there may be.
    """
    url = url.strip()
    with _administering(actor, workspace, trace) as (standing, attempt):
        _require_callable(url)
        secret = f"whsec_{derived_secret(MADE_WEBHOOKS, once, standing.token, workspace.log_origin, url)}"
        live = {hook.url: hook for hook in Webhook.objects.filter(workspace=workspace, removed_at=None)}
        earlier = live.get(url)
        if earlier is not None and earlier.secret == secret:
            instead = "Remove it and add it anew."
            shown_again_require(made_at=earlier.made_at, what="the secret of this webhook", instead=instead)
            return MadeWebhook(url, secret)
        if earlier is not None:
            raise ConflictError("This address is told already.")
        if len(live) >= MOST:
            raise ConflictError(f"A workspace has at most {MOST} webhooks. Remove one first.")
        made = Webhook.objects.create(
            workspace=workspace,
            url=url,
            secret=secret,
            made_by_id=standing.person_id,
            made_at=database_now(),
        )
        append(workspace, _entry(attempt, "webhook.added", made))
    return MadeWebhook(made.url, made.secret)


def webhook_remove(*, actor: Person, workspace: Workspace, webhook_id: int, trace: Trace = UNTRACED) -> None:
    """Tell an address nothing more; what still waits for it is dropped. A second time changes nothing.

    Raises:
        NotFoundError: there is no such webhook, or the actor is no member of the workspace.
        NotAllowedError: the actor is no admin of it.
    """
    with _administering(actor, workspace, trace) as (_, attempt):
        webhook = Webhook.objects.filter(workspace=workspace, pk=webhook_id).first()
        if webhook is None:
            raise NotFoundError(f"There is no webhook {webhook_id} in this workspace.")
        if webhook.removed_at is not None:
            return
        webhook.removed_at = database_now()
        webhook.save(update_fields=["removed_at"])
        Delivery.objects.filter(webhook=webhook, state=DeliveryState.WAITING).delete()
        append(workspace, _entry(attempt, "webhook.removed", webhook))


@contextmanager
def _administering(actor: Person, workspace: Workspace, trace: Trace) -> Iterator[tuple[Standing, Act]]:
    standing = standing_of(actor, workspace)
    attempt = trace.act("webhook.refused", standing.token)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        require(may_administer(standing))
        yield standing, attempt


def _require_callable(url: str) -> None:
    try:
        target_of(url, settings.WEBHOOK_HOSTS)
    except CallRefusedError as refused:
        expected = "an https address on a listed host"
        problem = Finding(
            "request", "request/url", "url", expected, f"{printable(url, 80) or 'nothing'}. {refused}".rstrip(".")
        )
        raise InvalidRequestError((problem,)) from refused


def _entry(attempt: Act, action: str, webhook: Webhook) -> Act:
    payload = {"id": webhook.pk, "url": webhook.url}
    return replace(attempt, action=action, payload_type="topogate.webhook/v1", payload=payload)
