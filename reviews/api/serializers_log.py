"""Shapes of what the API answers about the log: an entry with its proof, checkpoints, consistency, cosignatures."""

from rest_framework import serializers

from reviews.api.serializers import Entry

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
