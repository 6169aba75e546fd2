"""The page of what runs against a decision, its downloads, and the way from a difference to a draft of a revision."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from reviews.clock import utc_text
from reviews.selectors.identity_page import IdentityPage, identity_page, report_bytes
from reviews.services.identity_drafts import identity_draft_create
from reviews.web.contract_builder import step_href
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, go_to, identity_post_command, page, trace_of, workspace_of
from reviews.web.identity_rows import (
    KeyLine,
    awaited_text,
    history_lines,
    host_lines,
    key_lines,
    rank_lines,
    refused_text,
    verdict_strip,
)
from reviews.web.links import Query, number_or_none
from reviews.web.once import once_key
from reviews.web.pager import first_row, pager

KEPT = ("keys", "page", "ranks", "hosts", "before")
PAGE_SIZE = 100
CONTRADICTIONS = 5
"""Of more, the files tell all."""
REVIEW = "review"
AS_DECIDED = "as decided"
HEADER = ("kind", "key", "outcome", "decided", "found", "host", "since", "team")


@require_safe
@page
def decision_identity(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what runs in the slot against what this decision put into force."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    found = _found(request, slug, number, before=number_or_none(query.get("before")))
    everything = query.get("keys") == "all"
    keys = key_lines(found, everything=everything)
    ranks = rank_lines(found.live, _map_href(found, slug))
    raw = reverse("identity-report", args=[slug, number, "sha256:" + "0" * 64]).replace("sha256:" + "0" * 64, "DIGEST")
    differing = [line for line in keys if line.how == "differs"]
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-identity"),
        strip=verdict_strip(found),
        found=found,
        awaited=awaited_text(found.live),
        contradictions=found.live.together.contradictions[:CONTRADICTIONS],
        keys=_shown(keys, query, "page", "key"),
        key_counts=_counts(found),
        keys_href=query.link("keys", keys=None if everything else "all", page=None),
        everything=everything,
        ranks=_shown(ranks, query, "ranks", "rank"),
        map_href=_map_href(found, slug),
        post_command=identity_post_command(request, found.page.slot, slug, "report.json"),
        hosts=_shown(host_lines(found, raw), query, "hosts", "host"),
        refused=refused_text(found.live, found.now),
        history=history_lines(found.reports, raw),
        older_href=query.link("history", before=found.older) if found.older else "",
        files=[(name, reverse("identity-download", args=[slug, number, name])) for name in ("json", "csv")],
        can_draft=bool(differing) and found.page.may_submit.allowed,
        draft_href=reverse("identity-draft", args=[slug, number]),
        requalify_href=reverse("decision-requalification", args=[slug, number]) if differing or ranks else "",
    )
    return render(request, "reviews/decision_identity.html", context)


def _found(request: PersonRequest, slug: str, number: int, before: int | None = None) -> IdentityPage:
    return identity_page(actor=request.user, workspace=workspace_of(slug), number=number, before=before)


def _map_href(found: IdentityPage, slug: str) -> str:
    held = found.live.held
    if held is None:
        return ""
    own = reverse("decision-map", args=[slug, found.page.number])
    return f"{own}?revision={held.activation.revision.number}&trial={held.activation.trial}"


def _counts(found: IdentityPage) -> dict[str, int]:
    decided, whole = found.live.decided, found.live.together
    if decided is None:
        return {}
    differs, decided_keys = {one.key for _, one in whole.differs}, {key for key, _ in decided.keys}
    return {
        "keys": len(decided.keys),
        "keys_good": len(decided.keys) - len(whole.open_keys) - len(differs & decided_keys),
        "is_placed_otherwise": not differs <= decided_keys,
        "ranks": len(decided.ranks),
    }


def _shown(lines: Sequence[Any], query: Query, name: str, what: str) -> dict[str, Any]:
    """Return one page of lines, and the way to the others."""
    start = first_row(number_or_none(query.get(name)), len(lines), PAGE_SIZE)
    return {
        "lines": lines[start : start + PAGE_SIZE],
        "total": len(lines),
        "pager": pager(start, len(lines), PAGE_SIZE, what, lambda page: query.link(name, **{name: page})),
    }


@require_safe
@page
def identity_download(request: PersonRequest, slug: str, number: int | str, suffix: str) -> HttpResponse:
    """Give every key and every rank at fault as a file."""
    found = _found(request, slug, int(number))
    name = f"{found.page.label}-identity.{suffix}"
    if suffix == "csv":
        return csv_response(name, HEADER, _csv_rows(found))
    return attachment(msgspec.json.format(msgspec.json.encode(_tree(found))), name, "application/json")


def _csv_rows(found: IdentityPage) -> Iterator[tuple[Value, ...]]:
    for key in key_lines(found, everything=True):
        yield ("key", key.key, key.how or AS_DECIDED, key.decided, key.found, key.hosts, key.since, key.team)
    for rank in rank_lines(found.live, ""):
        yield ("rank", str(rank.rank), "differs", rank.decided, rank.found, rank.hosts, "", rank.team)


def _tree(found: IdentityPage) -> dict[str, Any]:
    live, held = found.live, found.live.held
    return {
        "schema": "topogate.live-identity/v1",
        "slot": live.slot,
        "decision": found.page.label,
        "subject": held.activation.subject if held else None,
        "matches": live.matches,
        "agrees": live.agrees,
        "because": live.because,
        "as_of": utc_text(found.now),
        "last_report": utc_text(live.last_report) if live.last_report else None,
        "awaited": {
            "nodes": list(live.together.awaited),
            "keys": list(live.together.open_keys),
            "ranks": list(live.together.open_places),
            "nics": list(live.together.open_nics),
        },
        "contradictions": list(live.together.contradictions),
        "flapping": list(live.flapping),
        "refused": live.said.refused_because or None,
        "keys": [_key_tree(line) for line in key_lines(found, everything=True)],
        "ranks": [
            {"rank": line.rank, "decided": line.decided, "found": line.found, "hosts": line.hosts, "team": line.team}
            for line in rank_lines(live, "")
        ],
        "hosts": [
            {
                "place": row.place,
                "host": row.host,
                "collected_at": utc_text(row.collected_at) if row.collected_at else None,
                "since": utc_text(row.since),
                "counts": row.is_fresh,
                "is_decided": row.is_decided,
                "flaps_since": utc_text(row.flaps_since) if row.flaps_since else None,
                "changes": row.changes,
                "flapped": list(row.flapped),
                "report": row.sha256 or None,
                "refused": row.refused_because or None,
            }
            for row in live.hosts
        ],
    }


def _key_tree(line: KeyLine) -> dict[str, str]:
    return {
        "key": line.key,
        "outcome": line.how or AS_DECIDED,
        "decided": line.decided,
        "found": line.found,
        "hosts": line.hosts,
        "since": line.since,
        "team": line.team,
    }


@require_safe
@page
def identity_report_raw(request: PersonRequest, slug: str, number: int | str, digest: str) -> HttpResponse:
    """Give a report exactly as it came, to be saved."""
    data = report_bytes(actor=request.user, workspace=workspace_of(slug), number=int(number), sha256=digest)
    return attachment(data, f"{digest.removeprefix('sha256:')[:16]}.json", "application/octet-stream")


@require_POST
@page
def identity_draft(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Begin a draft of a revision from what differs, and lead to it."""
    draft = identity_draft_create(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        idempotency_key=once_key(request),
        trace=trace_of(request),
    )
    return go_to(request, step_href(slug, draft.pk, REVIEW))
