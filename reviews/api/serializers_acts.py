"""Shapes of what the API answers about policy, proposals, delegations and reproductions."""

from rest_framework import serializers

from reviews.models import ProposalKind
from reviews.selectors.proposals import STATES


class PolicyVersion(serializers.Serializer[object]):
    """One version of the policy."""

    version = serializers.IntegerField()
    content_id = serializers.CharField()
    made_by = serializers.CharField()
    proposed_by = serializers.CharField(allow_blank=True, help_text="the first of the two admins")
    made_at = serializers.DateTimeField()


class PolicyTeam(serializers.Serializer[object]):
    """A team of the policy with who signs for it."""

    team = serializers.CharField()
    members = serializers.ListField(child=serializers.CharField())


class Policy(serializers.Serializer[object]):
    """The policy in force; its ETag is its content id."""

    version = serializers.IntegerField()
    content_id = serializers.CharField()
    policy = serializers.JSONField(help_text="topogate.policy/v1")
    teams = PolicyTeam(many=True)
    versions = PolicyVersion(many=True, help_text="newest first")
    page = serializers.CharField(help_text="for people")


class Proposal(serializers.Serializer[object]):
    """An act that takes two persons; ``body`` is what is done when another person confirms it."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(ProposalKind.choices)
    decision = serializers.IntegerField(allow_null=True)
    body = serializers.JSONField()
    reason = serializers.CharField()
    person = serializers.CharField()
    team = serializers.CharField(allow_null=True, help_text="from whose seat it was proposed")
    proposed_at = serializers.DateTimeField()
    open_until = serializers.DateTimeField(help_text="nobody confirms it after that")
    state = serializers.ChoiceField(STATES)
    waits_on = serializers.ListField(
        child=serializers.CharField(), help_text="who can confirm it now, while it is open"
    )
    waits_on_you = serializers.BooleanField(help_text="whether you are one of them")
    waiting_because = serializers.CharField(
        allow_blank=True, help_text="who can confirm it in words, or why nobody can and what to do then"
    )
    ended_by = serializers.CharField(allow_null=True, help_text="who confirmed it, took it back or declined")
    ended_reason = serializers.CharField(allow_null=True, help_text="why it is not carried out")
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people: where it is confirmed")


class Proposals(serializers.Serializer[object]):
    """Proposals that wait for a second person, the oldest first."""

    proposals = Proposal(many=True)


class Delegation(serializers.Serializer[object]):
    """A seat that is lent, was lent or will be."""

    id = serializers.IntegerField()
    team = serializers.CharField()
    giver = serializers.CharField()
    taker = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True, help_text="where it ended before its time")
    reason = serializers.CharField()


class Delegations(serializers.Serializer[object]):
    """Delegations, newest first."""

    delegations = Delegation(many=True)


class Reproduction(serializers.Serializer[object]):
    """What planning the stored bytes again gave."""

    same = serializers.BooleanField(help_text="whether the plan id is the stored one's")
    plan = serializers.CharField()
    made_at = serializers.DateTimeField()


class Retraction(serializers.Serializer[object]):
    """Evidence or a trial that was taken back, and the decisions that counted it."""

    content_id = serializers.CharField()
    is_trial = serializers.BooleanField()
    reason = serializers.CharField()
    retracted_at = serializers.DateTimeField()
    decisions = serializers.ListField(child=serializers.IntegerField())
