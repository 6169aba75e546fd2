"""Frozen rows that pages and API are made of. Times are UTC; digests are whole, shortening is for the page."""

from dataclasses import dataclass
from datetime import datetime

from planner.records.plan import Plan as PlanRecord
from reviews.asked_once import once
from reviews.planning import decode_plan
from reviews.policies.permissions import Verdict
from reviews.policies.requirements import Approval, Requirement
from reviews.policies.signoff_status import JudgedSignOff


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """How a planner run stands; ``state`` is a ``JobState`` value."""

    state: str
    candidates_done: int
    candidates_total: int
    attempts: int
    error_code: str
    error_detail: str

    @property
    def is_open(self) -> bool:
        """Whether a result is still to come."""
        return self.state in ("queued", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """What lists show of a plan."""

    plan_id: str
    decision_word: str
    selected_trial: str
    selected_topology: str
    eligible: int
    rejected: int
    inconclusive: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """A revision with every digest it is bound to; ``plan`` and ``subject`` are None until it is planned."""

    id: int
    number: int
    author: str
    made_at: datetime
    as_of: str
    contract: str
    contract_file_sha256: str
    evidence: str
    evidence_file_sha256: str
    identity: str
    policy: str
    policy_version: int
    planner_version: str
    plan: PlanRow | None
    subject: str | None
    planned_at: datetime | None
    job: JobRow


@dataclass(frozen=True, slots=True)
class Objection:
    """What a reviewer who requests changes or rejects wrote; ``meaning`` is a ``Meaning`` value."""

    team: str
    person: str
    meaning: str
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRow:
    """A condition or follow-up (``PointKind``) of a sign-off; ``settled_by``, ``note`` are empty while it is open."""

    id: int
    kind: str
    text: str
    settled_by: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffRow:
    """A sign-off with its status now. ``displayed`` is the JSON of the digests that the signer was shown.

    ``carried_by`` is the seq of the entry that carries it to the newest revision, None where none does.
    """

    id: int
    revision: int
    team: str
    person: str
    is_mine: bool
    meaning: str
    statement: str
    signed_at: datetime
    subject: str
    scope: str
    displayed: str
    rollback: str
    points: tuple[PointRow, ...]
    carried_by: int | None
    withdrawn_reason: str | None
    withdrawn_at: datetime | None
    judged: JudgedSignOff

    @property
    def status(self) -> str:
        """CURRENT, CARRIED, STALE, WITHDRAWN or VOID."""
        return self.judged.status


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatChoice:
    """A team that the reader could sign for, and whether they may."""

    team: str
    title: str
    verdict: Verdict


NOTHING_ASKED = Approval(approved=False, because="Nothing is asked for.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """A decision in a list; requirements and what follows stay empty where nothing was judged.

    ``my_teams``: teams for which the reader owes a sign-off now.

    ``objections`` are for the author to answer, or contest what is in force; ``is_my_answer`` where the next revision
    is the reader's to make. ``releasing``: teams whose members could put it into force now. ``until``: when it ends by
    itself.
    """

    number: int
    label: str
    title: str
    slot: str
    state: str
    state_label: str
    state_since: datetime
    state_because: str
    until: datetime | None
    opened_by: str
    opened_at: datetime
    newest: RevisionRow
    requirements: tuple[Requirement, ...] = ()
    approval: Approval = NOTHING_ASKED
    releasing: tuple[str, ...] = ()
    my_teams: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()
    is_my_answer: bool = False

    @property
    def satisfied(self) -> int:
        """How many requirements are satisfied."""
        return sum(requirement.status == "SATISFIED" for requirement in self.requirements)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionList:
    """One page of decisions, newest first. ``older_than`` is the number to ask for the next page with, or None."""

    rows: tuple[DecisionRow, ...]
    older_than: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationRow:
    """What was put into force last; ``incident`` is empty unless it is an emergency.

    ``proposed_by`` is the first person of an emergency or a rollback, whom ``person`` countersigned; empty elsewhere.
    """

    revision: int
    kind: str
    person: str
    proposed_by: str
    statement: str
    trial: str
    topology: str
    rank_map_digest: str
    rollback: str
    activated_at: datetime
    valid_until: datetime | None
    incident: str

    @property
    def persons(self) -> str:
        """Everybody who put it into force."""
        return f"{self.proposed_by} and {self.person}" if self.proposed_by else self.person


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverRow:
    """A gate that is let pass by until ``ends_at``: who asked for that and answers for it, and who countersigned."""

    trial: str
    gate: str
    reason: str
    owner: str
    countersigned_by: str
    granted_at: datetime
    ends_at: datetime

    @property
    def persons(self) -> str:
        """Both who granted it."""
        return f"{self.owner} and {self.countersigned_by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPage:
    """Everything the page of one decision shows for one of its revisions.

    Requirements, approval and sign-off statuses always speak of the newest revision. ``moved`` names the parts that
    differ between the shown revision and the newest one. ``is_author``: the reader made a revision of this decision.
    ``is_agreed``: every team agrees on the outcome, whatever it is. ``state`` is as of now, ``state_because`` what made
    it so where that is more than an act.
    """

    workspace: str
    number: int
    label: str
    title: str
    slot: str
    state: str
    state_label: str
    state_since: datetime
    state_because: str
    opened_by: str
    opened_at: datetime
    activation: ActivationRow | None
    waivers: tuple[WaiverRow, ...]
    shown: RevisionRow
    newest: RevisionRow
    revisions: tuple[RevisionRow, ...]
    moved: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    approval: Approval
    signoffs: tuple[SignOffRow, ...]
    seats: tuple[SeatChoice, ...]
    objections: tuple[Objection, ...]
    is_author: bool
    role: str
    may_submit: Verdict
    may_release: Verdict
    may_reproduce: Verdict
    is_agreed: bool
    plan_bytes: bytes | None

    @property
    def is_newest(self) -> bool:
        """Whether the shown revision is the newest one."""
        return self.shown.number == self.newest.number

    def plan(self) -> PlanRecord | None:
        """Decode the shown revision's plan; it is not decoded before somebody asks, and once all through a read."""
        return _decoded(self.plan_bytes) if self.plan_bytes is not None else None


@once
def _decoded(raw: bytes) -> PlanRecord:
    return decode_plan(raw)
