"""Addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from reviews.web import (
    builder,
    builder_begin,
    communication,
    contract_builder,
    decisions,
    digests,
    document_page,
    downloads,
    evidence,
    history,
    inbox,
    log,
    maps,
    memory,
    people,
    stress,
    submissions,
    tokens,
    what_if,
    withdrawals,
)

DIGEST = r"(?P<digest>sha256:[0-9a-f]{64})"
WORKSPACE = r"^w/(?P<slug>[a-z0-9-]+)"

urlpatterns = [
    path("", inbox.home, name="home"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("theme", people.theme, name="theme"),
    path("w/<slug:slug>/", inbox.decision_list, name="decision-list"),
    path("w/<slug:slug>/decisions/new", submissions.decision_new, name="decision-new"),
    path("w/<slug:slug>/contracts/", contract_builder.contract_builder, name="contract-builder"),
    path(
        "w/<slug:slug>/contracts/<int:draft_id>/contract.json",
        contract_builder.contract_draft_json,
        name="contract-draft-json",
    ),
    path("w/<slug:slug>/contracts/<int:draft_id>/<slug:step>/", contract_builder.contract_draft, name="contract-draft"),
    path("w/<slug:slug>/evidence/drafts/", builder_begin.builder_list, name="builder-list"),
    path("w/<slug:slug>/evidence/drafts/<int:draft>/", builder.builder_files, name="builder-files"),
    path("w/<slug:slug>/evidence/drafts/<int:draft>/trials/", builder.builder_trials, name="builder-trials"),
    path("w/<slug:slug>/evidence/drafts/<int:draft>/questions/", builder.builder_questions, name="builder-questions"),
    path("w/<slug:slug>/evidence/drafts/<int:draft>/coverage/", builder.builder_coverage, name="builder-coverage"),
    re_path(
        rf"{WORKSPACE}/evidence/drafts/(?P<draft>\d{{1,18}})/files/(?P<file>[0-9a-f]{{16}})/$",
        builder.builder_values,
        name="builder-values",
    ),
    path("w/<slug:slug>/evidence/drafts/<int:draft>/make", builder.builder_make, name="builder-make"),
    path("w/<slug:slug>/evidence/drafts/<int:draft>/delete", builder.builder_delete, name="builder-delete"),
    re_path(rf"{WORKSPACE}/evidence/{DIGEST}/$", evidence.evidence_detail, name="evidence-detail"),
    re_path(rf"{WORKSPACE}/attachments/{DIGEST}/$", evidence.attachment_detail, name="attachment"),
    re_path(rf"{WORKSPACE}/attachments/{DIGEST}/raw$", evidence.attachment_raw, name="attachment-raw"),
    path("w/<slug:slug>/decisions/<int:number>/", decisions.decision_detail, name="decision-detail"),
    path("w/<slug:slug>/decisions/<int:number>/sign", decisions.decision_sign, name="decision-sign"),
    path(
        "w/<slug:slug>/decisions/<int:number>/signoffs/<int:signoff>/withdraw",
        withdrawals.signoff_withdrawal,
        name="signoff-withdraw",
    ),
    path("w/<slug:slug>/decisions/<int:number>/plan.json", downloads.plan_json, name="plan-json"),
    path("w/<slug:slug>/decisions/<int:number>/matrix.csv", downloads.matrix_csv, name="matrix-csv"),
    path("w/<slug:slug>/decisions/<int:number>/stress/", stress.decision_stress, name="decision-stress"),
    path("w/<slug:slug>/decisions/<int:number>/what-if/", what_if.decision_what_if, name="decision-what-if"),
    path("w/<slug:slug>/decisions/<int:number>/map/", maps.decision_map, name="decision-map"),
    re_path(
        rf"{WORKSPACE}/decisions/(?P<number>\d{{1,9}})/map/ranks\.(?P<suffix>csv|json)$",
        maps.ranks_download,
        name="ranks-download",
    ),
    re_path(
        rf"{WORKSPACE}/decisions/(?P<number>\d{{1,9}})/map/groups\.(?P<suffix>csv|json)$",
        maps.groups_download,
        name="groups-download",
    ),
    path("w/<slug:slug>/decisions/<int:number>/map/notes", maps.map_notes_count, name="map-notes"),
    path("w/<slug:slug>/decisions/<int:number>/map/compare/", maps.decision_map_compare, name="map-compare"),
    path("w/<slug:slug>/decisions/<int:number>/map/compare/moved.csv", maps.moved_download, name="moved-download"),
    path("w/<slug:slug>/decisions/<int:number>/memory/", memory.decision_memory, name="decision-memory"),
    re_path(
        rf"{WORKSPACE}/decisions/(?P<number>\d{{1,9}})/memory/ranks\.(?P<suffix>csv|json)$",
        memory.memory_download,
        name="memory-download",
    ),
    path(
        "w/<slug:slug>/decisions/<int:number>/communication/",
        communication.decision_communication,
        name="decision-communication",
    ),
    re_path(
        rf"{WORKSPACE}/decisions/(?P<number>\d{{1,9}})/communication/(?P<table>steps|boundaries|links)\.(?P<suffix>csv|json)$",
        communication.communication_download,
        name="communication-download",
    ),
    re_path(
        rf"{WORKSPACE}/decisions/(?P<number>\d{{1,9}})/documents/(?P<kind>contract|evidence)/$",
        document_page.document,
        name="document",
    ),
    path("w/<slug:slug>/decisions/<int:number>/history/", history.decision_history, name="decision-history"),
    path("w/<slug:slug>/audit/", log.audit_list, name="audit-list"),
    re_path(rf"{WORKSPACE}/audit/entries\.(?P<suffix>csv|json)$", log.audit_download, name="audit-download"),
    re_path(rf"{WORKSPACE}/digests/{DIGEST}/$", digests.digest_detail, name="digest-detail"),
    re_path(rf"{WORKSPACE}/digests/{DIGEST}/raw$", digests.digest_raw, name="digest-raw"),
    path("w/<slug:slug>/settings/tokens", tokens.token_list, name="token-list"),
    path("w/<slug:slug>/settings/tokens/<int:token_id>/revoke", tokens.token_revoked, name="token-revoke"),
]
