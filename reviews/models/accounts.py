"""Invitations to an account, and the rows of the shared cache that its limits count in."""

from django.db import models
from django.db.models import Q

from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class Invitation(models.Model):
    """A one-time link with which a person sets their password; only a digest of it is stored."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="invitations")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="invitations")
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    # None: somebody with a shell on the server.
    made_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    # Used, or replaced by a later one: it opens nothing any more.
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["sha256"], name="invitation_unique"),
            models.UniqueConstraint(
                fields=["person"], condition=Q(ended_at=None), name="invitation_one_open_per_person"
            ),
        )
        ordering = ("person", "id")

    def __str__(self) -> str:
        return f"invitation of {self.person}"


class CacheEntry(models.Model):
    """A row of ``django.core.cache.backends.db``, which writes it by hand; only the table is ours."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "reviews_cacheentry"

    def __str__(self) -> str:
        return self.cache_key
