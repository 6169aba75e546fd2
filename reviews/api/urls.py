"""Addresses of the API, below ``/api/v1/``."""

from django.urls import path, re_path

from reviews.api.acts import (
    Activation,
    Closing,
    DelegationEnd,
    Delegations,
    Rejection,
    Reproductions,
    ReReviews,
    Retractions,
    Withdrawal,
)
from reviews.api.attachments import AttachmentFile, EvidenceDocument
from reviews.api.audit import Audit, AuditEntryDetail, AuditEntryProof, AuditEntryRaw
from reviews.api.benchmark import Benchmark
from reviews.api.checkpoints import (
    CheckpointDetail,
    Checkpoints,
    Consistency,
    LogCheckpoint,
    LogUpdate,
    LogWitnesses,
)
from reviews.api.comparison import Compare
from reviews.api.contract_drafts import (
    ContractDraftChanges,
    ContractDraftDetail,
    ContractDraftDocument,
    ContractDraftFiles,
    ContractDrafts,
)
from reviews.api.decision_batches import DecisionBatch, DecisionBatches
from reviews.api.decision_observations import DecisionFindings, DecisionObservations
from reviews.api.decisions import DecisionDetail, Decisions, Validate
from reviews.api.diagnoses import Diagnoses, DiagnosisFile, DiagnosisOne
from reviews.api.drafts import (
    EvidenceDraftChanges,
    EvidenceDraftDetail,
    EvidenceDraftFile,
    EvidenceDraftFiles,
    EvidenceDraftMade,
    EvidenceDrafts,
)
from reviews.api.exports import ExportBundle, ExportDetail, Exports
from reviews.api.identity import IdentityReports
from reviews.api.launch import Launch, LaunchFile
from reviews.api.metrics import Metrics
from reviews.api.observations import Observations
from reviews.api.proposals import (
    DecisionProposals,
    PolicyView,
    ProposalConfirmation,
    ProposalDecline,
    ProposalDetail,
    ProposalWithdrawal,
    WorkspaceProposals,
)
from reviews.api.requalification import Requalification
from reviews.api.revisions import ContractFile, EvidenceFile, PlanFile, RevisionDetail, Revisions
from reviews.api.schemas import Absent, Docs, DocumentSchema, OpenApi
from reviews.api.signoffs import PointSettlements, SignOffs, SignOffWithdrawals
from reviews.api.slot_evidence import SharedEvidence, SlotEnds
from reviews.api.slot_list import SlotDetail, Slots
from reviews.api.slots import Check
from reviews.api.stress import Stress
from reviews.api.threads import ThreadResolution, Threads
from reviews.api.validity import DecisionRecord, DecisionValidity, SlotValidity
from reviews.api.verifications import VerificationDetail, Verifications
from reviews.api.what_if import WhatIf

WORKSPACE = "workspaces/<slug:workspace>"
DECISION = f"{WORKSPACE}/decisions/<int:number>"
CONTRACT_DRAFT = f"{WORKSPACE}/contract-drafts/<int:number>"
DRAFT = f"{WORKSPACE}/evidence-drafts/<int:number>"
PROPOSAL = f"{WORKSPACE}/proposals/<int:proposal>"
LOG = "logs/<path:origin>"
REVISION = f"{DECISION}/revisions/<int:revision>"

urlpatterns = [
    path(f"{WORKSPACE}/decisions", Decisions.as_view(), name="api-decisions"),
    path(DECISION, DecisionDetail.as_view(), name="api-decision"),
    path(f"{DECISION}/revisions", Revisions.as_view(), name="api-revisions"),
    path(f"{DECISION}/threads", Threads.as_view(), name="api-threads"),
    path(f"{DECISION}/threads/<int:thread>/resolution", ThreadResolution.as_view(), name="api-thread-resolution"),
    path(f"{DECISION}/proposals", DecisionProposals.as_view(), name="api-decision-proposals"),
    path(f"{DECISION}/signoffs", SignOffs.as_view(), name="api-signoffs"),
    path(f"{WORKSPACE}/signoffs/<int:signoff>/withdrawal", SignOffWithdrawals.as_view(), name="api-signoff-withdrawal"),
    path(f"{WORKSPACE}/points/<int:point>/settlement", PointSettlements.as_view(), name="api-point-settlement"),
    path(f"{DECISION}/activation", Activation.as_view(), name="api-activation"),
    path(f"{DECISION}/withdrawal", Withdrawal.as_view(), name="api-withdrawal"),
    path(f"{DECISION}/rejection", Rejection.as_view(), name="api-rejection"),
    path(f"{DECISION}/closing", Closing.as_view(), name="api-closing"),
    path(f"{DECISION}/re-reviews", ReReviews.as_view(), name="api-re-reviews"),
    path(f"{DECISION}/requalification", Requalification.as_view(), name="api-requalification"),
    path(f"{DECISION}/launch", Launch.as_view(), name="api-launch"),
    path(f"{DECISION}/launch/files/<str:name>", LaunchFile.as_view(), name="api-launch-file"),
    path(f"{DECISION}/observations", DecisionObservations.as_view(), name="api-decision-observations"),
    path(f"{DECISION}/observations/batches", DecisionBatches.as_view(), name="api-decision-batches"),
    path(f"{DECISION}/observations/batches/<str:sha256>", DecisionBatch.as_view(), name="api-decision-batch"),
    path(f"{DECISION}/findings", DecisionFindings.as_view(), name="api-decision-findings"),
    path(f"{DECISION}/diagnoses", Diagnoses.as_view(), name="api-diagnoses"),
    path(f"{DECISION}/diagnoses/<int:diagnosis>", DiagnosisOne.as_view(), name="api-diagnosis"),
    path(f"{DECISION}/diagnoses/<int:diagnosis>/files/<int:file>", DiagnosisFile.as_view(), name="api-diagnosis-file"),
    path(REVISION, RevisionDetail.as_view(), name="api-revision"),
    path(f"{REVISION}/plan", PlanFile.as_view(), name="api-plan"),
    path(f"{REVISION}/contract", ContractFile.as_view(), name="api-contract"),
    path(f"{REVISION}/evidence", EvidenceFile.as_view(), name="api-evidence"),
    path(f"{REVISION}/stress", Stress.as_view(), name="api-stress"),
    path(f"{REVISION}/benchmark", Benchmark.as_view(), name="api-benchmark"),
    path(f"{REVISION}/compare", Compare.as_view(), name="api-compare"),
    path(f"{REVISION}/what-if", WhatIf.as_view(), name="api-what-if"),
    path(f"{REVISION}/reproductions", Reproductions.as_view(), name="api-reproductions"),
    path(f"{WORKSPACE}/policy", PolicyView.as_view(), name="api-policy"),
    path(f"{WORKSPACE}/proposals", WorkspaceProposals.as_view(), name="api-proposals"),
    path(PROPOSAL, ProposalDetail.as_view(), name="api-proposal"),
    path(f"{PROPOSAL}/confirmation", ProposalConfirmation.as_view(), name="api-proposal-confirmation"),
    path(f"{PROPOSAL}/decline", ProposalDecline.as_view(), name="api-proposal-decline"),
    path(f"{PROPOSAL}/withdrawal", ProposalWithdrawal.as_view(), name="api-proposal-withdrawal"),
    path(f"{WORKSPACE}/delegations", Delegations.as_view(), name="api-delegations"),
    path(f"{WORKSPACE}/delegations/<int:delegation>/end", DelegationEnd.as_view(), name="api-delegation-end"),
    path(f"{WORKSPACE}/retractions", Retractions.as_view(), name="api-retractions"),
    path(f"{WORKSPACE}/slots", Slots.as_view(), name="api-slots"),
    path(f"{WORKSPACE}/slots/one", SlotDetail.as_view(), name="api-slot"),
    path(f"{WORKSPACE}/slots/ends", SlotEnds.as_view(), name="api-slot-ends"),
    path(f"{WORKSPACE}/slots/shared-evidence", SharedEvidence.as_view(), name="api-shared-evidence"),
    path(f"{WORKSPACE}/check", Check.as_view(), name="api-check"),
    path(f"{WORKSPACE}/metrics", Metrics.as_view(), name="api-metrics"),
    path(f"{WORKSPACE}/validity", SlotValidity.as_view(), name="api-slot-validity"),
    path(f"{DECISION}/record", DecisionRecord.as_view(), name="api-decision-record"),
    path(f"{DECISION}/validity", DecisionValidity.as_view(), name="api-decision-validity"),
    path(f"{WORKSPACE}/identity-reports", IdentityReports.as_view(), name="api-identity-reports"),
    path(f"{WORKSPACE}/observations", Observations.as_view(), name="api-observations"),
    path(f"{WORKSPACE}/validate", Validate.as_view(), name="api-validate"),
    path(f"{WORKSPACE}/audit", Audit.as_view(), name="api-audit"),
    path(f"{WORKSPACE}/audit/<int:seq>", AuditEntryDetail.as_view(), name="api-audit-entry"),
    path(f"{WORKSPACE}/audit/<int:seq>/raw", AuditEntryRaw.as_view(), name="api-audit-entry-raw"),
    path(f"{WORKSPACE}/audit/<int:seq>/proof", AuditEntryProof.as_view(), name="api-audit-entry-proof"),
    path(f"{WORKSPACE}/checkpoints", Checkpoints.as_view(), name="api-checkpoints"),
    path(f"{WORKSPACE}/checkpoints/<int:size>", CheckpointDetail.as_view(), name="api-checkpoint"),
    path(f"{WORKSPACE}/consistency", Consistency.as_view(), name="api-consistency"),
    path(f"{WORKSPACE}/verifications", Verifications.as_view(), name="api-verifications"),
    path(f"{WORKSPACE}/verifications/<int:verification>", VerificationDetail.as_view(), name="api-verification"),
    path(f"{LOG}/checkpoint", LogCheckpoint.as_view(), name="api-log-checkpoint"),
    path(f"{LOG}/update", LogUpdate.as_view(), name="api-log-update"),
    path(f"{LOG}/checkpoints/<int:size>/witnesses", LogWitnesses.as_view(), name="api-log-witnesses"),
    path(f"{WORKSPACE}/contract-drafts", ContractDrafts.as_view(), name="api-contract-drafts"),
    path(CONTRACT_DRAFT, ContractDraftDetail.as_view(), name="api-contract-draft"),
    path(f"{CONTRACT_DRAFT}/changes", ContractDraftChanges.as_view(), name="api-contract-draft-changes"),
    path(f"{CONTRACT_DRAFT}/files", ContractDraftFiles.as_view(), name="api-contract-draft-files"),
    path(f"{CONTRACT_DRAFT}/document", ContractDraftDocument.as_view(), name="api-contract-draft-document"),
    path(f"{WORKSPACE}/evidence-drafts", EvidenceDrafts.as_view(), name="api-evidence-drafts"),
    path(DRAFT, EvidenceDraftDetail.as_view(), name="api-evidence-draft"),
    path(f"{DRAFT}/files", EvidenceDraftFiles.as_view(), name="api-evidence-draft-files"),
    path(f"{DRAFT}/files/<str:sha256>", EvidenceDraftFile.as_view(), name="api-evidence-draft-file"),
    path(f"{DRAFT}/changes", EvidenceDraftChanges.as_view(), name="api-evidence-draft-changes"),
    path(f"{DRAFT}/evidence", EvidenceDraftMade.as_view(), name="api-evidence-draft-evidence"),
    path(f"{WORKSPACE}/evidence/<str:sha256>", EvidenceDocument.as_view(), name="api-evidence-document"),
    path(f"{WORKSPACE}/attachments/<str:sha256>", AttachmentFile.as_view(), name="api-attachment"),
    path(f"{WORKSPACE}/exports", Exports.as_view(), name="api-exports"),
    path(f"{WORKSPACE}/exports/<int:export>", ExportDetail.as_view(), name="api-export"),
    path(f"{WORKSPACE}/exports/<int:export>/bundle", ExportBundle.as_view(), name="api-export-bundle"),
    path("schemas/<slug:kind>", DocumentSchema.as_view(), name="api-schema"),
    path("openapi.json", OpenApi.as_view(), name="api-openapi"),
    path("docs", Docs.as_view(), name="api-docs"),
    re_path(r"^.*$", Absent.as_view(), name="api-absent"),
]
