"""Tables: fields, named constraints, orderings. No workflow and no rule about people lives here.

Rows that state what happened (documents, revisions, plans, sign-offs, policies, audit entries) only ever grow; the
database refuses to change or delete them (``reviews.append_only``). What moves is kept apart: the state of a
decision, the state of a plan job, people and their memberships.
"""

from reviews.models.audit import AuditEntry
from reviews.models.decisions import Decision, DecisionState, PlannedRevision, Revision, Submission
from reviews.models.documents import Blob, DocumentKind, IntakeReceipt, StoredDocument
from reviews.models.drafts import Draft
from reviews.models.jobs import JobState, Plan, PlanJob
from reviews.models.people import Membership, Person, Role, Team, TeamSeat, Workspace
from reviews.models.policy import Policy
from reviews.models.signoffs import Meaning, SignOff, SignOffWithdrawal
from reviews.models.tokens import ApiToken

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Blob",
    "Decision",
    "DecisionState",
    "DocumentKind",
    "Draft",
    "IntakeReceipt",
    "JobState",
    "Meaning",
    "Membership",
    "Person",
    "Plan",
    "PlanJob",
    "PlannedRevision",
    "Policy",
    "Revision",
    "Role",
    "SignOff",
    "SignOffWithdrawal",
    "StoredDocument",
    "Submission",
    "Team",
    "TeamSeat",
    "Workspace",
]
