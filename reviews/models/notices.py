"""What people are told about decisions, and how far telling them has come.

A notice is made of an entry of the audit log, or of a time that comes near; a delivery brings it to one person. What
a notice says in words is joined when it is sent, so no name is kept here.
"""

import uuid

from django.db import models
from django.db.models import Q

from reviews.models.decisions import Decision
from reviews.models.fields import SLUG_LENGTH, SealedField
from reviews.models.people import Person, Workspace
from reviews.models.proposals import Proposal
from reviews.sealing import WEBHOOKS


class NoticeMode(models.TextChoices):
    """How somebody wants to be told by email."""

    AT_ONCE = "at_once", "At once"
    DIGEST = "digest", "Once a day"
    OFF = "off", "Never"


class NoticePreference(models.Model):
    """How a person wants to be told about one workspace; without a row, at once."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="notice_preferences")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="notice_preferences")
    mode = models.CharField(max_length=12, choices=NoticeMode)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "person"], name="notice_preference_once"),
            models.CheckConstraint(condition=Q(mode__in=NoticeMode.values), name="notice_preference_known"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.person}: {self.mode}"


class LogCursor(models.Model):
    """Up to which entry of a workspace's log notices were made; -1 before the first."""

    workspace = models.OneToOneField(Workspace, on_delete=models.PROTECT, related_name="log_cursor")
    seq = models.BigIntegerField(default=-1)

    class Meta:
        ordering = ("workspace",)

    def __str__(self) -> str:
        return f"{self.workspace} up to {self.seq}"


class Notice(models.Model):
    """Something that happened to a decision or a proposal. ``key`` says what it was made of, so that it is made once.

    ``kind`` is the action of the entry, or ``decision.expiring``; ``actor`` is None where nobody acted. A change of the
    policy is about no decision.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="notices")
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, null=True, related_name="notices")
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, null=True, related_name="notices")
    key = models.CharField(max_length=64)
    kind = models.CharField(max_length=64)
    revision = models.PositiveIntegerField(null=True)
    actor = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    team = models.CharField(max_length=SLUG_LENGTH, blank=True)
    meaning = models.CharField(max_length=24, blank=True)
    reason = models.TextField(blank=True)
    happened_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "key"], name="notice_once"),
            models.CheckConstraint(
                condition=Q(decision__isnull=False) | Q(proposal__isnull=False), name="notice_about_something"
            ),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.kind} of {self.decision or self.proposal}"


class DeliveryState(models.TextChoices):
    """How far a delivery has come."""

    WAITING = "waiting", "Waiting"
    SENDING = "sending", "Sending"
    SENT = "sent", "Sent"
    GIVEN_UP = "given_up", "Given up"


class NoticeReason(models.TextChoices):
    """NoticeReason somebody is told."""

    TURN = "turn", "it is your turn"
    OUTDATED = "outdated", "your sign-off counts no more"
    MENTIONED = "mentioned", "you were mentioned"
    AUTHOR = "author", "you are the author"
    OWNER = "owner", "your team owns the limit"
    SECOND = "second", "you can countersign it"
    PROPOSER = "proposer", "you proposed it"


class Webhook(models.Model):
    """An address that is told of everything notable in a workspace. ``secret`` signs what it is sent.

    The secret is kept sealed, for signing takes it; it is shown once, when the webhook is added.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=500)
    secret = SealedField(purpose=WEBHOOKS)
    made_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["workspace", "url"], condition=Q(removed_at=None), name="webhook_once_per_address"
            ),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """A notice on its way to one person or one webhook.

    Whoever holds ``lease_token`` sends it; ``uid`` is the id of its message.
    """

    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="deliveries")
    webhook = models.ForeignKey(Webhook, on_delete=models.PROTECT, null=True, related_name="deliveries")
    why = models.CharField(max_length=12, choices=NoticeReason, blank=True)
    is_digest = models.BooleanField(default=False)
    state = models.CharField(max_length=12, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    woken_at = models.DateTimeField(null=True)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["notice", "person"], name="delivery_once_per_person"),
            models.UniqueConstraint(fields=["notice", "webhook"], name="delivery_once_per_webhook"),
            models.UniqueConstraint(fields=["uid"], name="delivery_uid_unique"),
            models.CheckConstraint(condition=Q(person__isnull=True) ^ Q(webhook__isnull=True), name="delivery_to_one"),
            models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="delivery_state_known"),
            models.CheckConstraint(
                condition=(
                    Q(state=DeliveryState.SENDING, lease_token__isnull=False, lease_until__isnull=False)
                    | (~Q(state=DeliveryState.SENDING) & Q(lease_token__isnull=True, lease_until__isnull=True))
                ),
                name="delivery_lease_while_sending",
            ),
        )
        indexes = (models.Index(fields=["state", "due_at"], name="delivery_by_state"),)
        verbose_name_plural = "deliveries"
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.notice} to {self.person or self.webhook}"
