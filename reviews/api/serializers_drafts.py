"""Shapes of what the API answers about drafts of evidence; the OpenAPI document is made from them."""

from rest_framework import serializers

from reviews.api.serializers import ProblemItem
from reviews.models import FileState

FILE_STATES = [(value, value) for value in FileState.values if value != FileState.ARRIVING]


class EvidenceDraftRow(serializers.Serializer[object]):
    """A draft in short."""

    id = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    slot = serializers.CharField()
    version = serializers.IntegerField()
    changed_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="when it is deleted unless it is changed before")
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")


class EvidenceDraftList(serializers.Serializer[object]):
    """One's own drafts, the last changed first."""

    drafts = EvidenceDraftRow(many=True)


class EvidenceDraftFile(serializers.Serializer[object]):
    """A file of a draft. ``sha256`` is that of the kept copy, ``uploaded_sha256`` that of the file as it was sent."""

    name = serializers.CharField()
    sha256 = serializers.CharField()
    bytes = serializers.IntegerField()
    uploaded_sha256 = serializers.CharField()
    removed = serializers.JSONField(help_text="what was taken out before it was stored: counts by kind, first places")
    state = serializers.ChoiceField(FILE_STATES)
    bytes_read = serializers.IntegerField()
    reading = serializers.JSONField(allow_null=True, help_text="format, version, runs with values, units and places")


class EvidenceDraftState(EvidenceDraftRow):
    """A draft with everything that it holds and lacks."""

    contract = serializers.CharField(help_text="content id of the contract that it is made for")
    files = EvidenceDraftFile(many=True)
    draft = serializers.JSONField(help_text="trials, answers, settlements, without the files (evidence-draft/v1)")
    state = serializers.JSONField(help_text="questions, conflicts, held runs, checks, coverage, and what is open")


class FileOutcome(serializers.Serializer[object]):
    """What became of a file that was sent."""

    name = serializers.CharField()
    outcome = serializers.ChoiceField(["read", "waiting", "unknown", "again", "refused"])
    sha256 = serializers.CharField(allow_blank=True)
    problems = ProblemItem(many=True)


class FileOutcomes(serializers.Serializer[object]):
    """What became of every file, in the order in which they were sent."""

    version = serializers.IntegerField()
    files = FileOutcome(many=True)


class MadeEvidence(serializers.Serializer[object]):
    """A document that was made; both digests, where its bytes are, and the files behind it."""

    content_id = serializers.CharField()
    file_sha256 = serializers.CharField()
    contract_file_sha256 = serializers.CharField()
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")
    attachments = serializers.ListField(child=serializers.CharField(), help_text="digests")


class ContractDraftRow(EvidenceDraftRow):
    """A draft of a contract in short."""

    slot = serializers.CharField(allow_blank=True)


class ContractDraftList(serializers.Serializer[object]):
    """One's own drafts of contracts, the last changed first."""

    drafts = ContractDraftRow(many=True)


class ContractProblem(ProblemItem):
    """One thing wrong with a contract, or still missing in it."""

    is_lacking = serializers.BooleanField(
        help_text="nothing is wrong with what is there: something is still to be said"
    )


class ContractQuestion(serializers.Serializer[object]):
    """What nobody has said of the hardware, for several entries at once."""

    pointer = serializers.CharField(help_text="`<id>` stands for each of `ids`")
    question = serializers.CharField()
    ids = serializers.ListField(child=serializers.CharField())
    needed = serializers.BooleanField(help_text="no contract is accepted without it")


class ContractDraftState(ContractDraftRow):
    """A contract in the making with everything that it holds and lacks."""

    based_on = serializers.CharField(allow_null=True, help_text="file digest of the contract that it began as")
    content_id = serializers.CharField(allow_null=True, help_text="null while there is any problem")
    document = serializers.JSONField()
    problems = ContractProblem(many=True)
    questions = ContractQuestion(many=True)
    origins = serializers.JSONField(help_text="pointer -> where its value was read")
    notes = serializers.ListField(child=serializers.CharField(), help_text="remarks on files that were read")
