"""The permalink of a digest, and the bytes behind one."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.decision_numbers import revision_label
from reviews.errors import NotFoundError
from reviews.selectors.documents import DigestUse, blob_of_workspace, digest_uses
from reviews.web.csv_text import attachment
from reviews.web.frame import PersonRequest, frame, page, workspace_of

BYTES_OF = ("contract file", "evidence file", "plan file", "audit payload", "item of a thread")
"""Uses in which the digest is that of stored bytes, so that these can be downloaded."""

READ = ("contract", "evidence")
"""Documents that a page shows; all else of a revision is on the page of its decision."""


def use_line(use: DigestUse, slug: str) -> tuple[str, str, str]:
    """Return what a digest names, where, and the link to it."""
    if use.seq is not None:
        return use.what, f"entry {use.seq}", reverse("audit-entry", args=[slug, use.seq])
    if use.decision is None or use.revision is None:
        return use.what, "this workspace", ""
    document = use.what.removesuffix(" file")
    if document in READ:
        own = reverse("document", args=[slug, use.decision, document])
    else:
        own = reverse("decision-detail", args=[slug, use.decision])
    href = f"{own}?revision={use.revision}"
    return use.what, revision_label(use.decision, use.revision), href


@require_safe
@page
def digest_detail(request: PersonRequest, slug: str, digest: str) -> HttpResponse:
    """Show a digest in full and everything it names here."""
    uses = digest_uses(actor=request.user, workspace=workspace_of(slug), digest=digest)
    if not uses:
        raise NotFoundError("Nothing in this workspace has this digest.")
    context = frame(
        slug,
        "",
        digest=digest,
        hexes=digest.removeprefix("sha256:"),
        uses=[use_line(use, slug) for use in uses],
        raw_href=reverse("digest-raw", args=[slug, digest]) if any(use.what in BYTES_OF for use in uses) else "",
        is_file=any(use.what in ("contract file", "evidence file") for use in uses),
        is_meaning=any(use.what in ("contract", "evidence") for use in uses),
    )
    return render(request, "reviews/digest_detail.html", context)


@require_safe
@page
def digest_raw(request: PersonRequest, slug: str, digest: str) -> HttpResponse:
    """Return stored bytes exactly as they are, to be saved."""
    data = blob_of_workspace(actor=request.user, workspace=workspace_of(slug), sha256=digest)
    return attachment(data, f"{digest.removeprefix('sha256:')[:16]}.json", "application/octet-stream")
