"""Decisions and their revisions.

A revision states what was submitted and never changes. What the planner made of it, and with it the subject that
sign-offs are bound to, is a second row written once.
"""

from django.db import models
from django.db.models import Q

from planner.decision_numbers import decision_label
from reviews.models.documents import StoredDocument
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.jobs import Plan, PlanJob
from reviews.models.people import Person, Workspace
from reviews.models.policy import Policy


class DecisionState(models.TextChoices):
    """States of a decision. "Approved" is not one: it is computed from the sign-offs whenever it is asked for."""

    DRAFT = "DRAFT", "Draft"
    EVALUATING = "EVALUATING", "Evaluating"
    EVALUATION_FAILED = "EVALUATION_FAILED", "Evaluation failed"
    IN_REVIEW = "IN_REVIEW", "In review"
    EFFECTIVE = "EFFECTIVE", "Effective"
    STALE = "STALE", "Stale"
    EXPIRED = "EXPIRED", "Expired"
    CONTESTED = "CONTESTED", "Contested"
    EMERGENCY = "EMERGENCY", "Emergency"
    WITHDRAWN = "WITHDRAWN", "Withdrawn"
    REJECTED = "REJECTED", "Rejected"
    SUPERSEDED = "SUPERSEDED", "Superseded"
    REVOKED = "REVOKED", "Revoked"
    CLOSED = "CLOSED", "Closed without a selection"


class Decision(models.Model):
    """One question for one serving slot, answered by its newest revision."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="decisions")
    number = models.PositiveIntegerField()
    slot = models.CharField(max_length=128)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=24, choices=DecisionState)
    state_since = models.DateTimeField()
    # As the newest revision's contract names them, for lists and filters; the contract is what counts.
    model_name = models.CharField(max_length=256, default="")
    engine_name = models.CharField(max_length=256, default="")
    owner = models.CharField(max_length=256, default="")
    opened_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "number"], name="decision_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="decision_number_from_one"),
            models.CheckConstraint(condition=Q(state__in=DecisionState.values), name="decision_state_known"),
            models.UniqueConstraint(
                fields=["workspace", "slot"],
                condition=Q(state=DecisionState.EFFECTIVE),
                name="decision_one_effective_per_slot",
            ),
            models.UniqueConstraint(
                fields=["workspace", "slot"],
                condition=Q(state=DecisionState.EMERGENCY),
                name="decision_one_emergency_per_slot",
            ),
        )
        indexes = (
            models.Index(fields=["workspace", "slot"], name="decision_by_slot"),
            models.Index(fields=["workspace", "state"], name="decision_by_state"),
        )
        ordering = ("workspace", "-number")

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """The number as people write it."""
        return decision_label(self.number)


class Revision(models.Model):
    """What was submitted: contract, evidence, as-of time, under which policy and planner, by whom."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    contract = models.ForeignKey(StoredDocument, on_delete=models.PROTECT, related_name="+")
    evidence = models.ForeignKey(StoredDocument, on_delete=models.PROTECT, related_name="+")
    identity = models.CharField(max_length=DIGEST_LENGTH)
    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="revisions")
    planner_version = models.CharField(max_length=32)
    as_of = models.CharField(max_length=20)
    job = models.ForeignKey(PlanJob, on_delete=models.PROTECT, related_name="revisions")
    author = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="revisions")
    made_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["decision", "number"], name="revision_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_number_from_one"),
        )
        ordering = ("decision", "number")

    def __str__(self) -> str:
        return f"{self.decision} r{self.number}"


class PlannedRevision(models.Model):
    """A revision's plan, and the subject: the content id over everything a sign-off is bound to."""

    revision = models.OneToOneField(Revision, on_delete=models.PROTECT, related_name="planned")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="planned_revisions")
    subject = models.CharField(max_length=DIGEST_LENGTH)
    planned_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["subject"], name="planned_revision_by_subject"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.subject


class Submission(models.Model):
    """A submission that carried an idempotency key, and what became of it."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=128)
    request_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["workspace", "person", "key"], name="submission_key_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.key
