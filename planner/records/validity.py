"""What a decision says of its slot now, for other tools (``topogate.validity/v1``).

A validity is of one moment: ``as_of``. It names digests and no people, and holds no selection of its own: what is in
force was put into force by an act of the log.
"""

from typing import Annotated, Literal

from msgspec import Meta

from planner.records.base import Count, Digest, PositiveCount, Record

__all__ = [
    "Difference",
    "DocumentDigests",
    "EmergencyInForce",
    "IdentityReported",
    "InForce",
    "Observed",
    "Signed",
    "ValidDecision",
    "Validity",
    "WaivedGate",
]

Moment = Annotated[
    str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z(?![\s\S])", title="UTC time, microseconds")
]
State = Literal[
    "DRAFT",
    "EVALUATING",
    "EVALUATION_FAILED",
    "IN_REVIEW",
    "EFFECTIVE",
    "STALE",
    "EXPIRED",
    "CONTESTED",
    "EMERGENCY",
    "WITHDRAWN",
    "REJECTED",
    "SUPERSEDED",
    "REVOKED",
    "CLOSED",
]


class DocumentDigests(Record, frozen=True, kw_only=True):
    """A document: what it says (``content_id``), and the bytes that were sent (``file_sha256``)."""

    content_id: Digest
    file_sha256: Digest


class EmergencyInForce(Record, frozen=True, kw_only=True):
    """What an emergency went past, and which incident it answers."""

    incident: str
    failing_gates: tuple[str, ...]


class InForce(Record, frozen=True, kw_only=True):
    """What was put into force last. ``valid_until`` is null where nothing limits it; ``rollback`` may be empty."""

    kind: Literal["review", "emergency", "rollback"]
    trial: str
    topology: str
    rank_map_digest: Digest
    rollback: str
    valid_from: Moment
    valid_until: Moment | None
    emergency: EmergencyInForce | None


class WaivedGate(Record, frozen=True, kw_only=True):
    """A gate that one trial is let pass by; ``holds`` until ``ends_at``."""

    trial: str
    gate: str
    granted_at: Moment
    ends_at: Moment
    holds: bool


class Signed(Record, frozen=True, kw_only=True):
    """A sign-off that counted when it was put into force; ``seq`` is its entry of the log, null where none is found."""

    team: str
    meaning: str
    revision: PositiveCount
    status: str
    seq: Count | None


class Difference(Record, frozen=True, kw_only=True):
    """A key below ``/identity`` that a machine did not show as decided, and the team that owns it."""

    key: str
    how: Literal["differs", "missing", "unknown"]
    team: str


class IdentityReported(Record, frozen=True, kw_only=True):
    """What hosts of the slot report of themselves, since the decision was put into force.

    ``hosts`` counts those whose last report counts now, ``hosts_differing`` those of them that are not as decided;
    ``matches`` is null where none counts, and does not say that every host was reported: a check says that.
    ``differences`` are keys that reports showed otherwise since then, at most 50.
    """

    matches: bool | None
    hosts: Count
    hosts_differing: Count
    last_report_at: Moment | None
    differences: tuple[Difference, ...]


class Observed(Record, frozen=True, kw_only=True):
    """How many observed values are out of the qualified envelope now; ``last_batch_at`` is null before the first."""

    breaches: Count
    drifts: Count
    last_batch_at: Moment | None


class ValidDecision(Record, frozen=True, kw_only=True):
    """A decision. ``revision`` is the one that was put into force last, the newest where none ever was.

    ``subject`` and ``plan`` are null until the revision is planned; ``plan`` is the plan's id.
    """

    number: PositiveCount
    label: str
    state: State
    state_since: Moment
    revision: PositiveCount
    newest_revision: PositiveCount
    subject: Digest | None
    contract: DocumentDigests
    evidence: DocumentDigests
    identity: Digest
    plan: Digest | None
    policy: Digest
    policy_version: PositiveCount
    planner_version: str
    in_force: InForce | None
    waivers: tuple[WaivedGate, ...]
    signoffs: tuple[Signed, ...]


class Validity(Record, frozen=True, kw_only=True):
    """Whether a decision holds in its slot as of a moment, and why. Only ``holds`` true lets anything run.

    ``links`` are addresses of the server, by name.
    """

    schema: Literal["topogate.validity/v1"]
    as_of: Moment
    workspace: str
    slot: str
    holds: bool
    because: str
    decision: ValidDecision
    identity: IdentityReported
    observations: Observed
    links: dict[str, str]
