"""Checkpoints of a log: the list with the keys to pin, and one checkpoint with its note and what it continues."""

import json
from base64 import b64encode
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from reviews.clock import utc_text, when
from reviews.models import Workspace
from reviews.selectors.checkpoints import (
    CheckpointRow,
    checkpoint_before,
    checkpoint_of_size,
    checkpoint_rows,
    consistency_of,
)
from reviews.selectors.people import standing_of
from reviews.transparency.notes import Verifier
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.formats import ago, count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none

COLUMNS = ("size", "root", "key", "signed_at", "cosigned_by")
"""Fields of a checkpoint that a download has, in order; the root is base64, as in the note."""
DOWNLOAD_CHECKPOINTS = 10_000


def root_text(row: CheckpointRow) -> str:
    """Return a root as the note has it."""
    return b64encode(row.root).decode()


def checkpoint_line(row: CheckpointRow, slug: str) -> dict[str, Any]:
    """Return a checkpoint as a row of text."""
    key = Verifier.of(row.key)
    return {
        "size": f"{row.size:,}",
        "href": reverse("checkpoint-detail", args=[slug, row.size]),
        "root": root_text(row),
        "key": key.id.hex(),
        "at": when(row.signed_at),
        "ago": ago(row.signed_at, timezone.now()),
        "witnesses": [(one.name, Verifier.of(one.key).id.hex(), when(one.seen_at)) for one in row.cosignatures],
    }


@require_safe
@page
def checkpoint_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show checkpoints, newest first, and the keys that signed them."""
    query = Query.of(request.GET.dict(), keep=("before",))
    before = number_or_none(query.get("before"))
    found = checkpoint_rows(actor=request.user, workspace=workspace_of(slug), older_than=before)
    own = reverse("audit-list", args=[slug])
    context = frame(
        slug,
        "audit",
        checkpoints=[checkpoint_line(row, slug) for row in found.rows],
        keys=found.keys,
        entries=count(found.entries, "entry", "entries"),
        waiting=found.entries - found.rows[0].size if found.rows and before is None else 0,
        older_href=query.link(before=found.older_than) if found.older_than is not None else "",
        csv_href=f"{own}checkpoints.csv",
        json_href=f"{own}checkpoints.json",
    )
    return render(request, "reviews/checkpoint_list.html", context)


@require_safe
@page
def checkpoint_download(request: PersonRequest, slug: str, suffix: str) -> HttpResponse:
    """Return the newest checkpoints as CSV or JSON."""
    found = checkpoint_rows(actor=request.user, workspace=workspace_of(slug), page_size=DOWNLOAD_CHECKPOINTS)
    rows: list[list[Value]] = [
        [
            row.size,
            root_text(row),
            row.key,
            utc_text(row.signed_at),
            " ".join(one.key for one in row.cosignatures),
        ]
        for row in found.rows
    ]
    name = f"{slug}-checkpoints.{suffix}"
    if suffix == "csv":
        return csv_response(name, COLUMNS, rows)
    tree = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")


@require_safe
@page
def checkpoint_detail(request: PersonRequest, slug: str, size: str) -> HttpResponse:
    """Show one checkpoint, its note, and the proof that it continues the one before."""
    workspace, row = _found(request, slug, size)
    before = checkpoint_before(workspace, row.size)
    context = frame(
        slug,
        "audit",
        checkpoint=checkpoint_line(row, slug),
        size=row.size,
        key=row.key,
        note=row.note.decode(),
        before=before and checkpoint_line(before, slug),
        changed_key=before is not None and before.key != row.key,
        consistency=before and consistency_of(workspace, before, row),
    )
    return render(request, "reviews/checkpoint_detail.html", context)


@require_safe
@page
def checkpoint_note(request: PersonRequest, slug: str, size: str) -> HttpResponse:
    """Return the signed note with the witnesses' lines, exactly."""
    _, row = _found(request, slug, size)
    return attachment(row.note, f"{slug}-{row.size}.checkpoint", "text/plain; charset=utf-8")


def _found(request: PersonRequest, slug: str, size: str) -> tuple[Workspace, CheckpointRow]:
    workspace = workspace_of(slug)
    standing_of(request.user, workspace)
    return workspace, checkpoint_of_size(workspace, int(size))
