"""What a planned revision asks of its teams: one digest per team, and how long its evidence may be relied on.

Worked out once, when the plan is there, so that lists of decisions read no documents. The rows repeat what follows
from contract, plan and policy; ``reviews.policies.scope`` is the rule.
"""

from django.db import models

from reviews.models.decisions import PlannedRevision
from reviews.models.documents import Blob
from reviews.models.fields import DIGEST_LENGTH, SLUG_LENGTH


class ReviewBasis(models.Model):
    """The limits of a planned revision: until when its counted trials hold, and the map that was selected."""

    planned = models.OneToOneField(PlannedRevision, on_delete=models.PROTECT, related_name="basis")
    evidence_until = models.DateTimeField(null=True)
    rank_map_digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)

    class Meta:
        verbose_name_plural = "review bases"
        ordering = ("id",)

    def __str__(self) -> str:
        return f"basis of {self.planned}"


class TeamScope(models.Model):
    """What one team of the policy owns in a planned revision.

    ``digest`` is over all of it, ``items`` the blob of item -> digest that says which part moved. A team that owns no
    identity key and no declared gate is not touched: nothing is asked of it.
    """

    basis = models.ForeignKey(ReviewBasis, on_delete=models.PROTECT, related_name="scopes")
    team = models.CharField(max_length=SLUG_LENGTH)
    digest = models.CharField(max_length=DIGEST_LENGTH)
    is_touched = models.BooleanField()
    identity_keys = models.PositiveIntegerField()
    gates = models.PositiveIntegerField()
    items = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["basis", "team"], name="team_scope_once"),)
        ordering = ("basis", "team")

    def __str__(self) -> str:
        return f"{self.team} of {self.basis}"
