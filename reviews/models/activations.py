"""What is in force, since when, until when, on whose requirements; and what ends or bends it.

Rows state acts and only grow. Whether something is still in force is computed when it is asked.
"""

from django.db import models
from django.db.models import F, Q

from reviews.models.decisions import Decision, Revision
from reviews.models.documents import Blob
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace
from reviews.models.proposals import Proposal


class ActivationKind(models.TextChoices):
    """How a revision came into force."""

    REVIEW = "review", "Review"
    EMERGENCY = "emergency", "Emergency"
    ROLLBACK = "rollback", "Rollback"


class Activation(models.Model):
    """A revision's topology put into force. ``requirements`` is the blob of what was satisfied at that moment.

    ``rank_map_digest`` is a key of the identity that has to match; ``rollback`` names what to go back to.
    """

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="activations")
    kind = models.CharField(max_length=12, choices=ActivationKind)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="activations")
    statement = models.TextField()
    subject = models.CharField(max_length=DIGEST_LENGTH)
    trial = models.CharField(max_length=64)
    topology = models.CharField(max_length=512)
    rank_map_digest = models.CharField(max_length=DIGEST_LENGTH)
    rollback = models.CharField(max_length=512, blank=True)
    requirements = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    activated_at = models.DateTimeField()
    valid_until = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=ActivationKind.values), name="activation_kind_known"),
            models.CheckConstraint(condition=~Q(statement=""), name="activation_statement_given"),
            models.CheckConstraint(
                condition=Q(valid_until__isnull=True) | Q(valid_until__gt=F("activated_at")),
                name="activation_ends_after_start",
            ),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.kind} activation of {self.revision}"


class Emergency(models.Model):
    """Why an activation went past the review: incident, failing gates, and the end that it cannot outlive."""

    activation = models.OneToOneField(Activation, on_delete=models.PROTECT, related_name="emergency")
    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="+")
    incident = models.CharField(max_length=120)
    failing_gates = models.TextField()

    class Meta:
        constraints = (models.CheckConstraint(condition=~Q(incident=""), name="emergency_incident_given"),)
        verbose_name_plural = "emergencies"
        ordering = ("id",)

    def __str__(self) -> str:
        return f"emergency {self.incident}"


class Waiver(models.Model):
    """One gate of one candidate is let pass by for a time, in one decision; it is never shown as passed."""

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="waivers")
    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="+")
    trial = models.CharField(max_length=64)
    gate = models.CharField(max_length=64)
    reason = models.TextField()
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()
    ends_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(ends_at__gt=F("granted_at")), name="waiver_ends_after_grant"),
            models.CheckConstraint(condition=~Q(reason=""), name="waiver_reason_given"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"waiver of {self.gate} for {self.trial}"


class Retraction(models.Model):
    """Evidence found faulty: a whole document, or one trial by its content."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="retractions")
    content_id = models.CharField(max_length=DIGEST_LENGTH)
    is_trial = models.BooleanField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    retracted_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["workspace", "content_id"], name="retraction_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="retraction_reason_given"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"retraction of {self.content_id}"


class Reproduction(models.Model):
    """Somebody who is no author planned a revision's stored bytes again."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="reproductions")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    plan_id = models.CharField(max_length=DIGEST_LENGTH)
    is_same = models.BooleanField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"reproduction of {self.revision}"


class IdentityReport(models.Model):
    """What a machine said it is, against the decision of its slot, where that was something new.

    ``place`` is the node or host that said it, NULL where it was an identity as a whole.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="identity_reports")
    slot = models.CharField(max_length=128)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, null=True, related_name="identity_reports")
    identity = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    place = models.CharField(max_length=128, null=True)  # noqa: DJ001  # NULL is the whole slot
    matches = models.BooleanField()
    # The canonical JSON of the keys that differ or are missing, each with its owning team.
    differences = models.TextField(blank=True)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reported_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["decision", "id"], name="identity_report_by_decision"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"identity of {self.slot}"
