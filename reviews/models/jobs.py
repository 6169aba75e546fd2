"""Plan jobs, which are the queue of record, and the plans they made.

A job is unique for what it plans, so the same question is never worked on twice. A worker holds it by a lease token;
only the holder of the token may finish it. All times of leases come from the database's clock.
"""

from django.db import models
from django.db.models import Q

from reviews.models.documents import Blob, StoredDocument
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Workspace


class JobState(models.TextChoices):
    """Where a plan job stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    POISONED = "poisoned", "Given up"


class PlanJob(models.Model):
    """One planner run to be made: which content, as of when, by which planner."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="plan_jobs")
    contract = models.ForeignKey(StoredDocument, on_delete=models.PROTECT, related_name="+")
    evidence = models.ForeignKey(StoredDocument, on_delete=models.PROTECT, related_name="+")
    contract_content_id = models.CharField(max_length=DIGEST_LENGTH)
    evidence_content_id = models.CharField(max_length=DIGEST_LENGTH)
    as_of = models.CharField(max_length=20)
    planner_version = models.CharField(max_length=32)

    state = models.CharField(max_length=16, choices=JobState, default=JobState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    queued_at = models.DateTimeField()
    woken_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    candidates_done = models.PositiveIntegerField(default=0)
    candidates_total = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=64, blank=True)
    error_detail = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["workspace", "contract_content_id", "evidence_content_id", "as_of", "planner_version"],
                name="plan_job_once_per_question",
            ),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="plan_job_state_known"),
            models.CheckConstraint(
                condition=(
                    Q(state=JobState.RUNNING, lease_token__isnull=False, lease_until__isnull=False)
                    | (~Q(state=JobState.RUNNING) & Q(lease_token__isnull=True, lease_until__isnull=True))
                ),
                name="plan_job_lease_while_running",
            ),
        )
        indexes = (models.Index(fields=["state", "woken_at"], name="plan_job_by_state"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"plan job {self.pk} ({self.state})"


class Plan(models.Model):
    """The plan a job made. The columns repeat what lists show; the blob's bytes are the plan."""

    job = models.OneToOneField(PlanJob, on_delete=models.PROTECT, related_name="plan")
    plan_id = models.CharField(max_length=DIGEST_LENGTH)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    decision_word = models.CharField(max_length=32)
    selected_trial = models.CharField(max_length=64, blank=True)
    selected_topology = models.CharField(max_length=512, blank=True)
    eligible_count = models.PositiveIntegerField()
    rejected_count = models.PositiveIntegerField()
    inconclusive_count = models.PositiveIntegerField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = (models.Index(fields=["plan_id"], name="plan_by_plan_id"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.plan_id
