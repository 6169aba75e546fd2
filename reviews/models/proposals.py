"""Acts that need two persons: one proposes, another countersigns, then it is carried out. All three are stated.

Used for changes of policy, lifting an objection, waivers, emergencies, revoking and rolling back.
"""

from typing import Self

from django.db import models
from django.db.models import Q

from reviews.models.decisions import Decision
from reviews.models.documents import Blob
from reviews.models.people import Person, Workspace


class ProposalKind(models.TextChoices):
    """What is proposed."""

    POLICY = "policy", "Change of policy"
    LIFT_OBJECTION = "lift_objection", "Lifting an objection"
    WAIVER = "waiver", "Waiver"
    EMERGENCY = "emergency", "Emergency"
    REVOCATION = "revocation", "Revocation"
    ROLLBACK = "rollback", "Rollback"


class ProposalQuerySet(models.QuerySet["Proposal"]):
    """Proposals, by what became of them."""

    def still_open(self) -> Self:
        """Return those that nobody countersigned, took back or declined, and that did not lapse."""
        return self.filter(countersignature__isnull=True, withdrawal__isnull=True, lapse__isnull=True)


class Proposal(models.Model):
    """An act that waits for its second person; ``body`` is the canonical JSON of what is to be done.

    ``team`` is the seat from which it was proposed, empty where the role counts.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="proposals")
    kind = models.CharField(max_length=24, choices=ProposalKind)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, null=True, related_name="proposals")
    body = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    team = models.CharField(max_length=40, blank=True)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="proposals")
    proposed_at = models.DateTimeField()

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=ProposalKind.values), name="proposal_kind_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="proposal_reason_given"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Countersignature(models.Model):
    """The second person's agreement, with which the act was carried out."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="countersignature")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    team = models.CharField(max_length=40, blank=True)
    signed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"countersignature of {self.proposal}"


class ProposalWithdrawal(models.Model):
    """A proposal that will not be carried out: who made it took it back, or somebody who could countersign declined."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="withdrawal")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    withdrawn_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"withdrawal of {self.proposal}"


class ProposalLapse(models.Model):
    """A proposal that time or a later act ended; ``because`` says which."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="lapse")
    because = models.TextField()
    lapsed_at = models.DateTimeField()

    class Meta:
        constraints = (models.CheckConstraint(condition=~Q(because=""), name="proposal_lapse_told"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"lapse of {self.proposal}"
