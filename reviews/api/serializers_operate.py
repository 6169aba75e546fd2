"""Shapes of what the API answers about production: diagnoses of the slowest rank, values, findings."""

from rest_framework import serializers

from reviews.models import DiagnosisFileKind
from reviews.selectors.observations_page import STATES


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


class ObservedValue(serializers.Serializer[object]):
    """One statistic of one rank, group or link: the range that it can be, beside what was measured and is allowed."""

    metric = serializers.CharField()
    statistic = serializers.CharField()
    rank = serializers.IntegerField(allow_null=True)
    node = serializers.CharField(allow_null=True)
    device = serializers.CharField(allow_null=True)
    group = serializers.IntegerField(allow_null=True)
    link = serializers.CharField(allow_null=True)
    shape = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(STATES)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    limit = serializers.FloatField(allow_null=True)
    limit_at = serializers.CharField(allow_null=True, help_text="pointer into the contract")
    qualified = serializers.FloatField(allow_null=True)
    qualified_at = serializers.CharField(allow_null=True, help_text="pointer into the evidence")
    used = serializers.FloatField(allow_null=True, help_text="share of the limit, or of what was measured")
    drift = serializers.FloatField(allow_null=True, help_text="distance from what was measured")
    because = serializers.CharField(allow_null=True, help_text="why it is unknown")
    source = serializers.CharField(  # type: ignore[assignment] # taken out of the class by its metaclass
        allow_null=True, help_text="the collector that said so, where others say less of the same"
    )


class ObservedPage(serializers.Serializer[object]):
    """The values of one metric of a span, the worst first."""

    decision = serializers.IntegerField()
    revision = serializers.IntegerField()
    metric = serializers.CharField()
    metrics = serializers.ListField(child=serializers.CharField(), help_text="that were reported in the span")
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(help_text="how much of the span was reported")
    total = serializers.IntegerField()
    values = ObservedValue(many=True)
    next = serializers.CharField(allow_null=True)


class FindingItem(serializers.Serializer[object]):
    """One value that is, or was, out of its envelope."""

    state = serializers.ChoiceField(["BREACH", "DRIFT"])
    metric = serializers.CharField()
    statistic = serializers.CharField()
    rank = serializers.IntegerField(allow_null=True)
    group = serializers.IntegerField(allow_null=True)
    link = serializers.CharField(allow_blank=True)
    shape = serializers.CharField(allow_blank=True)
    node = serializers.CharField(allow_blank=True)
    device = serializers.CharField(allow_blank=True)
    team = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(allow_null=True, help_text="the nearer end of what it can be")
    value_up_to = serializers.FloatField(allow_null=True, help_text="the farther end, which used is of")
    limit = serializers.FloatField(allow_null=True)
    limit_at = serializers.CharField(allow_blank=True)
    qualified = serializers.FloatField(allow_null=True)
    qualified_at = serializers.CharField(allow_blank=True)
    used = serializers.FloatField(allow_null=True)
    opened_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    calm_since = serializers.DateTimeField(allow_null=True, help_text="within again, and not for long enough")
    closed_at = serializers.DateTimeField(allow_null=True)


class FindingPage(serializers.Serializer[object]):
    """Findings of what a decision put into force last."""

    findings = FindingItem(many=True)
    total = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)


class BatchItem(serializers.Serializer[object]):
    """The receipt of a batch; ``breaches`` and ``drifts`` are of what it touched."""

    sha256 = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment] # taken out of the class by its metaclass
    person = serializers.CharField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField()
    received_at = serializers.DateTimeField()
    size_bytes = serializers.IntegerField()
    segments = serializers.IntegerField()
    values = serializers.IntegerField()
    breaches = serializers.IntegerField()
    drifts = serializers.IntegerField()
    has_bytes = serializers.BooleanField(help_text="whether its bytes are kept still")


class BatchPage(serializers.Serializer[object]):
    """Batches of what a decision put into force last."""

    batches = BatchItem(many=True)
    total = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
