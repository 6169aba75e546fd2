"""Drafts of documents that somebody is still writing: theirs alone, changed in place, and gone when they are done.

Nothing that was decided stands on a draft, so the table is not append-only; that a draft was begun, changed, finished
or deleted is in the audit log.
"""

from django.db import models
from django.db.models import Q

from reviews.models.documents import DocumentKind
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class Draft(models.Model):
    """A contract or evidence in the making.

    ``body`` is JSON that only the builder of its kind reads. ``version`` counts the changes: who saves names the
    version they saw, so that of two tabs one is refused instead of the other's work lost. ``begun_key`` is the
    idempotency key of the request that began it, ``begun_sha256`` the digest of what was sent with it.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="drafts")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="drafts")
    kind = models.CharField(max_length=16, choices=DocumentKind)
    name = models.CharField(max_length=200, blank=True)
    slot = models.CharField(max_length=128, blank=True)
    body = models.BinaryField()
    version = models.PositiveIntegerField(default=1)
    begun_key = models.CharField(max_length=128, null=True, blank=True)  # noqa: DJ001  # NULL is no key, "" none either
    begun_sha256 = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    made_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=DocumentKind.values), name="draft_kind_known"),
            models.CheckConstraint(condition=Q(version__gte=1), name="draft_version_counts"),
            models.UniqueConstraint(fields=["workspace", "person", "begun_key"], name="draft_key_once"),
        )
        indexes = (models.Index(fields=["workspace", "person", "kind"], name="draft_by_owner"),)
        ordering = ("-changed_at", "-id")

    def __str__(self) -> str:
        return f"{self.kind} draft {self.pk}, version {self.version}"
