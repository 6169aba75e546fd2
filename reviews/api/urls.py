"""Addresses of the API, below ``/api/v1/``."""

from django.urls import path, re_path

from reviews.api.audit import Audit
from reviews.api.decisions import DecisionDetail, Decisions, Validate
from reviews.api.revisions import ContractFile, EvidenceFile, PlanFile, RevisionDetail, Revisions
from reviews.api.schemas import Absent, Docs, DocumentSchema, OpenApi
from reviews.api.stress import Stress
from reviews.api.what_if import WhatIf

WORKSPACE = "workspaces/<slug:workspace>"
DECISION = f"{WORKSPACE}/decisions/<int:number>"
REVISION = f"{DECISION}/revisions/<int:revision>"

urlpatterns = [
    path(f"{WORKSPACE}/decisions", Decisions.as_view(), name="api-decisions"),
    path(DECISION, DecisionDetail.as_view(), name="api-decision"),
    path(f"{DECISION}/revisions", Revisions.as_view(), name="api-revisions"),
    path(REVISION, RevisionDetail.as_view(), name="api-revision"),
    path(f"{REVISION}/plan", PlanFile.as_view(), name="api-plan"),
    path(f"{REVISION}/contract", ContractFile.as_view(), name="api-contract"),
    path(f"{REVISION}/evidence", EvidenceFile.as_view(), name="api-evidence"),
    path(f"{REVISION}/stress", Stress.as_view(), name="api-stress"),
    path(f"{REVISION}/what-if", WhatIf.as_view(), name="api-what-if"),
    path(f"{WORKSPACE}/validate", Validate.as_view(), name="api-validate"),
    path(f"{WORKSPACE}/audit", Audit.as_view(), name="api-audit"),
    path("schemas/<slug:kind>", DocumentSchema.as_view(), name="api-schema"),
    path("openapi.json", OpenApi.as_view(), name="api-openapi"),
    path("docs", Docs.as_view(), name="api-docs"),
    re_path(r"^.*$", Absent.as_view(), name="api-absent"),
]
