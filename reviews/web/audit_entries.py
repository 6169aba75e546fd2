"""One entry of the log: its bytes, what they say, where it stands in the chain and in the tree."""

import json
from base64 import b64encode
from typing import Any

import msgspec
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reviews.errors import NotFoundError
from reviews.selectors.checkpoints import Inclusion, inclusion_of
from reviews.selectors.log import EntryRow, audit_entry_bytes, is_last_entry, signoff_entry
from reviews.transparency.proofs import proof_file
from reviews.web.audit_rows import DIGESTS_IN_PAYLOADS, entry_line
from reviews.web.csv_text import attachment
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of


@require_safe
@page
def audit_entry(request: PersonRequest, slug: str, seq: str) -> HttpResponse:
    """Show one entry with the proof that the newest checkpoint covers it."""
    workspace = workspace_of(slug)
    row, raw = audit_entry_bytes(actor=request.user, workspace=workspace, seq=int(seq))
    payload = json.dumps(row.payload, indent=1, ensure_ascii=False) if row.payload is not None else ""
    context = frame(
        slug,
        "audit",
        entry=entry_line(row, slug),
        row=row,
        raw=raw.decode(errors="backslashreplace"),
        size=count(len(raw), "byte"),
        fields=fields_of(raw),
        payload=payload,
        digests=[(name, value) for name, value in digests_in(row.payload) if value != row.subject],
        statement=statement_in(row.payload),
        previous=row.seq - 1 if row.seq else None,
        following=None if is_last_entry(workspace, row.seq) else row.seq + 1,
        inclusion=inclusion_lines(inclusion_of(workspace, row.seq, raw)),
        signoff_href=signoff_href(row, slug),
    )
    return render(request, "reviews/audit_entry.html", context)


@require_safe
@page
def audit_entry_raw(request: PersonRequest, slug: str, seq: str) -> HttpResponse:
    """Return the stored bytes exactly as they are."""
    row, raw = audit_entry_bytes(actor=request.user, workspace=workspace_of(slug), seq=int(seq))
    return attachment(raw, f"{slug}-entry-{row.seq}.json", "application/octet-stream")


@require_safe
@page
def audit_entry_proof(request: PersonRequest, slug: str, seq: str) -> HttpResponse:
    """Return the proof that the newest checkpoint covers an entry, as a file that is checked offline.

    Raises:
        NotFoundError: no checkpoint covers it, or the log is not what it was so that nothing proves it.
    """
    workspace = workspace_of(slug)
    row, raw = audit_entry_bytes(actor=request.user, workspace=workspace, seq=int(seq))
    found = inclusion_of(workspace, row.seq, raw)
    if found is None or not found.holds:
        raise NotFoundError(f"Nothing proves that entry {row.seq} is in the log: {unproven(found)}")
    data = proof_file(found.index, found.proof, found.checkpoint.note)
    return attachment(data, f"{slug}-entry-{row.seq}.tlog-proof", "text/plain; charset=utf-8")


@require_safe
@page
def signoff_permalink(request: PersonRequest, slug: str, signoff: int) -> HttpResponse:
    """Lead from a sign-off to the entry that recorded it."""
    seq = signoff_entry(actor=request.user, workspace=workspace_of(slug), signoff_id=signoff)
    return redirect("audit-entry", slug, seq)


def unproven(found: Inclusion | None) -> str:
    """Say why there is no proof."""
    if found is None:
        return "no checkpoint covers it yet."
    return found.fault or "its bytes are not those that the checkpoint was signed over."


def inclusion_lines(found: Inclusion | None) -> dict[str, Any]:
    """Return what the page says of an entry's place in the tree."""
    if found is None:
        return {"fault": unproven(found).capitalize(), "is_broken": False}
    return {
        "fault": "" if found.holds else unproven(found).capitalize(),
        "is_broken": not found.holds,
        "size": found.checkpoint.size,
        "leaf": found.leaf.hex(),
        "root": b64encode(found.checkpoint.root).decode(),
        "hashes": [one.hex() for one in found.proof],
        "witnesses": [one.name for one in found.checkpoint.cosignatures],
    }


def fields_of(raw: bytes) -> list[tuple[str, str]]:
    """Return what the bytes say, field by field, in their order; nothing where they are no JSON object."""
    try:
        fields = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return []
    if not isinstance(fields, dict):
        return []
    return [(str(name), "null" if value is None else str(value)) for name, value in fields.items()]


def digests_in(payload: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the digests that a payload names and that have a page, by the field that holds them."""
    return [
        (name, value)
        for name, value in (payload or {}).items()
        if isinstance(value, str)
        and value.startswith("sha256:")
        and name.removesuffix("_sha256") in DIGESTS_IN_PAYLOADS
    ]


def statement_in(payload: dict[str, Any] | None) -> str:
    """Return what somebody wrote beside a sign-off, as its payload holds it."""
    statement = (payload or {}).get("statement")
    return statement if isinstance(statement, str) else ""


def signoff_href(row: EntryRow, slug: str) -> str:
    """Return the way from the entry of a sign-off to the sign-off in its decision's history."""
    if not row.action.startswith("signoff.") or not row.decision or not row.revision:
        return ""
    return f"{reverse('decision-history', args=[slug, row.decision])}#r{row.revision}"
