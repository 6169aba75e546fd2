"""Shapes of what the API answers about the log: an entry with its proof, checkpoints, consistency, cosignatures."""

from rest_framework import serializers

from reviews.api.serializers import Entry
from reviews.models import JobState, VerificationOutcome

HASHES = "base64, 32 bytes each; from the leaf up"


class InclusionProof(serializers.Serializer[object]):
    """The proof that an entry is in the signed log. Where stored bytes are others, ``holds`` is False."""

    size = serializers.IntegerField(help_text="entries of the checkpoint that the proof leads to")
    root_hash = serializers.CharField(help_text="base64, 32 bytes")
    hashes = serializers.ListField(child=serializers.CharField(), help_text=HASHES)
    holds = serializers.BooleanField()
    fault = serializers.CharField(allow_blank=True)


class EntryDetail(Entry):
    """One entry with the exact bytes that are hashed."""

    bytes = serializers.CharField(help_text="base64 of the stored bytes")
    leaf = serializers.CharField(help_text="base64: SHA-256 over 0x00 and the bytes")
    inclusion = InclusionProof(allow_null=True, help_text="null where no checkpoint covers the entry yet")


class WitnessLine(serializers.Serializer[object]):
    """A witness's signature."""

    name = serializers.CharField()
    key = serializers.CharField()
    seen_at = serializers.DateTimeField()


class CheckpointItem(serializers.Serializer[object]):
    """A signed checkpoint; ``note`` is the signed note with the lines of witnesses."""

    size = serializers.IntegerField()
    root_hash = serializers.CharField(help_text="base64, 32 bytes")
    key = serializers.CharField(help_text="public key that signed, in its text form")
    signed_at = serializers.DateTimeField()
    cosignatures = WitnessLine(many=True)
    note = serializers.CharField()


class CheckpointPage(serializers.Serializer[object]):
    """Checkpoints, newest first; ``keys`` are all that ever signed the log, the first one first."""

    checkpoints = CheckpointItem(many=True)
    keys = serializers.ListField(child=serializers.CharField())
    entries = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)


class ConsistencyProof(serializers.Serializer[object]):
    """The proof that the first ``old`` entries of a log of ``size`` are those of the log of ``old``."""

    old = serializers.IntegerField()
    size = serializers.IntegerField()
    root_hash = serializers.CharField(help_text="of the log of size entries; base64, 32 bytes")
    hashes = serializers.ListField(child=serializers.CharField(), help_text=HASHES)


class CosignatureKept(serializers.Serializer[object]):
    """A cosignature as it is kept."""

    witness = serializers.CharField()
    size = serializers.IntegerField()
    time = serializers.IntegerField(help_text="seconds since 1970")


class VerificationItem(serializers.Serializer[object]):
    """A verification; ``outcome`` and what follows are there once it is ``done``."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(list(JobState.values))
    asked_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    entries_done = serializers.IntegerField(help_text="the share of all the work that is done, in entries")
    entries_total = serializers.IntegerField()
    outcome = serializers.ChoiceField(list(VerificationOutcome.values), allow_null=True)
    headline = serializers.CharField(allow_blank=True, help_text="in the verifier's own words")
    checked = serializers.ListField(child=serializers.CharField())
    not_checked = serializers.ListField(child=serializers.CharField())
    entries = serializers.IntegerField(allow_null=True)
    head = serializers.CharField(allow_blank=True, help_text="digest of the last entry that holds")
    bad_seq = serializers.IntegerField(allow_null=True, help_text="the first entry at fault")
    error = serializers.CharField(allow_blank=True, help_text="why there is no result")
    url = serializers.CharField()


class VerificationList(serializers.Serializer[object]):
    """The newest verifications."""

    verifications = VerificationItem(many=True)
