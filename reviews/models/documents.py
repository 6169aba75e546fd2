"""Documents as they were uploaded: the bytes, content-addressed, and the digests they are known by."""

from django.db import models
from django.db.models import Q

from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class Blob(models.Model):
    """Bytes under the digest of exactly these bytes. Read it only where the bytes themselves are wanted."""

    sha256 = models.CharField(max_length=DIGEST_LENGTH, primary_key=True)
    size_bytes = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(size_bytes__gte=0), name="blob_size_not_negative"),)

    def __str__(self) -> str:
        return self.sha256


class DocumentKind(models.TextChoices):
    """Kinds of uploaded documents."""

    CONTRACT = "contract", "Contract"
    EVIDENCE = "evidence", "Evidence"


class StoredDocument(models.Model):
    """An uploaded document. The same content in other bytes is another row: both digests stay true."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="documents")
    kind = models.CharField(max_length=16, choices=DocumentKind)
    content_id = models.CharField(max_length=DIGEST_LENGTH)
    # The digest of the uploaded bytes is the blob's key.
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="documents")
    slot = models.CharField(max_length=128)
    stored_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="stored_documents")
    stored_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "kind", "blob"], name="document_bytes_once"),
            models.CheckConstraint(condition=Q(kind__in=DocumentKind.values), name="document_kind_known"),
        )
        indexes = (models.Index(fields=["workspace", "content_id"], name="document_by_content"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.kind} {self.content_id}"

    @property
    def file_sha256(self) -> str:
        """The digest of the bytes as uploaded."""
        return self.blob_id


class IntakeReceipt(models.Model):
    """What intake found out about evidence when it accepted it (``planner.intake.Receipt``), so that a worker need not.

    Evidence that is uploaded again under other code gets another receipt; the last one counts.
    """

    document = models.ForeignKey(StoredDocument, on_delete=models.PROTECT, related_name="receipts")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["document", "blob"], name="receipt_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.blob_id
