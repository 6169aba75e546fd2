"""Shapes of what the API answers about threads; the OpenAPI document is made from them."""

from rest_framework import serializers

from reviews.models import AnchorKind

PLACES = [(value, value) for value in ("SAME", "CHANGED", "GONE")]


class Comment(serializers.Serializer[object]):
    """A published comment. ``entry`` is the seq of its publication in the audit log."""

    number = serializers.IntegerField()
    person = serializers.CharField()
    posted_at = serializers.DateTimeField()
    text = serializers.CharField(help_text="plain text")
    mentions = serializers.ListField(child=serializers.CharField(), help_text="names of members")
    strangers = serializers.ListField(child=serializers.CharField(), help_text="logins that no member has")
    entry = serializers.IntegerField()


class Resolution(serializers.Serializer[object]):
    """How a thread ended."""

    person = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    resolved_at = serializers.DateTimeField()


class Thread(serializers.Serializer[object]):
    """A thread; ``before`` is its item as it was commented on, ``after`` the item on ``placed_on``, null where GONE."""

    number = serializers.IntegerField()
    kind = serializers.ChoiceField(AnchorKind.choices)
    name = serializers.CharField()
    revision = serializers.IntegerField(help_text="on which it was opened")
    item = serializers.CharField(help_text="digest of the item's canonical JSON")
    team = serializers.CharField(allow_null=True)
    blocking = serializers.BooleanField(help_text="whether it blocks its team's requirement now")
    opener = serializers.CharField()
    opened_at = serializers.DateTimeField()
    place = serializers.ChoiceField(PLACES)
    before = serializers.JSONField()
    after = serializers.JSONField(allow_null=True)
    comments = Comment(many=True)
    resolution = Resolution(allow_null=True)
    page = serializers.CharField(help_text="for people")


class Threads(serializers.Serializer[object]):
    """Threads of a decision, newest first, placed on the newest planned revision."""

    placed_on = serializers.IntegerField(allow_null=True)
    threads = Thread(many=True)
    next = serializers.CharField(allow_null=True, help_text="address of the next page, null after the last one")
