"""Where building evidence begins: one's drafts, and a new one for a contract of the workspace or one that is sent."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods

from planner.strict_json import MAX_BYTES
from reviews.clock import database_now, when
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotAllowedError, NotFoundError
from reviews.models import DocumentKind, Draft, Workspace
from reviews.policies.permissions import may_submit
from reviews.selectors.contracts import contract_of_draft
from reviews.selectors.drafts import drafts_of
from reviews.selectors.evidence_drafts import contract_rows
from reviews.selectors.people import standing_of
from reviews.services.draft_files import files_add
from reviews.services.evidence_drafts import evidence_draft_begin
from reviews.web.builder_files import given_of
from reviews.web.formats import ago, count
from reviews.web.frame import PersonRequest, authentication, frame, go_to, page, request_id, workspace_of
from reviews.web.intake_rows import kind_of
from reviews.web.links import number_or_none
from reviews.web.once import once_key

OF_DRAFT = "draft-"
"""Begins the value of a choice that is a contract's draft, not a stored contract."""
MAX_CONTRACT_LOOK = 4 * 2**20
"""Files up to this size are looked at for a contract among result files."""


@require_http_methods(["GET", "HEAD", "POST"])
@page
def builder_list(request: PersonRequest, slug: str) -> HttpResponse:
    """List one's drafts; a form begins another, at once with files where some were chosen."""
    if request.method != "POST":
        return answer(request, slug)
    asked: dict[str, Any] = {
        "actor": request.user,
        "workspace": workspace_of(slug),
        "request_id": request_id(),
        "authentication": authentication(request),
    }
    try:
        draft = begin(request, asked)
    except (InvalidRequestError, ConflictError, NotAllowedError, NotFoundError) as refused:
        return answer(request, slug, refused.sentences, refused.status)
    files = request.FILES.getlist("files")
    if files:
        files_add(draft_id=draft.pk, files=[given_of(upload) for upload in files], **asked)
    return go_to(request, reverse("builder-files", args=[slug, draft.pk]))


def begin(request: PersonRequest, asked: dict[str, Any]) -> Draft:
    """Begin a draft as the form says.

    Raises:
        InvalidRequestError: no contract was given, or one that is none.
        ConflictError, NotAllowedError, NotFoundError: see ``evidence_draft_begin``.
    """
    sent = contract_file(request.FILES)
    # Pasted text has the line ends of its file, and not those of a form.
    pasted = request.POST.get("contract", "").strip().replace("\r\n", "\n")
    stored = request.POST.get("contract_sha256", "")
    if stored.startswith(OF_DRAFT) and sent is None and not pasted:
        pasted = of_draft(request, asked["workspace"], stored.removeprefix(OF_DRAFT))
    if sent is None and not pasted and not stored:
        found = Finding("contract", "request/missing_part", "", "a contract: chosen, sent as a file, or pasted", "none")
        raise InvalidRequestError((found,))
    contract = sent if sent is not None else pasted.encode("utf-8", "surrogatepass") if pasted else None
    return evidence_draft_begin(
        contract=contract,
        contract_sha256=stored,
        name=request.POST.get("name", "").strip(),
        hides_hosts="hides_hosts" in request.POST,
        idempotency_key=once_key(request, "name", "hides_hosts", content=contract or stored.encode()),
        **asked,
    )


def contract_file(files: MultiValueDict[str, UploadedFile[bytes]]) -> bytes | None:
    """Return the contract that was sent as a file, None where none was.

    Raises:
        InvalidRequestError: it is larger than any document; it is not read.
    """
    upload = files.get("contract_file") or contract_among(files)
    if upload is None:
        return None
    if (upload.size or 0) > MAX_BYTES:
        most = f"at most {MAX_BYTES:,} bytes"
        raise InvalidRequestError((Finding("contract", "request/file_size", "", most, f"{upload.size:,} bytes"),))
    return bytes(upload.read())


def contract_among(files: MultiValueDict[str, UploadedFile[bytes]]) -> UploadedFile[bytes] | None:
    """Return the contract that was dropped together with result files, and take it from among them."""
    uploads = files.getlist("files")
    for upload in uploads:
        if (upload.size or 0) <= MAX_CONTRACT_LOOK and kind_of(upload.read()) == "contract":
            upload.seek(0)
            files.setlist("files", [other for other in uploads if other is not upload])
            return upload
        upload.seek(0)
    return None


def handed_over(request: PersonRequest, workspace: Workspace) -> str:
    """Return the choice that is the draft which the contract builder hands over; empty where none is named."""
    named = request.GET.get("contract_draft", "")
    return f"{OF_DRAFT}{named}" if of_draft(request, workspace, named) else ""


def of_draft(request: PersonRequest, workspace: Workspace, draft_id: str) -> str:
    """Return the contract of one's own draft as it would be stored; empty where none is named."""
    number = number_or_none(draft_id)
    if number is None:
        return ""
    return contract_of_draft(actor=request.user, workspace=workspace, draft_id=number).decode()


def draft_title(slot: str, name: str) -> str:
    """Name a contract's draft by its slot and its name, each as far as there is one."""
    return " · ".join(dict.fromkeys(part for part in (slot, name) if part)) or "Without a name"


def answer(request: PersonRequest, slug: str, problems: tuple[str, ...] = (), status: int = 200) -> HttpResponse:
    """Render the list, with what is wrong and what was typed."""
    workspace, now = workspace_of(slug), database_now()
    drafts = drafts_of(actor=request.user, workspace=workspace, kind=DocumentKind.EVIDENCE)
    contracts = contract_rows(actor=request.user, workspace=workspace)
    named = request.GET.get("contract_draft", "")
    handed = request.method != "POST" and bool(handed_over(request, workspace))
    chosen = request.POST.get("contract_sha256") or (
        f"{OF_DRAFT}{named}" if handed else request.GET.get("contract", "")
    )
    own = drafts_of(actor=request.user, workspace=workspace, kind=DocumentKind.CONTRACT)
    context = frame(
        slug,
        "new",
        drafts=[
            (
                row.name or "Without a name",
                row.slot,
                ago(row.changed_at, now),
                when(row.expires_at),
                reverse("builder-files", args=[slug, row.id]),
                reverse("builder-delete", args=[slug, row.id]),
            )
            for row in drafts
        ],
        draft_count=count(len(drafts), "draft"),
        contracts=[(row.sha256, f"{row.slot}, {row.content_id[7:15]}, {when(row.stored_at)}") for row in contracts],
        contract_drafts=[
            (f"{OF_DRAFT}{row.id}", f"{draft_title(row.slot, row.name)}, changed {ago(row.changed_at, now)}")
            for row in own
        ],
        chosen=chosen,
        problems=problems,
        typed=request.POST,
        off=may_submit(standing_of(request.user, workspace)).reason,
    )
    return render(request, "reviews/builder_list.html", context, status=status)
