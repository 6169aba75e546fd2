"""Shapes of what the API answers about production: diagnoses of the slowest rank."""

from rest_framework import serializers

from reviews.models import DiagnosisFileKind


class DiagnosisItem(serializers.Serializer[object]):
    """A diagnosis in a list."""

    number = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="whose rank map, stages and times ranks are held against")
    trial = serializers.CharField()
    pattern = serializers.CharField(allow_null=True, help_text="null: no trace was given")
    points_at = serializers.CharField(allow_null=True, help_text="a rank with node and device, or nodes; null: neither")
    note = serializers.CharField(allow_blank=True)
    late_us = serializers.IntegerField(help_text="waiting that counts as lateness")
    person = serializers.CharField()
    made_at = serializers.DateTimeField()
    planner_version = serializers.CharField()
    result_sha256 = serializers.CharField(help_text="digest of the stored `diagnosis`")
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")


class DiagnosisPage(serializers.Serializer[object]):
    """Diagnoses of a decision, newest first."""

    diagnoses = DiagnosisItem(many=True)
    next = serializers.CharField(allow_null=True)


class DiagnosisFileItem(serializers.Serializer[object]):
    """A file that a diagnosis was read from."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(list(DiagnosisFileKind.values))
    sha256 = serializers.CharField()
    size_bytes = serializers.IntegerField()
    is_of_evidence = serializers.BooleanField()
    uploaded_sha256 = serializers.CharField(help_text="as it was sent, before secrets were taken out")
    url = serializers.CharField()


class DiagnosisWhole(DiagnosisItem):
    """A diagnosis with what it found."""

    files = DiagnosisFileItem(many=True)
    diagnosis = serializers.JSONField(help_text="`topogate.slowest/v1`, as on the command line")
