"""The audit log: entries with filters, one entry, its verification, downloads."""

import json
import re

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from reviews.selectors.log import EntryFilter, EntryRow, audit_entry_bytes, audit_rows
from reviews.verification import verify
from reviews.web.audit_rows import entry_line, headline
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none

FILTERS = ("decision", "action", "team", "digest")
ACTIONS = (
    ("", "Any"),
    ("revision.", "Revisions and plans"),
    ("signoff.", "Sign-offs"),
    ("signoff.refused", "Refused sign-offs"),
    ("submission.refused", "Refused submissions"),
    ("roster.", "Roster"),
    ("policy.", "Policy"),
)
NO_DECISION = -1
"""Stands for what is no number of a decision: no entry fits, where the whole log would read as that decision's."""
DOWNLOAD_ENTRIES = 10_000
COLUMNS = (
    "seq",
    "at",
    "action",
    "decision",
    "revision",
    "who",
    "team",
    "meaning",
    "reason",
    "subject",
    "sha256",
    "prev",
)
"""Fields of an entry that a download has, in order."""


def wanted_entries(query: Query) -> EntryFilter:
    """Read the filters of an address; a decision may be written ``D-0012``, a digest without its prefix."""
    asked = query.get("decision").strip()
    number = re.fullmatch(r"(?:[Dd]-)?0*([0-9]{1,9})", asked)
    digest = query.get("digest").strip().lower()
    if digest and not digest.startswith("sha256:"):
        digest = f"sha256:{digest}"
    return EntryFilter(
        decision=int(number.group(1)) if number else NO_DECISION if asked else None,
        action=query.get("action"),
        team=query.get("team").strip(),
        digest=digest,
    )


@never_cache
@require_safe
@page
def audit_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the log, newest first; ``seq`` shows one entry, ``verify`` checks the whole chain now."""
    workspace = workspace_of(slug)
    seq = number_or_none(request.GET.get("seq", ""))
    if seq is not None:
        row, raw = audit_entry_bytes(actor=request.user, workspace=workspace, seq=seq)
        payload = json.dumps(row.payload, indent=1, ensure_ascii=False) if row.payload is not None else ""
        context = frame(
            slug,
            "audit",
            entry=entry_line(row, slug),
            row=row,
            raw=raw.decode(errors="backslashreplace"),
            payload=payload,
        )
        return render(request, "reviews/audit_entry.html", context)
    query = Query.of(request.GET.dict(), keep=(*FILTERS, "before"))
    before = number_or_none(query.get("before"))
    found = audit_rows(actor=request.user, workspace=workspace, wanted=wanted_entries(query), older_than=before)
    own = reverse("audit-list", args=[slug])
    context = frame(
        slug,
        "audit",
        entries=[entry_line(row, slug) for row in found.rows],
        total=count(found.entries, "entry", "entries"),
        headline=headline(verify(workspace)) if "verify" in request.GET else None,
        actions=[(value, text, value == query.get("action")) for value, text in ACTIONS],
        filters={name: query.get(name) for name in FILTERS},
        is_filtered=any(query.get(name) for name in FILTERS),
        older_href=query.link(before=found.older_than) if found.older_than is not None else "",
        newest_href=query.link(before=None) if before is not None else "",
        csv_href=f"{own}entries.csv{query.link()}",
        json_href=f"{own}entries.json{query.link()}",
    )
    return render(request, "reviews/audit_list.html", context)


def entry_values(row: EntryRow) -> list[Value]:
    """Return an entry's fields in the order of ``COLUMNS``."""
    values: list[Value] = [getattr(row, name) for name in COLUMNS]
    values[1] = row.at.isoformat()
    return values


@require_safe
@page
def audit_download(request: PersonRequest, slug: str, suffix: str) -> HttpResponse:
    """Return the newest entries that fit the filters, as CSV or JSON, in order of seq from the newest."""
    query = Query.of(request.GET.dict(), keep=FILTERS)
    found = audit_rows(
        actor=request.user,
        workspace=workspace_of(slug),
        wanted=wanted_entries(query),
        page_size=DOWNLOAD_ENTRIES,
    )
    rows: list[list[Value]] = [entry_values(row) for row in found.rows]
    name = f"{slug}-audit.{suffix}"
    if suffix == "csv":
        return csv_response(name, COLUMNS, rows)
    tree = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")
