"""API tokens: only a digest is stored, each has scopes and an end. A token can never sign."""

from django.db import models

from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class ApiToken(models.Model):
    """A token of one person for one workspace. ``scopes`` holds names with spaces between them."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="api_tokens")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="api_tokens")
    label = models.CharField(max_length=120)
    # Shown in lists so that people recognise a token; far too short to guess the rest from.
    prefix = models.CharField(max_length=12)
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    scopes = models.CharField(max_length=120)
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["sha256"], name="api_token_unique"),)
        ordering = ("workspace", "person", "id")

    def __str__(self) -> str:
        return f"{self.label} ({self.prefix}…)"
