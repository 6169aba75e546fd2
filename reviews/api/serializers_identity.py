"""How a slot stands by the reports of its hosts, as the API shows it."""

from rest_framework import serializers

from reviews.api.serializers import SlotCheck


class HostDifference(serializers.Serializer[object]):
    """A key that a host reports otherwise than decided, or does not know."""

    key = serializers.CharField()
    how = serializers.ChoiceField(["differs", "missing", "unknown"])
    team = serializers.CharField()


class Host(serializers.Serializer[object]):
    """A host with its last report."""

    place = serializers.CharField(
        allow_blank=True, help_text="node of the contract, else the host; empty for the whole slot"
    )
    host = serializers.CharField(allow_blank=True)
    collected_at = serializers.DateTimeField(allow_null=True)
    counts = serializers.BooleanField(help_text="whether it is of what holds now, and not too old")
    since = serializers.DateTimeField(help_text="since when it says the same")
    identity = serializers.CharField(allow_null=True, help_text="digest of the report's bytes")
    differences = HostDifference(many=True)
    refused = serializers.CharField(allow_null=True)
    refused_at = serializers.DateTimeField(allow_null=True)


class Awaited(serializers.Serializer[object]):
    """What no report says yet; ``nics`` are the ranks of which only the NIC was not said."""

    nodes = serializers.ListField(child=serializers.CharField())
    keys = serializers.ListField(child=serializers.CharField())
    keys_in_all = serializers.IntegerField()
    ranks = serializers.ListField(child=serializers.IntegerField())
    ranks_in_all = serializers.IntegerField()
    nics = serializers.ListField(child=serializers.IntegerField())
    nics_in_all = serializers.IntegerField()


class LiveIdentity(SlotCheck):
    """A check, with what each host said. ``agrees``: what runs is what was decided, whether or not that holds.

    The decision is the one that hosts are compared with, in the state that it has now, also where that is no longer in
    force; null where nothing was put into force, or what was ended for good.
    """

    last_report = serializers.DateTimeField(allow_null=True)
    agrees = serializers.BooleanField()
    awaited = Awaited()
    contradictions = serializers.ListField(child=serializers.CharField())
    hosts = Host(many=True)
