"""Files of a draft of evidence, and the files that became attachments of evidence.

A draft's files change and go with it. What became evidence only grows: an attachment is a list of content-addressed
pieces, so that no row holds more than one piece in memory and the same bytes are stored once.
"""

from django.db import models
from django.db.models import Q

from reviews.models.documents import Blob, StoredDocument
from reviews.models.drafts import Draft
from reviews.models.fields import DIGEST_LENGTH

FILE_NAME_LENGTH = 200


class FileState(models.TextChoices):
    """Where a file of a draft stands."""

    ARRIVING = "arriving", "Arriving"
    WAITING = "waiting", "Waiting to be read"
    READING = "reading", "Being read"
    READ = "read", "Read"
    UNKNOWN = "unknown", "Not recognised"


class DraftFile(models.Model):
    """A file of a draft as it is kept: without secrets and prompts, so it may be another one than was uploaded.

    ``sha256`` and ``size_bytes`` are those of the kept bytes, ``uploaded_sha256`` and ``uploaded_bytes`` those of the
    file as its owner has it. ``removed`` says what was taken out, by line and kind. ``reading`` is what an importer
    made of it (compressed JSON of ``planner.builder.DraftFile``); of a file that nobody knows no bytes are kept.
    """

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=FILE_NAME_LENGTH)
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    size_bytes = models.BigIntegerField()
    uploaded_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    uploaded_bytes = models.BigIntegerField()
    removed = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=FileState)
    reading = models.BinaryField(null=True)
    added_at = models.DateTimeField()

    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    woken_at = models.DateTimeField(null=True)
    bytes_done = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["draft", "sha256"], condition=~Q(state="arriving"), name="draft_file_bytes_once"
            ),
            models.CheckConstraint(condition=Q(state__in=FileState.values), name="draft_file_state_known"),
            models.CheckConstraint(
                condition=(
                    Q(state=FileState.READING, lease_token__isnull=False, lease_until__isnull=False)
                    | (~Q(state=FileState.READING) & Q(lease_token__isnull=True, lease_until__isnull=True))
                ),
                name="draft_file_lease_while_reading",
            ),
        )
        indexes = (models.Index(fields=["state", "woken_at"], name="draft_file_by_state"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"


class DraftPiece(models.Model):
    """A piece of a draft's file under its own digest; the pieces in order are its kept bytes."""

    file = models.ForeignKey(DraftFile, on_delete=models.CASCADE, related_name="pieces")
    number = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    data = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["file", "number"], name="draft_piece_once"),)
        ordering = ("file", "number")

    def __str__(self) -> str:
        return f"piece {self.number}"


class Attachment(models.Model):
    """A file that evidence was made of, kept for good under the digest that the evidence names it by."""

    document = models.ForeignKey(StoredDocument, on_delete=models.PROTECT, related_name="attachments")
    name = models.CharField(max_length=FILE_NAME_LENGTH)
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    size_bytes = models.BigIntegerField()
    uploaded_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    uploaded_bytes = models.BigIntegerField()
    removed = models.JSONField(default=dict)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["document", "sha256"], name="attachment_once"),)
        indexes = (models.Index(fields=["sha256"], name="attachment_by_digest"),)
        ordering = ("document", "name", "id")

    def __str__(self) -> str:
        return self.name


class AttachmentPiece(models.Model):
    """A piece of an attachment; the pieces in order are its bytes."""

    attachment = models.ForeignKey(Attachment, on_delete=models.PROTECT, related_name="pieces")
    number = models.PositiveIntegerField()
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["attachment", "number"], name="attachment_piece_once"),)
        ordering = ("attachment", "number")

    def __str__(self) -> str:
        return f"piece {self.number}"
