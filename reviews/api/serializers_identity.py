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
    is_decided = serializers.BooleanField(help_text="whether the decided rank map or its hardware names it")
    flaps_since = serializers.DateTimeField(
        allow_null=True, help_text="it changes what it says too often to be told each time; then nothing of it counts"
    )
    changes = serializers.IntegerField(help_text="changes in close succession")
    flapped = serializers.ListField(child=serializers.CharField(), help_text="keys that differed while it flaps")
    identity = serializers.CharField(allow_null=True, help_text="digest of the report's bytes")
    differences = HostDifference(many=True)
    refused = serializers.CharField(allow_null=True)
    refused_at = serializers.DateTimeField(allow_null=True)


class Awaited(serializers.Serializer[object]):
    """What no report says yet; ``nics`` are the ranks of which only the NIC was not said."""

    nodes = serializers.ListField(child=serializers.CharField())
    nodes_in_all = serializers.IntegerField()
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

    differences_in_all = serializers.IntegerField(help_text="at most 200 are listed")
    last_report = serializers.DateTimeField(allow_null=True)
    agrees = serializers.BooleanField()
    flapping = serializers.ListField(child=serializers.CharField(), help_text="hosts that flap: no match until none")
    flapping_in_all = serializers.IntegerField()
    awaited = Awaited()
    contradictions = serializers.ListField(child=serializers.CharField())
    refused = serializers.CharField(allow_null=True, help_text="the last refusal that is of none of the hosts")
    refused_at = serializers.DateTimeField(allow_null=True)
    hosts = Host(many=True)
    hosts_in_all = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
