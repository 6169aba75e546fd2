"""Shapes of slots: what holds for each, what it takes, what was reported and observed of it."""

from rest_framework import serializers

from reviews.api.serializers import ACTIVATION_KINDS, DECISION_STATES
from reviews.selectors.slot_ends import KINDS

MONEY = "the nearest number; null where the contract declares no price"


class SlotDecision(serializers.Serializer[object]):
    """A decision of a slot, with its state as of now. ``owner`` is what its newest contract says."""

    number = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own
    title = serializers.CharField()
    state = serializers.ChoiceField(DECISION_STATES)
    state_since = serializers.DateTimeField()
    state_because = serializers.CharField(allow_blank=True)
    valid_until = serializers.DateTimeField(allow_null=True, help_text="while it is in force and something limits it")
    owner = serializers.CharField()
    model = serializers.CharField()
    engine = serializers.CharField()
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")


class PutIntoForce(serializers.Serializer[object]):
    """What was put into force last; `incident` is empty unless it was an emergency."""

    revision = serializers.IntegerField()
    kind = serializers.ChoiceField(ACTIVATION_KINDS)
    subject = serializers.CharField()
    trial = serializers.CharField()
    topology = serializers.CharField()
    rollback = serializers.CharField(allow_blank=True)
    activated_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)
    incident = serializers.CharField(allow_blank=True)


class Takes(serializers.Serializer[object]):
    """Devices that are charged and their price, as the cost gate charges them; a month has 730 hours."""

    charge = serializers.ChoiceField(["device", "node", "rack"])
    devices = serializers.IntegerField(help_text="with ranks, spare and stranded")
    with_ranks = serializers.IntegerField()
    spare = serializers.IntegerField()
    stranded = serializers.IntegerField()
    types = serializers.DictField(child=serializers.IntegerField())
    usd_per_hour = serializers.FloatField(allow_null=True, help_text=MONEY)
    usd_per_month = serializers.FloatField(allow_null=True, help_text=MONEY)
    unpriced = serializers.CharField(allow_blank=True, help_text="why there is no price")


class ReportedKey(serializers.Serializer[object]):
    """A key that the last report of a host did not show as decided, and the team that owns it."""

    key = serializers.CharField(help_text="JSON pointer below /identity")
    how = serializers.ChoiceField(["differs", "missing", "unknown"])
    team = serializers.CharField()


class Reported(serializers.Serializer[object]):
    """What hosts reported of what was put into force; whether all have is said by `GET .../identity-reports`."""

    last_at = serializers.DateTimeField(allow_null=True)
    hosts = serializers.IntegerField()
    is_whole = serializers.BooleanField(help_text="one report spoke for the whole slot")
    is_fresh = serializers.BooleanField(help_text="it counts still")
    differences = ReportedKey(many=True)


class ObservedCounts(serializers.Serializer[object]):
    """Values of production that are out of their envelope now."""

    breaches = serializers.IntegerField()
    drifts = serializers.IntegerField()
    last_at = serializers.DateTimeField(allow_null=True)


class Slot(serializers.Serializer[object]):
    """A slot and the decision that stands for it."""

    slot = serializers.CharField()
    holds = serializers.ChoiceField(
        ["in_force", "standing", "none"], help_text="standing: no more, but it may still run"
    )
    decision = SlotDecision()
    put_into_force = PutIntoForce(allow_null=True)
    takes = Takes(allow_null=True, help_text="null where nothing stands, or what it takes is not known")
    reported = Reported()
    observed = ObservedCounts()
    others = serializers.ListField(child=serializers.IntegerField(), help_text="other decisions that have not ended")
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")


class SlotTotals(serializers.Serializer[object]):
    """What the slots that fit come to; devices and cost are of what is in force."""

    slots = serializers.IntegerField()
    in_force = serializers.IntegerField()
    standing = serializers.IntegerField()
    devices = serializers.IntegerField()
    types = serializers.DictField(child=serializers.IntegerField())
    usd_per_hour = serializers.FloatField(help_text="of those that declare a price")
    priced = serializers.IntegerField()
    unpriced = serializers.IntegerField()
    unknown = serializers.IntegerField(help_text="slots of which it is not known what they take")
    ending_soon = serializers.IntegerField()


class SlotPage(serializers.Serializer[object]):
    """Slots in natural order of their names."""

    slots = Slot(many=True)
    totals = SlotTotals()
    next = serializers.CharField(allow_null=True)


class PastDecision(SlotDecision):
    """A decision that there was about a slot, and what of it was put into force last."""

    put_into_force = PutIntoForce(allow_null=True)


class SlotDetail(Slot):
    """One slot with its decisions, newest first."""

    decisions = PastDecision(many=True)


class End(serializers.Serializer[object]):
    """Something that ends by itself. `name` says more: a waived gate and its trial, or an incident."""

    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(KINDS)
    follows = serializers.CharField(help_text="what follows then, for people")
    slot = serializers.CharField()
    decision = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own
    topology = serializers.CharField(allow_blank=True)
    name = serializers.CharField(allow_blank=True)
    by_evidence = serializers.BooleanField(help_text="a decision ends because its evidence gets too old")
    page = serializers.CharField(help_text="the decision, for people")
    slot_page = serializers.CharField(help_text="the slot, for people")


class EndPage(serializers.Serializer[object]):
    """What ends, the first first."""

    ends = End(many=True)
    total = serializers.IntegerField(help_text="on all pages")
    next = serializers.CharField(allow_null=True)


class TrialUse(serializers.Serializer[object]):
    """A slot whose decision counts a trial, under the name that it has in that evidence."""

    slot = serializers.CharField()
    decision = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own
    revision = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField(DECISION_STATES)
    trial = serializers.CharField()
    is_put_into_force = serializers.BooleanField(help_text="it is the trial that was selected there")
    page = serializers.CharField(help_text="the decision, for people")


class SharedTrial(serializers.Serializer[object]):
    """A trial that so many slots rest on; those that run it stand before others."""

    content_id = serializers.CharField()
    is_retracted = serializers.BooleanField()
    slots = serializers.IntegerField()
    uses = TrialUse(many=True)


class SharedPage(serializers.Serializer[object]):
    """Trials that several slots count, those that most count first."""

    trials = SharedTrial(many=True)
    total = serializers.IntegerField(help_text="on all pages")
    next = serializers.CharField(allow_null=True)
