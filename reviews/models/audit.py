"""The audit log: one hash-chained, append-only sequence of entries per workspace.

``data`` holds the canonical bytes that the chain is computed over. Every other column repeats a part of them so that
the log can be filtered; verification compares the columns with the bytes.
"""

from django.db import models
from django.db.models import Q

from reviews.models.documents import Blob
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Workspace


class AuditEntry(models.Model):
    """One act."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="audit_entries")
    seq = models.BigIntegerField()
    prev = models.CharField(max_length=DIGEST_LENGTH)
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    data = models.BinaryField()
    payload = models.ForeignKey(Blob, on_delete=models.PROTECT, null=True, related_name="+")

    at = models.CharField(max_length=32)
    action = models.CharField(max_length=48)
    decision_number = models.PositiveIntegerField(null=True)
    revision_number = models.PositiveIntegerField(null=True)
    subject = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    actor_token = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    team = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "seq"], name="audit_seq_unique"),
            models.UniqueConstraint(fields=["workspace", "prev"], name="audit_prev_unique"),
            models.CheckConstraint(condition=Q(seq__gte=0), name="audit_seq_from_zero"),
        )
        indexes = (
            models.Index(fields=["workspace", "decision_number", "seq"], name="audit_by_decision"),
            models.Index(fields=["workspace", "action", "seq"], name="audit_by_action"),
            models.Index(fields=["workspace", "actor_token", "seq"], name="audit_by_actor"),
            models.Index(fields=["sha256"], name="audit_by_digest"),
        )
        ordering = ("workspace", "seq")
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} at {self.seq}"
