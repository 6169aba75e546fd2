"""Bundles that were asked for: where each stands, and its bytes in pieces until it expires.

Nothing of an export is a record: what is kept of it for good are its entries in the audit log.
"""

from django.db import models
from django.db.models import Q

from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class ExportState(models.TextChoices):
    """Where an export stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Being written"
    DONE = "done", "Ready"
    FAILED = "failed", "Failed"


class Export(models.Model):
    """A bundle of one decision, or of the whole workspace where ``decision_number`` is null.

    ``with_files`` asks for the files behind evidence and diagnoses as well.
    ``entries_done`` of ``entries_total`` is the share of all its work that is done, in entries; ``size_bytes``,
    ``sha256`` and ``checkpoint_size`` are of the bundle once it is ready.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="exports")
    decision_number = models.PositiveIntegerField(null=True)
    with_files = models.BooleanField(default=False)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="exports")
    state = models.CharField(max_length=16, choices=ExportState, default=ExportState.QUEUED)
    asked_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    entries_done = models.BigIntegerField(default=0)
    entries_total = models.BigIntegerField(default=0)
    checkpoint_size = models.BigIntegerField(default=0)
    size_bytes = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    error = models.TextField(blank=True)

    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    woken_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(state__in=ExportState.values), name="export_state_known"),
            models.CheckConstraint(
                condition=(
                    Q(state=ExportState.RUNNING, lease_token__isnull=False, lease_until__isnull=False)
                    | (~Q(state=ExportState.RUNNING) & Q(lease_token__isnull=True, lease_until__isnull=True))
                ),
                name="export_lease_while_running",
            ),
        )
        indexes = (models.Index(fields=["state", "woken_at"], name="export_by_state"),)
        ordering = ("workspace", "-id")

    def __str__(self) -> str:
        return f"export {self.pk} ({self.state})"


class ExportPiece(models.Model):
    """A piece of a bundle; the pieces in order are its bytes."""

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="pieces")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["export", "number"], name="export_piece_once"),)
        ordering = ("export", "number")

    def __str__(self) -> str:
        return f"piece {self.number}"
