"""The Merkle tree over a workspace's audit log, as far as it is kept, and the checkpoints signed over it.

A tile holds the hashes of 256 neighbours of one height of the tree, written once all of them are complete; whatever
is younger is hashed from the entries. So what was signed for is kept apart from the entries that it was signed for.
"""

from django.db import models
from django.db.models import Q

from reviews.models.people import Workspace


class LogTile(models.Model):
    """256 hashes side by side. ``level`` counts tiles upwards: those of level 1 are roots of tiles of level 0."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="log_tiles")
    level = models.PositiveSmallIntegerField()
    index = models.BigIntegerField()
    hashes = models.BinaryField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "level", "index"], name="log_tile_once"),
            models.CheckConstraint(condition=Q(index__gte=0), name="log_tile_from_zero"),
        )
        ordering = ("workspace", "level", "index")

    def __str__(self) -> str:
        return f"tile {self.index} of level {self.level}"


class Checkpoint(models.Model):
    """A signed statement of how many entries a log holds under which root.

    ``note`` is the signed note, ``key`` the public key that signed it in its text form; ``size`` and ``root`` repeat
    what the note says.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="checkpoints")
    size = models.BigIntegerField()
    root = models.BinaryField(max_length=32)
    key = models.CharField(max_length=256)
    note = models.BinaryField()
    signed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "size", "key"], name="checkpoint_once"),
            models.CheckConstraint(condition=Q(size__gte=1), name="checkpoint_of_entries"),
        )
        ordering = ("workspace", "size", "pk")

    def __str__(self) -> str:
        return f"{self.size} entries"


class Cosignature(models.Model):
    """A witness's signature of a checkpoint: its line of the note, and when it saw the checkpoint (s since 1970)."""

    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.PROTECT, related_name="cosignatures")
    key = models.CharField(max_length=256)
    line = models.CharField(max_length=512)
    time = models.BigIntegerField()
    received_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["checkpoint", "key"], name="cosignature_once"),)
        ordering = ("checkpoint", "pk")

    def __str__(self) -> str:
        return f"cosignature of {self.checkpoint_id}"
