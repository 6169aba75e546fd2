"""What the hosts of a slot said last: one row for each, which changes with every report, and one for the slot.

Nothing was decided by these rows, so they are not append-only; a report that changed something is an entry of the log
with its bytes kept (``IdentityReport``).
"""

from django.db import models
from django.db.models import Q

from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person, Workspace


class HostReport(models.Model):
    """The newest report of one place in a slot.

    ``place`` is the node of the contract, or the host where the report names none, or "" for an identity that was sent
    as a whole. ``subject`` is what it was compared with, "" where nothing was in force or the report is older;
    ``said`` is the outcome (``reviews.policies.host_reports``), ``outcome`` its digest, unchanged since ``since``.
    ``turn`` is that of the slot at the last change. ``changes`` are news in close succession; from too many on it flaps
    (``flaps_since``), and ``flapped`` are the keys that differed meanwhile (``reviews.policies.report_news``).
    ``refused_because`` stands until a report is taken; ``refusals`` says when it was refused last for each reason.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="host_reports")
    slot = models.CharField(max_length=128)
    place = models.CharField(max_length=128, blank=True)
    host = models.CharField(max_length=128, blank=True)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    collected_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField()
    sha256 = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    body = models.BinaryField(default=bytes)
    subject = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    said = models.BinaryField(default=bytes)
    outcome = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    since = models.DateTimeField()
    turn = models.BigIntegerField(default=0)
    changes = models.PositiveIntegerField(default=0)
    flaps_since = models.DateTimeField(null=True)
    flapped = models.TextField(blank=True)
    refusals = models.TextField(blank=True)
    refused_because = models.TextField(blank=True)
    refused_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (models.Index(fields=["workspace", "slot", "turn"], name="host_report_by_turn"),)
        constraints = (
            models.UniqueConstraint(fields=["workspace", "slot", "place"], name="host_report_once_per_place"),
            models.CheckConstraint(
                condition=Q(sha256="") ^ Q(collected_at__isnull=False), name="host_report_has_its_time"
            ),
        )
        ordering = ("id",)

    def __str__(self) -> str:
        return f"report of {self.place or self.slot}"


class ReportedSlot(models.Model):
    """A slot of which there were reports: how often rows were changed, and the last refusal that is of none of them.

    ``slot`` is "" for refusals of what names no slot that has a decision. ``begun_at`` tells one row from another.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="reported_slots")
    slot = models.CharField(max_length=128, blank=True)
    begun_at = models.DateTimeField()
    turn = models.BigIntegerField(default=0)
    refusals = models.TextField(blank=True)
    refused_because = models.TextField(blank=True)
    refused_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["workspace", "slot"], name="reported_slot_once"),)
        ordering = ("id",)

    def __str__(self) -> str:
        return f"reports of {self.slot}"
