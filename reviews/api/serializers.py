"""Shapes of what the API answers; the OpenAPI document is made from them.

Answers only: nothing that is sent in is read by a serializer, documents least of all.
"""

from typing import get_args

from rest_framework import serializers

from reviews.errors import DocumentName
from reviews.models import ActivationKind, DecisionState, Meaning, PointKind
from reviews.services.submissions import TITLE_LENGTH

DECISION_STATES = [(value, value) for value in DecisionState.values]
ACTIVATION_KINDS = [(value, value) for value in ActivationKind.values]
REQUIREMENT_STATUSES = [
    (value, value) for value in ("NOT_APPLICABLE", "SATISFIED", "UNSATISFIED", "UNSATISFIABLE", "OVERRIDDEN", "ERROR")
]
REVISION_STATES = [(value, value) for value in ("queued", "running", "planned", "failed")]


class ProblemItem(serializers.Serializer[object]):
    """One thing wrong with what was sent."""

    document = serializers.ChoiceField(get_args(DocumentName))
    code = serializers.CharField(help_text="stable, documented")
    pointer = serializers.CharField(help_text="JSON pointer into the document, or the name of the request's field")
    expected = serializers.CharField()
    found = serializers.CharField()
    line = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)


class Problem(serializers.Serializer[object]):
    """Problem details, RFC 9457."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    instance = serializers.CharField()
    problems = ProblemItem(many=True)
    moved = serializers.ListField(child=serializers.CharField(), required=False)


class Check(serializers.Serializer[object]):
    """What a dry run found."""

    ok = serializers.BooleanField()
    problems = ProblemItem(many=True)


class PlanSummary(serializers.Serializer[object]):
    """A plan in short; ``url`` leads to its bytes."""

    plan_id = serializers.CharField()
    decision = serializers.ChoiceField(["SELECT_TOPOLOGY", "NO_ELIGIBLE_TOPOLOGY", "INCONCLUSIVE"])
    selected_trial = serializers.CharField(allow_null=True)
    selected_topology = serializers.CharField(allow_null=True)
    eligible = serializers.IntegerField()
    rejected = serializers.IntegerField()
    inconclusive = serializers.IntegerField()
    url = serializers.CharField()


class DocumentLink(serializers.Serializer[object]):
    """An uploaded document: its two digests, and where its bytes are."""

    content_id = serializers.CharField()
    file_sha256 = serializers.CharField()
    url = serializers.CharField()


class Progress(serializers.Serializer[object]):
    """How far the planner is."""

    candidates_done = serializers.IntegerField()
    candidates_total = serializers.IntegerField()
    attempts = serializers.IntegerField()


class PlanningError(serializers.Serializer[object]):
    """Why there is no plan."""

    code = serializers.CharField()
    detail = serializers.CharField()


class Revision(serializers.Serializer[object]):
    """A revision with every digest it is bound to, and how its planning stands."""

    decision = serializers.IntegerField()
    revision = serializers.IntegerField()
    state = serializers.ChoiceField(REVISION_STATES)
    progress = Progress()
    error = PlanningError(allow_null=True)
    author = serializers.CharField()
    made_at = serializers.DateTimeField()
    as_of = serializers.CharField()
    contract = DocumentLink()
    evidence = DocumentLink()
    identity = serializers.CharField()
    policy = serializers.CharField()
    policy_version = serializers.IntegerField()
    planner_version = serializers.CharField()
    plan = PlanSummary(allow_null=True)
    subject = serializers.CharField(allow_null=True, help_text="what sign-offs are bound to; null until planned")
    planned_at = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")


class RevisionPage(serializers.Serializer[object]):
    """Revisions, newest first."""

    revisions = Revision(many=True)
    next = serializers.CharField(allow_null=True)


class StressPage(serializers.Serializer[object]):
    """Faults in some of a decision's trials; nothing of it was measured, planned or can be signed."""

    stress = serializers.JSONField(help_text="a matrix by the schema `stress`, of the trials of this page")
    trials = serializers.IntegerField(help_text="all trials of the plan")
    next = serializers.URLField(allow_null=True)


class ComparedSide(serializers.Serializer[object]):
    """One side of a comparison."""

    decision = serializers.IntegerField()
    revision = serializers.IntegerField()
    slot = serializers.CharField()
    trial = serializers.CharField(help_text="empty until the revision is planned")
    topology = serializers.CharField(allow_null=True)
    state = serializers.CharField(allow_null=True)


class Comparison(serializers.Serializer[object]):
    """Two candidates side by side; figures are compared only where `comparable` is true."""

    kind = serializers.ChoiceField(["candidates", "revisions", "decisions"])
    before = ComparedSide()
    after = ComparedSide()
    comparable = serializers.BooleanField(
        allow_null=True, help_text="false where workload, model, precision or hardware differ; null until planned"
    )
    differing = serializers.ListField(child=serializers.CharField(), help_text="the sections that forbid comparing")
    mismatches = serializers.JSONField(help_text="leaves of them, with `of`: contract or run")
    cautions = serializers.JSONField(help_text="leaves of stack, telemetry or prices that differ")
    values = serializers.JSONField(help_text="exact; `change` is (after - before) / |before|")
    outcomes = serializers.JSONField(help_text="limits with another outcome, and who owns them")
    candidates = serializers.JSONField(help_text="trials that differ between two plans")
    moved_ranks = serializers.IntegerField(allow_null=True, help_text="null where maps can not be compared")
    fields_total = serializers.IntegerField()
    changed_fields = serializers.JSONField(
        help_text="of contract and evidence, a page of them; of trials those compared"
    )
    next = serializers.URLField(allow_null=True)


class WhatIfAnswer(serializers.Serializer[object]):
    """The decision before and after all overrides together; never a plan, and nobody can sign it."""

    what_if = serializers.JSONField(help_text="an answer by the schema `what-if`")


class Requirement(serializers.Serializer[object]):
    """What one team owes."""

    team = serializers.CharField()
    quorum = serializers.IntegerField()
    approvals = serializers.IntegerField()
    status = serializers.ChoiceField(REQUIREMENT_STATUSES)
    because = serializers.CharField()
    owed_by = serializers.ListField(child=serializers.CharField())
    since = serializers.DateTimeField(allow_null=True, help_text="when it came to this status")


class Approval(serializers.Serializer[object]):
    """Whether the newest revision is approved now, and why not."""

    approved = serializers.BooleanField()
    because = serializers.CharField()


class SignOffPoint(serializers.Serializer[object]):
    """A condition, which blocks until it is settled, or a follow-up, which never does."""

    id = serializers.IntegerField(help_text="names it when it is settled")
    kind = serializers.ChoiceField([(value, value) for value in PointKind.values])
    text = serializers.CharField()
    settled_by = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)


class SignOff(serializers.Serializer[object]):
    """A sign-off and whether it counts now."""

    id = serializers.IntegerField(help_text="names it when it is taken back, or an objection that is to be lifted")
    revision = serializers.IntegerField()
    team = serializers.CharField()
    person = serializers.CharField()
    meaning = serializers.ChoiceField([(value, value) for value in Meaning.values])
    statement = serializers.CharField()
    rollback = serializers.CharField(allow_blank=True, help_text="a decision, a trial, or none")
    points = SignOffPoint(many=True)
    signed_at = serializers.DateTimeField()
    subject = serializers.CharField()
    scope = serializers.CharField(help_text="digest of what the team owns in the signed revision")
    status = serializers.ChoiceField(["CURRENT", "CARRIED", "STALE", "WITHDRAWN", "VOID"])
    carried_by = serializers.IntegerField(allow_null=True, help_text="seq of the entry that carries it")
    reason = serializers.CharField(allow_blank=True)
    keys = serializers.ListField(child=serializers.CharField())


class Decision(serializers.Serializer[object]):
    """A decision as lists show it."""

    number = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own
    title = serializers.CharField(max_length=TITLE_LENGTH)
    slot = serializers.CharField()
    state = serializers.ChoiceField(DECISION_STATES)
    state_since = serializers.DateTimeField()
    opened_by = serializers.CharField()
    opened_at = serializers.DateTimeField()
    newest = Revision()
    approval = Approval()
    requirements = Requirement(many=True)
    url = serializers.CharField()
    page = serializers.CharField(help_text="for people")


class DecisionPage(serializers.Serializer[object]):
    """Decisions, newest first."""

    decisions = Decision(many=True)
    next = serializers.CharField(allow_null=True)


class Activation(serializers.Serializer[object]):
    """What was put into force last; `incident` is empty unless it is an emergency."""

    revision = serializers.IntegerField()
    kind = serializers.ChoiceField(ACTIVATION_KINDS)
    person = serializers.CharField()
    proposed_by = serializers.CharField(
        allow_blank=True, help_text="the first of two persons, in an emergency or a rollback"
    )
    statement = serializers.CharField()
    trial = serializers.CharField()
    topology = serializers.CharField()
    rank_map_digest = serializers.CharField(help_text="a key of the identity that `check` compares")
    rollback = serializers.CharField(allow_blank=True)
    activated_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)
    incident = serializers.CharField(allow_blank=True)


class Waiver(serializers.Serializer[object]):
    """A gate that is let pass by until `ends_at`; it is not a gate that passed."""

    trial = serializers.CharField()
    gate = serializers.CharField()
    reason = serializers.CharField()
    owner = serializers.CharField(help_text="who proposed it and answers for it")
    countersigned_by = serializers.CharField()
    granted_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class DecisionDetail(Decision):
    """One decision with its sign-offs, what was put into force, and its waivers."""

    state_because = serializers.CharField(allow_blank=True, help_text="what made it so, where that is more than an act")
    activation = Activation(allow_null=True)
    waivers = Waiver(many=True)
    signoffs = SignOff(many=True)


class IdentityDifference(serializers.Serializer[object]):
    """A key of the decided identity that the slot does not show, and the team that owns it."""

    key = serializers.CharField(help_text="JSON pointer below /identity")
    how = serializers.ChoiceField(["differs", "missing", "unknown"])
    expected = serializers.JSONField()
    found = serializers.JSONField(allow_null=True)
    team = serializers.CharField()


class EmergencyInForce(serializers.Serializer[object]):
    """An emergency that is in force in place of a review."""

    incident = serializers.CharField()
    failing_gates = serializers.ListField(child=serializers.CharField())


class SlotCheck(serializers.Serializer[object]):
    """Whether a slot runs what is in force now. ``differences`` come in the order of the contract."""

    slot = serializers.CharField()
    matches = serializers.BooleanField()
    because = serializers.CharField()
    decision = serializers.IntegerField(allow_null=True)
    revision = serializers.IntegerField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    subject = serializers.CharField(allow_null=True)
    topology = serializers.CharField(allow_null=True)
    trial = serializers.CharField(allow_null=True)
    rollback = serializers.CharField(allow_null=True)
    valid_until = serializers.DateTimeField(allow_null=True)
    emergency = EmergencyInForce(allow_null=True)
    differences = IdentityDifference(many=True)
    page = serializers.CharField(allow_null=True, help_text="for people")


class Entry(serializers.Serializer[object]):
    """One entry of the audit log."""

    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    action = serializers.CharField()
    decision = serializers.IntegerField(allow_null=True)
    revision = serializers.IntegerField(allow_null=True)
    who = serializers.CharField()
    team = serializers.CharField(allow_blank=True)
    meaning = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    subject = serializers.CharField(allow_blank=True)
    sha256 = serializers.CharField()
    prev = serializers.CharField()
    payload_sha256 = serializers.CharField(allow_blank=True)
    payload = serializers.JSONField()


class EntryPage(serializers.Serializer[object]):
    """Entries, newest first; ``entries`` counts the whole log."""

    audit = Entry(many=True)
    entries = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
