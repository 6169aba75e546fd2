"""Sign-offs. A row states what somebody signed and never changes; whether it still counts is computed at read.

What happens to a sign-off later is a row of its own beside it: taken back, carried to a new revision, a condition met.
"""

from django.db import models
from django.db.models import F, Q

from reviews.models.decisions import Revision
from reviews.models.documents import Blob
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Team, Workspace


class Meaning(models.TextChoices):
    """What a sign-off says."""

    APPROVE = "approve", "Approve"
    APPROVE_WITH_CONDITIONS = "approve_with_conditions", "Approve with conditions"
    ACCEPT_RISK = "accept_risk", "Accept the risk"
    REQUEST_CHANGES = "request_changes", "Request changes"
    OBJECT = "object", "Object"
    REJECT = "reject", "Reject"


class Delegation(models.Model):
    """A member lets another member of the same team sign in their place, for a time. Depth one: it is not passed on."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="delegations")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="delegations")
    giver = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="delegations_given")
    taker = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="delegations_taken")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.TextField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="delegation_ends_after_start"),
            models.CheckConstraint(condition=~Q(giver=F("taker")), name="delegation_to_somebody_else"),
            models.CheckConstraint(condition=~Q(reason=""), name="delegation_reason_given"),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.giver} to {self.taker} for {self.team}"


class DelegationEnd(models.Model):
    """A delegation that its giver or an admin ended before its time."""

    delegation = models.OneToOneField(Delegation, on_delete=models.PROTECT, related_name="end")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"end of {self.delegation}"


class SignOff(models.Model):
    """One person's word for one team on one revision.

    ``turn`` counts that person's sign-offs for the team on the revision; the highest is the one that stands.
    ``displayed`` is the canonical JSON of the digests that the signer was shown, ``opened`` the blob of the items that
    they had opened before, ``waivers`` the digest of the waivers in force, ``rollback`` the topology to go back to.
    """

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="signoffs")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="signoffs")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="signoffs")
    turn = models.PositiveSmallIntegerField()
    subject = models.CharField(max_length=DIGEST_LENGTH)
    scope = models.CharField(max_length=DIGEST_LENGTH)
    meaning = models.CharField(max_length=24, choices=Meaning)
    statement = models.TextField()
    rollback = models.CharField(max_length=512, blank=True, default="")
    displayed = models.TextField()
    opened = models.ForeignKey(Blob, on_delete=models.PROTECT, null=True, related_name="+")
    waivers = models.CharField(max_length=DIGEST_LENGTH, blank=True, default="")
    delegation = models.ForeignKey(Delegation, on_delete=models.PROTECT, null=True, related_name="signoffs")
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
    """A sign-off taken back: by its signer, or an objection by the team's lead and a second member.

    The sign-off stays visible.
    """

    signoff = models.OneToOneField(SignOff, on_delete=models.PROTECT, related_name="withdrawal")
    reason = models.TextField()
    withdrawn_at = models.DateTimeField()

    class Meta:
        constraints = (models.CheckConstraint(condition=~Q(reason=""), name="withdrawal_reason_given"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"withdrawal of {self.signoff}"


class SignOffCarry(models.Model):
    """A sign-off that counts on a later revision too, because what its team owns there is byte for byte the same.

    ``entry`` is the seq of its entry in the audit log. An objection is carried whatever changed.
    """

    signoff = models.ForeignKey(SignOff, on_delete=models.PROTECT, related_name="carries")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="carried_signoffs")
    scope = models.CharField(max_length=DIGEST_LENGTH)
    entry = models.BigIntegerField()
    carried_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["signoff", "revision"], name="carry_once"),)
        verbose_name_plural = "sign-off carries"
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.signoff} on {self.revision}"


class PointKind(models.TextChoices):
    """What a point of a sign-off asks for: a condition blocks until it is met, a follow-up never does."""

    CONDITION = "condition", "Condition"
    FOLLOW_UP = "follow_up", "Follow-up"


class SignOffPoint(models.Model):
    """One condition or follow-up of a sign-off, numbered from one."""

    signoff = models.ForeignKey(SignOff, on_delete=models.PROTECT, related_name="points")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=12, choices=PointKind)
    text = models.TextField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["signoff", "number"], name="point_number_once"),
            models.CheckConstraint(condition=Q(kind__in=PointKind.values), name="point_kind_known"),
            models.CheckConstraint(condition=~Q(text=""), name="point_text_given"),
        )
        ordering = ("signoff", "number")

    def __str__(self) -> str:
        return f"{self.kind} {self.number} of {self.signoff}"


class PointSettlement(models.Model):
    """A point that is done: who says so, and how."""

    point = models.OneToOneField(SignOffPoint, on_delete=models.PROTECT, related_name="settlement")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    note = models.TextField()
    settled_at = models.DateTimeField()

    class Meta:
        constraints = (models.CheckConstraint(condition=~Q(note=""), name="settlement_note_given"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"settlement of {self.point}"


class ReReview(models.Model):
    """An author or owner asks a team to look again: its sign-offs up to ``up_to``, the last one then, count no more."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="re_reviews")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="re_reviews")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    up_to = models.BigIntegerField()
    asked_at = models.DateTimeField()

    class Meta:
        constraints = (models.CheckConstraint(condition=~Q(reason=""), name="re_review_reason_given"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"re-review by {self.team} of {self.revision}"


class ItemOpening(models.Model):
    """Somebody opened an item of a revision that is to be opened before approving; it proves no reading."""

    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="openings")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    item = models.CharField(max_length=320)
    opened_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["revision", "person", "item"], name="opening_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.item} of {self.revision}"
