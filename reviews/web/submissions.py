"""Submitting a contract and evidence: files or pasted text, every problem listed, a look at the trials first."""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods

from planner.strict_json import MAX_BYTES
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    TamperedError,
    length_of,
    printable,
)
from reviews.models import Decision, Workspace
from reviews.policies.permissions import may_submit
from reviews.selectors.contracts import contract_of_draft
from reviews.selectors.decision_page import decision_of_member
from reviews.selectors.documents import blob_of_workspace
from reviews.selectors.jobs import job_awaited
from reviews.selectors.pages import reusable_documents
from reviews.selectors.people import standing_of
from reviews.services.revisions import revision_check, revision_create
from reviews.services.submissions import Checked, submission_check, submission_create, submission_refuse
from reviews.web.document_links import links_of
from reviews.web.formats import count, short_digest
from reviews.web.frame import PersonRequest, authentication, frame, go_to, page, request_id, workspace_of
from reviews.web.intake_rows import (
    Given,
    Sorted,
    field_problems,
    kept_text,
    problem_rows,
    sort_files,
    taken_over,
    trial_rows,
)
from reviews.web.links import number_or_none
from reviews.web.once import page_key


class SubmissionForm(forms.Form):
    """What is typed beside the files; ``reuse`` is the revision that the page offered to take documents from."""

    title = forms.CharField(required=False)
    contract = forms.CharField(required=False, strip=False)
    evidence = forms.CharField(required=False, strip=False)
    as_of = forms.CharField(required=False)
    reuse = forms.IntegerField(required=False, min_value=1)
    once = forms.SlugField(required=False, max_length=64)
    act = forms.ChoiceField(choices=(("check", "check"), ("submit", "submit")))

    def findings(self) -> list[Finding]:
        """Say which fields do not fit; what is typed fails here for a NUL alone, all else is judged later."""
        return [
            Finding("request", f"request/{name}", name, FITTING.get(name, "text without NUL"), self._found(name))
            for name in self.errors
        ]

    def _found(self, name: str) -> str:
        given = str(self.data.get(name, ""))
        return (printable(given) if name in FITTING else length_of(given)) or "nothing"


FITTING = {
    "act": "check or submit",
    "reuse": "the number of a revision",
    "once": "at most 64 letters, digits, hyphens and underscores",
}
"""Field that no person types -> what it takes."""


def given_files(files: MultiValueDict[str, UploadedFile[bytes]]) -> tuple[list[Given], list[Finding]]:
    """Read the uploaded files; one that is too large is not read."""
    given, problems = [], []
    for upload in files.getlist("files"):
        name = upload.name or "file"
        if (upload.size or 0) > MAX_BYTES:
            most, found = f"at most {MAX_BYTES:,} bytes", f"{upload.size:,} bytes"
            problems.append(Finding("request", "request/file_size", name, most, found))
        else:
            given.append(Given(upload.read(), name))
    return given, problems


@require_http_methods(["GET", "HEAD", "POST"])
@page
def decision_new(request: PersonRequest, slug: str) -> HttpResponse:
    """Take a submission: check it, or make a revision of it."""
    workspace = workspace_of(slug)
    decision = revised(request, workspace)
    stored = stored_documents(request, workspace)
    if request.method != "POST":
        chosen = Sorted(stored.get("contract"), stored.get("evidence"), ())
        return answer(request, slug, decision, {}, given=chosen)
    form = SubmissionForm(request.POST)
    if not form.is_valid():
        return answer(request, slug, decision, dict(request.POST.items()), problems=form.findings())
    typed = form.cleaned_data
    files, too_large = given_files(request.FILES)
    given = sort_files(files, typed["contract"], typed["evidence"], needs_both=decision is None, stored=stored)
    is_check = typed["act"] != "submit"
    problems = (*too_large, *given.problems)
    if is_check and given.tools and given.lacking and not problems:
        # What was chosen is what evidence is built of: the offer is the answer, and nothing is wrong yet.
        return answer(request, slug, decision, typed, given=given)
    act = check if is_check else submit
    try:
        return act(request, workspace, decision, typed, given, (*problems, *given.lacking))
    except InvalidRequestError as refused:
        return answer(request, slug, decision, typed, given=given, problems=refused.problems)
    except (ConflictError, NotAllowedError, TamperedError) as refused:
        problem = Finding(
            "request", f"request/{refused.code}", "", "a submission that may be made", refused.message.rstrip(".")
        )
        return answer(request, slug, decision, typed, given=given, problems=[problem], status=refused.status)


def revised(request: PersonRequest, workspace: Workspace) -> Decision | None:
    """Return the decision that an address names; None where it names none, for a new one.

    Raises:
        NotFoundError: there is no such decision. A new one instead would be something else than was asked for.
    """
    number = request.GET.get("decision")
    if number is None:
        return None
    return decision_of_member(actor=request.user, workspace=workspace, number=number_or_none(number) or 0)


def stored_documents(request: PersonRequest, workspace: Workspace) -> dict[str, Given]:
    """Return the stored documents that an address names, as evidence that was built here does, or a contract drafted.

    Raises:
        NotFoundError: the workspace has no such bytes, the person no such draft, or the person is no member of it.
        TamperedError: the stored bytes are not the ones that were stored.
    """
    draft = number_or_none(request.GET.get("contract_draft", ""))
    if draft is not None:
        raw = contract_of_draft(actor=request.user, workspace=workspace, draft_id=draft)
        return {"contract": Given(raw, f"contract of your draft {draft}")}
    named = {kind: request.GET.get(f"{kind}_sha256", "") for kind in ("contract", "evidence")}
    return {
        kind: Given(
            blob_of_workspace(actor=request.user, workspace=workspace, sha256=digest),
            f"stored {kind} {short_digest(digest)}",
        )
        for kind, digest in named.items()
        if digest
    }


def documents_of(given: Sorted, typed: dict[str, Any], decision: Decision | None) -> dict[str, Any]:
    """Return what services take of a form: both documents, or for a revision those that were given."""
    contract, evidence = (one.data if one else None for one in (given.contract, given.evidence))
    revises = {"number": decision.number, "reuse": typed["reuse"]} if decision else {}
    return {"contract": contract, "evidence": evidence, **revises, "as_of": typed["as_of"] or None}


def check(
    request: PersonRequest,
    workspace: Workspace,
    decision: Decision | None,
    typed: dict[str, Any],
    given: Sorted,
    problems: tuple[Finding, ...],
) -> HttpResponse:
    """Say what would be refused, or show what the evidence holds.

    Raises:
        InvalidRequestError: what was given is no two documents.
    """
    if problems:
        raise InvalidRequestError(problems)
    documents = documents_of(given, typed, decision)
    if decision:
        checked = revision_check(actor=request.user, workspace=workspace, **documents)
    else:
        checked = submission_check(actor=request.user, workspace=workspace, **documents)
    return answer(request, workspace.slug, decision, typed, given=given, checked=checked)


def once_key(typed: dict[str, Any], given: Sorted, decision: Decision | None) -> str | None:
    """Name this content of this form, so that a double click or a repeated request makes one revision."""
    documents = [hashlib.sha256(document.data).hexdigest() for document in (given.contract, given.evidence) if document]
    revises = f"{decision.number} {typed['reuse']}" if decision else ""
    return page_key(typed["once"], [typed["title"].strip(), typed["as_of"], revises, *documents])


def submit(
    request: PersonRequest,
    workspace: Workspace,
    decision: Decision | None,
    typed: dict[str, Any],
    given: Sorted,
    problems: tuple[Finding, ...],
) -> HttpResponse:
    """Make the revision and go to it. Most plans take less time than a page to follow them by, so it waits a moment.

    Raises:
        InvalidRequestError: also with ``problems``, which kept what was given from being two documents; recorded, as
            every refusal is.
        ConflictError, NotAllowedError, TamperedError: see ``revision_create``.
    """
    attempt: dict[str, Any] = {
        "actor": request.user,
        "workspace": workspace,
        "request_id": request_id(),
        "authentication": authentication(request),
    }
    patience_ends = time.monotonic() + settings.PLAN_ANSWER_SECONDS
    documents = documents_of(given, typed, decision)
    if problems:
        submission_refuse(
            problems=problems, title=typed["title"], as_of=documents["as_of"], decision=decision, **attempt
        )
    key = once_key(typed, given, decision)
    if decision:
        revision = revision_create(idempotency_key=key, **documents, **attempt)
    else:
        revision = submission_create(title=typed["title"], idempotency_key=key, **documents, **attempt)
    job_awaited(revision.job, until=patience_ends)
    return go_to(request, reverse("decision-detail", args=[workspace.slug, revision.decision.number]))


def answer(
    request: PersonRequest,
    slug: str,
    decision: Decision | None,
    typed: dict[str, Any],
    *,
    given: Sorted | None = None,
    problems: Any = (),
    checked: Checked | None = None,
    status: int = 0,
) -> HttpResponse:
    """Render the form with what was typed, what is wrong, or what the evidence holds."""
    contract, evidence = (given.contract, given.evidence) if given else (None, None)
    trials = trial_rows(checked.evidence) if checked and checked.evidence else ()
    found = (*problems, *(checked.problems if checked else ()))
    reusable = reusable_documents(decision, number_or_none(str(typed.get("reuse") or ""))) if decision else None
    stored = links_of(slug, decision.number, reusable.revision) if decision and reusable else None
    rows = problem_rows(found, contract, evidence, stored)
    verdict = may_submit(standing_of(request.user, workspace_of(slug)))
    context = frame(
        slug,
        "new",
        off=verdict.reason,
        decision=decision,
        reusable=reusable,
        taken=taken_over(given, contract=reusable.contract, evidence=reusable.evidence) if reusable and given else (),
        title=typed.get("title", ""),
        as_of=typed.get("as_of", ""),
        once=typed.get("once") or secrets.token_urlsafe(16),
        contract_text=kept_text(contract) if rows or trials else typed.get("contract", ""),
        evidence_text=kept_text(evidence) if rows or trials else typed.get("evidence", ""),
        problems=rows,
        wrong=field_problems(found),
        problem_count=count(len(rows), "problem"),
        trials=trials,
        trial_count=count(len(trials), "trial"),
        chosen=[
            (kind, given_file.name)
            for kind, given_file in (("contract", contract), ("evidence", evidence))
            if given_file and given_file.name
        ],
        tools=given.tools if given else (),
        is_lost=any(g and g.name and not kept_text(g) for g in (contract, evidence)),
    )
    return render(request, "reviews/decision_new.html", context, status=status or (422 if rows else 200))
