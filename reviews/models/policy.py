"""The policy of a workspace: who owns what and how many of them must agree. Versioned; a version never changes."""

from django.db import models
from django.db.models import Q

from reviews.models.documents import Blob
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class Policy(models.Model):
    """One version of the policy document (``topogate.policy/v1``); the blob holds its canonical bytes."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="policies")
    version = models.PositiveIntegerField()
    content_id = models.CharField(max_length=DIGEST_LENGTH)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    made_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "version"], name="policy_version_unique"),
            models.CheckConstraint(condition=Q(version__gte=1), name="policy_version_from_one"),
        )
        ordering = ("workspace", "version")

    def __str__(self) -> str:
        return f"policy {self.version} of {self.workspace}"
