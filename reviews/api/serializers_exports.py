"""Shapes of what the API answers about exports."""

from rest_framework import serializers

from reviews.models import ExportState


class ExportItem(serializers.Serializer[object]):
    """An export; ``bundle`` leads to its bytes once it is ``done``, ``error`` says why it is ``failed``."""

    id = serializers.IntegerField()
    decision = serializers.IntegerField(allow_null=True, help_text="null: the whole workspace")
    with_files = serializers.BooleanField(help_text="whether the files behind evidence and diagnoses are in it")
    state = serializers.ChoiceField(list(ExportState.values))
    asked_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True, help_text="when it is deleted")
    entries_done = serializers.IntegerField(help_text="the share of all the work that is done, in entries")
    entries_total = serializers.IntegerField()
    size_bytes = serializers.IntegerField()
    sha256 = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    url = serializers.CharField()
    bundle = serializers.CharField(allow_null=True)


class ExportList(serializers.Serializer[object]):
    """The newest exports."""

    exports = ExportItem(many=True)
