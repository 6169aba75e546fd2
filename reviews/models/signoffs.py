"""Sign-offs. A row states what somebody signed and never changes; whether it still counts is computed at read."""

from django.db import models
from django.db.models import Q

from reviews.models.decisions import Revision
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Team


class Meaning(models.TextChoices):
    """What a sign-off says."""

    APPROVE = "approve", "Approve"
    REQUEST_CHANGES = "request_changes", "Request changes"
    REJECT = "reject", "Reject"


class SignOff(models.Model):
    """One person's word for one team on one revision.

    ``turn`` counts that person's sign-offs for the team on the revision; the highest is the one that stands.
    ``displayed`` is the canonical JSON of the digests that the signer was shown.
    """

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="signoffs")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="signoffs")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="signoffs")
    turn = models.PositiveSmallIntegerField()
    subject = models.CharField(max_length=DIGEST_LENGTH)
    scope = models.CharField(max_length=DIGEST_LENGTH)
    meaning = models.CharField(max_length=24, choices=Meaning)
    statement = models.TextField()
    displayed = models.TextField()
    auth_method = models.CharField(max_length=24)
    auth_age_s = models.PositiveIntegerField(null=True)
    signed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["revision", "team", "person", "turn"], name="signoff_one_per_turn"),
            models.CheckConstraint(condition=Q(meaning__in=Meaning.values), name="signoff_meaning_known"),
            models.CheckConstraint(condition=~Q(statement=""), name="signoff_statement_given"),
            models.CheckConstraint(condition=Q(turn__gte=1), name="signoff_turn_from_one"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.meaning} for {self.team} on {self.revision}"


class SignOffWithdrawal(models.Model):
    """A sign-off taken back by its signer. The sign-off stays visible."""

    signoff = models.OneToOneField(SignOff, on_delete=models.PROTECT, related_name="withdrawal")
    reason = models.TextField()
    withdrawn_at = models.DateTimeField()

    class Meta:
        constraints = (models.CheckConstraint(condition=~Q(reason=""), name="withdrawal_reason_given"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"withdrawal of {self.signoff}"
