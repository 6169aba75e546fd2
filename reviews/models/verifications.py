"""Verifications of a workspace's log that somebody asked for: jobs, and what they found.

The row is the queue, as with plan jobs: a worker holds it by a lease token, and only the holder may finish it.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from reviews.models.fields import DIGEST_LENGTH
from reviews.models.jobs import JobState
from reviews.models.people import Workspace

COMPARED, BUNDLED = 0.5, 0.4
"""The shares of the work that comparing what is stored and writing the bundle take; the rest is the verifier's."""
OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)


class VerificationOutcome(models.TextChoices):
    """What was found; the words of the verifier outside."""

    VERIFIED = "verified", "Verified"
    CONSISTENT = "consistent", "Consistent only"
    BROKEN = "broken", "Broken"
    INCOMPLETE = "incomplete", "Incomplete"


class Verification(models.Model):
    """One verification. ``outcome`` and what follows it are empty until it is done.

    ``entries_done`` of ``entries_total`` is the share of all its work that is done, in entries. ``headline`` and
    ``report`` (JSON: ``checked``, ``not_checked``, lists of sentences) are the verifier's own words;
    ``head`` and ``entries`` are what the check of the database saw last, ``bad_seq`` the first entry at fault.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="verifications")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()

    state = models.CharField(max_length=16, choices=JobState, default=JobState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    woken_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    entries_done = models.BigIntegerField(default=0)
    entries_total = models.BigIntegerField(default=0)

    outcome = models.CharField(max_length=16, choices=VerificationOutcome, blank=True)
    headline = models.TextField(blank=True)
    report = models.JSONField(default=dict)
    entries = models.BigIntegerField(null=True)
    head = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    bad_seq = models.BigIntegerField(null=True)
    error_detail = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["workspace"], condition=Q(state__in=OPEN_STATES), name="verification_one_at_a_time"
            ),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="verification_state_known"),
            models.CheckConstraint(
                condition=(
                    Q(state=JobState.RUNNING, lease_token__isnull=False, lease_until__isnull=False)
                    | (~Q(state=JobState.RUNNING) & Q(lease_token__isnull=True, lease_until__isnull=True))
                ),
                name="verification_lease_while_running",
            ),
            models.CheckConstraint(
                condition=(Q(state=JobState.DONE) & ~Q(outcome="") | ~Q(state=JobState.DONE) & Q(outcome="")),
                name="verification_found_when_done",
            ),
        )
        indexes = (models.Index(fields=["state", "woken_at"], name="verification_by_state"),)
        ordering = ("workspace", "pk")

    def __str__(self) -> str:
        return f"verification {self.pk} ({self.state})"
