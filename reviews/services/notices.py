"""Makes notices of the audit log's entries, and of decisions that are about to end.

The log is the outbox: an entry is written in the same transaction as its act, and a cursor for each workspace says up
to where notices were made. Notices, deliveries and the cursor's move are one transaction, so each entry makes its
notice once, whatever dies when. Entries of one log become visible in the order of their seq, for their writers hold the
workspace's lock until they commit; none is passed over.
"""

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Subquery

from reviews.clock import database_now, when
from reviews.errors import ReviewError
from reviews.models import (
    Activation,
    AuditEntry,
    Decision,
    DecisionState,
    Person,
    ProposalKind,
    Revision,
    Webhook,
    Workspace,
)
from reviews.models.notices import (
    Delivery,
    DeliveryState,
    LogCursor,
    Notice,
    NoticeMode,
    NoticePreference,
    NoticeReason,
)
from reviews.selectors.attention import NOTABLE, OBSERVED, Said, Told, differing_teams, told_by, told_nobody
from reviews.selectors.attention_seconds import MADE, OF_PROPOSALS, told_of_proposals

ENTRIES_AT_ONCE = 200
PRUNED_AT_ONCE = 500
REASON_LENGTH = 2000
EXPIRING = "decision.expiring"
SIGNED = "signoff.given"
DIFFERS = "identity.differs"
logger = logging.getLogger(__name__)


def notices_sweep() -> int:
    """Make the notices of everything that happened since the last time; return how many entries were looked at.

    Safe to run from any number of processes at any time.
    """
    head = AuditEntry.objects.filter(workspace=OuterRef("pk")).order_by("-seq").values("seq")[:1]
    behind = Workspace.objects.annotate(head=Subquery(head)).exclude(log_cursor__seq__gte=F("head"))
    taken = sum(_take(workspace) for workspace in behind.filter(head__isnull=False).order_by("pk"))
    _warn_of_ends()
    return taken


def notices_prune() -> int:
    """Delete notices older than ``NOTICE_KEEP_DAYS``, the oldest first; return how many. The log keeps what happened.

    One that is still on its way stays, and so does the warning of an end that is still to come: without it the author
    would be warned anew. Safe to run from any number of processes at any time.
    """
    on_the_way = Delivery.objects.filter(
        notice=OuterRef("pk"), state__in=(DeliveryState.WAITING, DeliveryState.SENDING)
    )
    old = Notice.objects.filter(happened_at__lt=database_now() - timedelta(days=settings.NOTICE_KEEP_DAYS))
    over = old.exclude(Exists(on_the_way)).exclude(kind=EXPIRING, decision__state=DecisionState.EFFECTIVE)
    due = list(over.order_by("pk").values_list("pk", flat=True)[:PRUNED_AT_ONCE])
    Notice.objects.filter(pk__in=due).delete()
    return len(due)


def _take(workspace: Workspace) -> int:
    LogCursor.objects.get_or_create(workspace=workspace)
    with transaction.atomic():
        cursor = LogCursor.objects.select_for_update().get(workspace=workspace)
        entries = list(
            AuditEntry.objects.filter(workspace=workspace, seq__gt=cursor.seq)
            .select_related("payload")
            .order_by("seq")[:ENTRIES_AT_ONCE]
        )
        if not entries:
            return 0
        said = [_said(entry) for entry in entries if _is_told(entry)]
        if said:
            _make(workspace, _told(workspace, said))
        cursor.seq = entries[-1].seq
        cursor.save(update_fields=["seq"])
    return len(entries)


def _is_told(entry: AuditEntry) -> bool:
    return entry.action in OF_PROPOSALS or (entry.action in NOTABLE and entry.decision_number is not None)


def _said(entry: AuditEntry) -> Said:
    fields = json.loads(bytes(entry.data))
    is_read = entry.action in (SIGNED, DIFFERS, *OBSERVED, *OF_PROPOSALS)
    payload = json.loads(bytes(entry.payload.data)) if is_read and entry.payload else {}
    reason = fields["reason"] or payload.get("statement") or ""
    teams = frozenset(payload["teams"]) if entry.action in OBSERVED and payload else differing_teams(payload)
    proposal = payload.get("proposal") if entry.action in OF_PROPOSALS else None
    return Said(entry, fields["meaning"] or "", reason[:REASON_LENGTH], teams, proposal)


def _told(workspace: Workspace, said: list[Said]) -> list[Told]:
    """Return who is told; where stored bytes were changed nobody can be judged, and the pages say so.

    Webhooks are told all the same: what mirrors a slot has to hear that its decision ended.
    """
    proposed = [one for one in said if one.entry.action in OF_PROPOSALS]
    others = [one for one in said if one.entry.action not in OF_PROPOSALS]
    try:
        told = [*told_by(workspace, others), *told_of_proposals(workspace, proposed)]
    except ReviewError as error:
        logger.warning("nobody is told about %d entries of %s: %s", len(said), workspace.slug, error.message)
        told = [*told_nobody(workspace, others), *told_of_proposals(workspace, proposed, is_judged=False)]
    return sorted(told, key=lambda one: one.said.entry.seq)


def _make(workspace: Workspace, told: list[Told]) -> None:
    modes = _modes(workspace, {person for one in told for person in one.people})
    activations = _activations(told)
    for one in told:
        entry = one.said.entry
        notice, is_new = Notice.objects.get_or_create(
            workspace=workspace,
            key=_key(one, activations),
            defaults={
                "decision": one.decision,
                "proposal": one.proposal,
                "kind": entry.action,
                "revision": entry.revision_number,
                "actor": one.actor,
                "team": entry.team,
                "meaning": one.said.meaning,
                "reason": one.said.reason,
                "happened_at": datetime.fromisoformat(entry.at),
            },
        )
        if is_new:
            _deliver(notice, one.people, modes)


def _activations(told: list[Told]) -> Mapping[int, int]:
    """Return decision id -> its last activation, of decisions that machines differ from."""
    differing = {one.decision.pk for one in told if one.decision and one.said.entry.action == DIFFERS}
    rows = Activation.objects.filter(revision__decision__in=differing).order_by("pk")
    return dict(rows.values_list("revision__decision", "pk"))


def _key(told: Told, activations: Mapping[int, int]) -> str:
    """Return what makes a notice one: its entry; for machines that keep reporting, what was put into force.

    Of production one is made of a kind in an hour: a fault that spreads from rank to rank changes every batch.
    """
    entry, activation = told.said.entry, activations.get(told.decision.pk) if told.decision else None
    if entry.action in OBSERVED:
        return f"{entry.action}-{entry.subject[-24:]}-{entry.at[:13]}"
    return f"differs-{activation}" if entry.action == DIFFERS and activation else f"entry-{entry.seq}"


def _modes(workspace: Workspace, people: set[int]) -> Mapping[int, str]:
    """Return how people who can be reached want to be told; those who cannot or do not want to are left out."""
    if not settings.EMAIL_IS_ON:
        return {}
    reachable = Person.objects.filter(pk__in=people, is_active=True).exclude(email="").values_list("pk", flat=True)
    chosen = dict(
        NoticePreference.objects.filter(workspace=workspace, person_id__in=people).values_list("person_id", "mode")
    )
    modes = {person: chosen.get(person, NoticeMode.AT_ONCE) for person in reachable}
    return {person: mode for person, mode in modes.items() if mode != NoticeMode.OFF}


def _deliver(notice: Notice, people: Mapping[int, NoticeReason], modes: Mapping[int, str]) -> None:
    now, later = database_now(), () if _is_urgent(notice) else (NoticeMode.DIGEST,)
    webhooks = Webhook.objects.filter(workspace_id=notice.workspace_id, removed_at=None).order_by("pk")
    Delivery.objects.bulk_create(Delivery(notice=notice, webhook=webhook, due_at=now) for webhook in webhooks)
    Delivery.objects.bulk_create(
        Delivery(
            notice=notice,
            person_id=person,
            why=why,
            is_digest=modes[person] in later,
            due_at=next_digest(now) if modes[person] in later else now,
        )
        for person, why in sorted(people.items())
        if person in modes
    )


def _is_urgent(notice: Notice) -> bool:
    """Whether it waits for no digest: an emergency that asks for its second person is over in a day."""
    return notice.kind == MADE and notice.meaning == ProposalKind.EMERGENCY


def next_digest(now: datetime) -> datetime:
    """Return when the next daily digest is due, UTC."""
    today = now.replace(hour=settings.DIGEST_HOUR, minute=0, second=0, microsecond=0)
    return today if today > now else today + timedelta(days=1)


def _warn_of_ends() -> None:
    """Tell authors once of every activation that ends soon."""
    now = database_now()
    soon = now + timedelta(days=settings.EXPIRY_NOTICE_DAYS)
    last = Activation.objects.filter(revision__decision=OuterRef("pk")).order_by("-pk")
    author = Revision.objects.filter(decision=OuterRef("pk")).order_by("-number").values("author_id")[:1]
    ending = Decision.objects.filter(state=DecisionState.EFFECTIVE).annotate(
        activation=Subquery(last.values("pk")[:1]), until=Subquery(last.values("valid_until")[:1]), writer=author
    )
    due = list(ending.filter(until__gt=now, until__lte=soon).select_related("workspace").order_by("pk"))
    known = set(Notice.objects.filter(kind=EXPIRING, decision__in=due).values_list("key", flat=True))
    for decision in due:
        key = f"expiring-{decision.activation}"
        if key not in known:
            _warn(decision, key, decision.until, decision.writer, now)


def _warn(decision: Decision, key: str, until: datetime, author: int, now: datetime) -> None:
    with transaction.atomic():
        notice, is_new = Notice.objects.get_or_create(
            workspace=decision.workspace,
            key=key,
            defaults={
                "decision": decision,
                "kind": EXPIRING,
                "reason": f"It is valid until {when(until)} UTC.",
                "happened_at": now,
            },
        )
        if is_new:
            _deliver(notice, {author: NoticeReason.AUTHOR}, _modes(decision.workspace, {author}))
