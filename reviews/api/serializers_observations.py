"""Shapes of what is answered to observations."""

from rest_framework import serializers


class ObservedFinding(serializers.Serializer[object]):
    """A value that is out of its envelope; what it is of none of is left out."""

    state = serializers.ChoiceField(("BREACH", "DRIFT", "WITHIN"))
    metric = serializers.CharField()
    statistic = serializers.CharField()
    rank = serializers.IntegerField(required=False)
    group = serializers.IntegerField(required=False)
    link = serializers.CharField(required=False)
    shape = serializers.CharField(required=False)
    node = serializers.CharField(required=False)
    device = serializers.CharField(required=False)
    value = serializers.FloatField(allow_null=True, help_text="the nearer end of what it can be")
    value_up_to = serializers.FloatField(allow_null=True, help_text="the farther end, which used is of")
    limit = serializers.FloatField(allow_null=True)
    limit_at = serializers.CharField(allow_blank=True, help_text="JSON pointer into the contract")
    qualified = serializers.FloatField(allow_null=True)
    qualified_at = serializers.CharField(allow_blank=True, help_text="JSON pointer into the evidence")
    used = serializers.FloatField(allow_null=True, help_text="share of the limit, or of what was measured")
    team = serializers.CharField()


class ObservationsTaken(serializers.Serializer[object]):
    """What became of a batch: counts of what it touched, of everything that is open, and the worst 50 of the former."""

    decision = serializers.IntegerField()
    revision = serializers.IntegerField()
    subject = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment] # taken out of the class by its metaclass
    sha256 = serializers.CharField()
    is_new = serializers.BooleanField(help_text="false where the same bytes were taken before")
    is_judged = serializers.BooleanField(help_text="false for spans that ended more than an hour ago")
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField()
    segments = serializers.IntegerField()
    values = serializers.IntegerField()
    breaches = serializers.IntegerField()
    drifts = serializers.IntegerField()
    open_breaches = serializers.IntegerField()
    open_drifts = serializers.IntegerField()
    findings = ObservedFinding(many=True)
    left_out = serializers.ListField(child=serializers.CharField(), help_text="of scrapes: what nobody placed")
    page = serializers.CharField(help_text="for people")
