"""Diagnoses of the slowest rank: what somebody found out about what runs, with the files that it was read from.

A diagnosis is a link in an incident, so it only grows: another look is another row, and no row changes. What was found
stands in ``result`` as it was written by the planner that made it.
"""

from django.db import models
from django.db.models import Q

from reviews.models.decisions import Decision, Revision
from reviews.models.documents import Blob
from reviews.models.draft_files import FILE_NAME_LENGTH, Attachment
from reviews.models.fields import DIGEST_LENGTH
from reviews.models.people import Person

POINTS_AT_LENGTH = 256


class Diagnosis(models.Model):
    """One diagnosis, numbered within its decision. ``result`` is ``topogate.slowest/v1``.

    ``pattern`` and ``points_at`` repeat for lists what the result points at: empty where no trace was given or where it
    is nothing single. ``trial`` is the one whose rank map, stages and times ranks were held against.
    """

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="diagnoses")
    number = models.PositiveIntegerField()
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="diagnoses")
    trial = models.CharField(max_length=64)
    late_us = models.PositiveIntegerField()
    note = models.TextField(blank=True)
    pattern = models.CharField(max_length=16, blank=True)
    points_at = models.CharField(max_length=POINTS_AT_LENGTH, blank=True)
    result = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    planner_version = models.CharField(max_length=32)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="diagnoses")
    made_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["decision", "number"], name="diagnosis_number_once"),
            models.CheckConstraint(condition=Q(late_us__gte=1), name="diagnosis_late_us_positive"),
        )
        verbose_name_plural = "diagnoses"
        ordering = ("decision", "-number")

    def __str__(self) -> str:
        return f"diagnosis {self.number} of {self.decision}"


class DiagnosisFileKind(models.TextChoices):
    """What a file was read as."""

    TRACE = "trace", "Trace of collectives"
    RAS = "ras", "Snapshots of NCCL RAS"
    LOG = "log", "Log of an engine"


class DiagnosisFile(models.Model):
    """A file that a diagnosis was read from: uploaded for it and kept without secrets, or a file behind the evidence.

    ``blob`` holds an uploaded one, ``attachment`` names one behind the evidence; ``uploaded_sha256`` and ``removed``
    say what was taken out before it was kept.
    """

    diagnosis = models.ForeignKey(Diagnosis, on_delete=models.PROTECT, related_name="files")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=FILE_NAME_LENGTH)
    kind = models.CharField(max_length=8, choices=DiagnosisFileKind)
    sha256 = models.CharField(max_length=DIGEST_LENGTH)
    size_bytes = models.BigIntegerField()
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, null=True, related_name="+")
    attachment = models.ForeignKey(Attachment, on_delete=models.PROTECT, null=True, related_name="diagnoses")
    uploaded_sha256 = models.CharField(max_length=DIGEST_LENGTH)
    removed = models.JSONField(default=dict)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["diagnosis", "number"], name="diagnosis_file_number_once"),
            models.CheckConstraint(condition=Q(kind__in=DiagnosisFileKind.values), name="diagnosis_file_kind_known"),
            models.CheckConstraint(
                condition=(
                    Q(blob__isnull=False, attachment__isnull=True) | Q(blob__isnull=True, attachment__isnull=False)
                ),
                name="diagnosis_file_in_one_place",
            ),
        )
        ordering = ("diagnosis", "number")

    def __str__(self) -> str:
        return self.name
