"""Drafts of evidence as the API's values, with links. Pure but for reversing addresses and asking the time."""

from typing import Any

import msgspec

from planner import builder
from planner.times import time_text
from reviews.api.errors import finding_json
from reviews.api.rows import Links
from reviews.clock import database_now
from reviews.selectors.attachments import EvidenceRow
from reviews.selectors.drafts import DraftRow
from reviews.selectors.evidence_drafts import EvidenceDraft, FileRow
from reviews.services.draft_files import Outcome


def draft_row_value(row: DraftRow, links: Links) -> dict[str, Any]:
    """Return a draft in short."""
    return {
        "id": row.id,
        "name": row.name,
        "slot": row.slot,
        "version": row.version,
        "changed_at": row.changed_at,
        "expires_at": row.expires_at,
        "url": links.to("api-evidence-draft", row.id),
        "page": links.to("builder-files", row.id),
    }


def state_value(found: EvidenceDraft, links: Links) -> dict[str, Any]:
    """Return a draft with everything that it holds and lacks."""
    draft, row = found.work.draft, found.draft
    state = builder.state_of(draft, found.work.contract, time_text(database_now()))
    return {
        "id": row.pk,
        "name": row.name,
        "slot": row.slot,
        "version": row.version,
        "changed_at": row.changed_at,
        "expires_at": row.expires_at,
        "url": links.to("api-evidence-draft", row.pk),
        "page": links.to("builder-files", row.pk),
        "contract": found.work.contract.content_id,
        "files": [file_value(file) for file in found.files],
        "draft": msgspec.to_builtins(msgspec.structs.replace(draft, files={})),
        "state": msgspec.to_builtins(state),
    }


def file_value(file: FileRow) -> dict[str, Any]:
    """Return a file of a draft with what was read of it."""
    return {
        "name": file.name,
        "sha256": file.sha256,
        "bytes": file.size_bytes,
        "uploaded_sha256": file.uploaded_sha256,
        "removed": file.removed,
        "state": file.state,
        "bytes_read": file.bytes_done,
        "reading": None if file.reading is None else msgspec.to_builtins(file.reading),
    }


def outcome_value(outcome: Outcome) -> dict[str, Any]:
    """Return what became of a file."""
    return {
        "name": outcome.name,
        "outcome": outcome.verdict,
        "sha256": outcome.sha256,
        "problems": [finding_json(problem) for problem in outcome.problems],
    }


def made_value(found: EvidenceRow, links: Links, page: str) -> dict[str, Any]:
    """Return a document that was made."""
    return {
        "content_id": found.content_id,
        "file_sha256": found.file_sha256,
        "contract_file_sha256": found.contract_sha256,
        "url": links.to("api-evidence-document", found.file_sha256),
        "page": page,
        "attachments": [row.sha256 for row in found.attachments],
    }
