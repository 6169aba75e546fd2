"""Tables: fields, named constraints, orderings. No workflow and no rule about people lives here.

Rows that state what happened (documents, revisions, plans, sign-offs, policies, audit entries) only ever grow; the
database refuses to change or delete them (``reviews.append_only``). What moves is kept apart: the state of a
decision, the state of a plan job, people and their memberships.
"""

from reviews.models.accounts import CacheEntry, Invitation
from reviews.models.activations import (
    Activation,
    ActivationKind,
    Emergency,
    IdentityReport,
    Reproduction,
    Retraction,
    Waiver,
)
from reviews.models.audit import AuditEntry
from reviews.models.checkpoints import Checkpoint, Cosignature, LogTile
from reviews.models.decisions import Decision, DecisionState, PlannedRevision, Revision, Submission
from reviews.models.diagnoses import Diagnosis, DiagnosisFile, DiagnosisFileKind
from reviews.models.documents import Blob, DocumentKind, IntakeReceipt, StoredDocument
from reviews.models.draft_files import Attachment, AttachmentPiece, DraftFile, DraftPiece, FileState
from reviews.models.drafts import Draft
from reviews.models.exports import Export, ExportPiece, ExportState
from reviews.models.footprints import ActivationFootprint, CountedTrial
from reviews.models.host_reports import HostReport, ReportedSlot
from reviews.models.jobs import JobState, Plan, PlanJob
from reviews.models.notices import (
    Delivery,
    DeliveryState,
    LogCursor,
    Notice,
    NoticeMode,
    NoticePreference,
    NoticeReason,
    Webhook,
)
from reviews.models.observations import (
    FindingState,
    ObservationBatch,
    ObservationFeed,
    ObservationFile,
    ObservationFinding,
    ObservationRollUp,
    ObservationSource,
    ObservationSpan,
    RollUpLevel,
)
from reviews.models.people import Membership, Person, Role, Team, TeamSeat, Workspace
from reviews.models.policy import Policy
from reviews.models.preferences import SavedView
from reviews.models.proposals import Countersignature, Proposal, ProposalKind, ProposalLapse, ProposalWithdrawal
from reviews.models.scopes import ReviewBasis, TeamScope
from reviews.models.signoffs import (
    Delegation,
    DelegationEnd,
    ItemOpening,
    Meaning,
    PointKind,
    PointSettlement,
    ReReview,
    SignOff,
    SignOffCarry,
    SignOffPoint,
    SignOffWithdrawal,
)
from reviews.models.threads import (
    AnchorKind,
    Comment,
    CommentDraft,
    Mention,
    Publication,
    Thread,
    ThreadResolution,
)
from reviews.models.tokens import ApiToken
from reviews.models.verifications import Verification, VerificationOutcome

__all__ = [
    "Activation",
    "ActivationFootprint",
    "ActivationKind",
    "AnchorKind",
    "ApiToken",
    "Attachment",
    "AttachmentPiece",
    "AuditEntry",
    "Blob",
    "CacheEntry",
    "Checkpoint",
    "Comment",
    "CommentDraft",
    "Cosignature",
    "CountedTrial",
    "Countersignature",
    "Decision",
    "DecisionState",
    "Delegation",
    "DelegationEnd",
    "Delivery",
    "DeliveryState",
    "Diagnosis",
    "DiagnosisFile",
    "DiagnosisFileKind",
    "DocumentKind",
    "Draft",
    "DraftFile",
    "DraftPiece",
    "Emergency",
    "Export",
    "ExportPiece",
    "ExportState",
    "FileState",
    "FindingState",
    "HostReport",
    "IdentityReport",
    "IntakeReceipt",
    "Invitation",
    "ItemOpening",
    "JobState",
    "LogCursor",
    "LogTile",
    "Meaning",
    "Membership",
    "Mention",
    "Notice",
    "NoticeMode",
    "NoticePreference",
    "NoticeReason",
    "ObservationBatch",
    "ObservationFeed",
    "ObservationFile",
    "ObservationFinding",
    "ObservationRollUp",
    "ObservationSource",
    "ObservationSpan",
    "Person",
    "Plan",
    "PlanJob",
    "PlannedRevision",
    "PointKind",
    "PointSettlement",
    "Policy",
    "Proposal",
    "ProposalKind",
    "ProposalLapse",
    "ProposalWithdrawal",
    "Publication",
    "ReReview",
    "ReportedSlot",
    "Reproduction",
    "Retraction",
    "ReviewBasis",
    "Revision",
    "Role",
    "RollUpLevel",
    "SavedView",
    "SignOff",
    "SignOffCarry",
    "SignOffPoint",
    "SignOffWithdrawal",
    "StoredDocument",
    "Submission",
    "Team",
    "TeamScope",
    "TeamSeat",
    "Thread",
    "ThreadResolution",
    "Verification",
    "VerificationOutcome",
    "Waiver",
    "Webhook",
    "Workspace",
]
