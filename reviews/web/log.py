"""The audit log: entries with filters, downloads. One entry has a page of its own (``audit_entries``)."""

import json
import re
from collections.abc import Callable
from datetime import date

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from planner.decision_numbers import decision_number
from planner.times import parsed_day
from reviews.clock import utc_text
from reviews.errors import Finding, InvalidRequestError
from reviews.selectors.checkpoints import newest_key
from reviews.selectors.log import EntryRow, audit_rows
from reviews.selectors.log_filters import EntryFilter
from reviews.selectors.verifications import last_verification
from reviews.web.audit_rows import ACTIONS, entry_line
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.verification_rows import headline_of

FILTERS = ("decision", "revision", "action", "actor", "team", "digest", "since", "until", "text")
NO_NUMBER = -1
REVISION = re.compile(r"[Rr]?0*([1-9][0-9]{0,8})")
"""Stands for what is no number of a decision or revision: no entry fits, where all entries would read as those."""
TEXT_LENGTH = 200
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
    """Read the filters of an address; ``D-0012``, ``r2`` and digests without their prefix are read too.

    Raises:
        InvalidRequestError: a day that is none, or a text that is too long.
    """
    digest = query.get("digest").strip().lower()
    if digest and not digest.startswith("sha256:"):
        digest = f"sha256:{digest}"
    problems: list[Finding] = []
    for name in FILTERS:
        if len(query.get(name)) > TEXT_LENGTH:
            expected = f"at most {TEXT_LENGTH} characters"
            problems.append(_finding(name, expected, f"{len(query.get(name))}"))
    since, until = (_day(query, name, problems) for name in ("since", "until"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return EntryFilter(
        decision=_named(query.get("decision"), decision_number),
        revision=_named(query.get("revision"), _revision_number),
        action=query.get("action").strip(),
        actor=query.get("actor").strip(),
        team=query.get("team").strip(),
        digest=digest,
        since=since,
        until=until,
        text=query.get("text").strip(),
    )


def _named(text: str, read: Callable[[str], int | None]) -> int | None:
    return (read(text) or NO_NUMBER) if text.strip() else None


def _revision_number(text: str) -> int | None:
    number = REVISION.fullmatch(text.strip())
    return int(number.group(1)) if number else None


def _day(query: Query, name: str, problems: list[Finding]) -> date | None:
    text = query.get(name).strip()
    if not text:
        return None
    day = parsed_day(text)
    if day is None:
        problems.append(_finding(name, "a day as YYYY-MM-DD", text[:40]))
    return day


def _finding(name: str, expected: str, found: str) -> Finding:
    return Finding("request", "request/query", name, expected, found)


@never_cache
@require_safe
@page
def audit_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the log, newest first; ``before`` and ``after`` turn pages. Above it what verifying found last."""
    seq = number_or_none(request.GET.get("seq", ""))
    if seq is not None:
        return redirect("audit-entry", slug, seq)
    workspace = workspace_of(slug)
    query = Query.of(request.GET.dict(), keep=(*FILTERS, "before", "after"))
    before, after = (number_or_none(query.get(name)) for name in ("before", "after"))
    found = audit_rows(
        actor=request.user,
        workspace=workspace,
        wanted=wanted_entries(query),
        older_than=before,
        newer_than=after if before is None else None,
    )
    last = last_verification(workspace)
    own = reverse("audit-list", args=[slug])
    kept = query.changed(before=None, after=None)
    chosen = query.get("action")
    context = frame(
        slug,
        "audit",
        entries=[entry_line(row, slug) for row in found.rows],
        total=count(found.entries, "entry", "entries"),
        headline=headline_of(last, slug) if last else None,
        key=newest_key(workspace),
        later=found.entries - last.entries if last and last.entries is not None else 0,
        actions=[(value, text, value == chosen) for value, text in ACTIONS],
        other_action="" if chosen in dict(ACTIONS) else chosen,
        filters={name: query.get(name) for name in FILTERS},
        is_filtered=any(query.get(name) for name in FILTERS),
        looked_from=found.looked_from,
        older_href=kept.link(before=found.older_than) if found.older_than is not None else "",
        newer_href=kept.link(after=found.newer_than) if found.newer_than is not None else "",
        newest_href=kept.link() if before is not None or after is not None else "",
        csv_href=f"{own}entries.csv{kept.link()}",
        json_href=f"{own}entries.json{kept.link()}",
        most=f"{DOWNLOAD_ENTRIES:,}",
    )
    return render(request, "reviews/audit_list.html", context)


def entry_values(row: EntryRow) -> list[Value]:
    """Return an entry's fields in the order of ``COLUMNS``."""
    values: list[Value] = [getattr(row, name) for name in COLUMNS]
    values[1] = utc_text(row.at)
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
        look_at=None,
    )
    rows: list[list[Value]] = [entry_values(row) for row in found.rows]
    name = f"{slug}-audit.{suffix}"
    if suffix == "csv":
        return csv_response(name, COLUMNS, rows)
    tree = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")
