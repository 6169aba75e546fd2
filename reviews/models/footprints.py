"""What an activation takes and rests on, worked out once: documents and plans are too large to be read for a list.

The bytes that the activation's revision names are what counts; these rows follow from them and never change.
"""

from django.db import models
from django.db.models import Q

from reviews.models.activations import Activation
from reviews.models.fields import DIGEST_LENGTH


class ActivationFootprint(models.Model):
    """Devices charged for the trial in force (``planner.footprint``), and their price.

    ``types`` is the canonical JSON of device type -> number, ``usd_per_hour`` an exact fraction (``41/2``); where it is
    empty ``unpriced`` says why. An activation whose bytes could not be read has no such row.
    """

    activation = models.OneToOneField(Activation, on_delete=models.PROTECT, related_name="footprint")
    charge = models.CharField(max_length=8)
    used = models.PositiveIntegerField()
    spares = models.PositiveIntegerField()
    stranded = models.PositiveIntegerField()
    types = models.TextField()
    usd_per_hour = models.TextField(blank=True)
    unpriced = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=(~Q(usd_per_hour="") & Q(unpriced="")) | (Q(usd_per_hour="") & ~Q(unpriced="")),
                name="footprint_has_price_or_reason",
            ),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"footprint of {self.activation}"


class CountedTrial(models.Model):
    """A trial that the plan in force counted, by its content, so that it is found wherever else it counts."""

    activation = models.ForeignKey(Activation, on_delete=models.PROTECT, related_name="counted_trials")
    trial = models.CharField(max_length=64)
    content_id = models.CharField(max_length=DIGEST_LENGTH)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["content_id", "activation"], name="counted_trial_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return self.content_id
