"""Pages that write a contract: a list of drafts, a form in steps, the document beside it.

Every button is a POST of the whole step, so that the pages work without script; a POST with ``act=check`` shows what
would be stored and stores nothing, which is how the form is checked while somebody types.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from planner.contract_builder.draft import ContractDraft, continued, draft_bytes, draft_from
from planner.contract_builder.rendered import rendered
from planner.contract_builder.steps import REVIEW, STEPS, Step, step_named
from planner.decision_numbers import decision_label
from planner.errors import DocumentRefusedError
from planner.intake.parts import value_at
from planner.pointers import steps
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotAllowedError, NotFoundError, printable
from reviews.models import DocumentKind, Draft, Workspace
from reviews.policies.permissions import may_submit
from reviews.selectors.contracts import contract_of_workspace, contracts_of_workspace, policy_of_workspace
from reviews.selectors.drafts import draft_of_owner, drafts_of
from reviews.selectors.people import standing_of
from reviews.services.contract_drafts import contract_draft_create, contract_draft_save
from reviews.services.drafts import draft_delete, drafting_require
from reviews.web.contract_builder_acts import RefusedActError, edited, given_files
from reviews.web.contract_builder_diff import SectionRow, section_rows
from reviews.web.contract_builder_page import builder_page, step_after, step_before
from reviews.web.contract_builder_rows import dom_id
from reviews.web.frame import PersonRequest, authentication, frame, go_to, page, request_id, workspace_of
from reviews.web.links import number_or_none
from reviews.web.once import once_key

FIRST = STEPS[0].id


@require_http_methods(["GET", "HEAD", "POST"])
@page
def contract_builder(request: PersonRequest, slug: str) -> HttpResponse:
    """List a person's drafts, and begin another: empty, from a file, or from a contract of the workspace."""
    workspace = workspace_of(slug)
    if request.method != "POST":
        return listed(request, workspace)
    asked: dict[str, Any] = {
        "actor": request.user,
        "workspace": workspace,
        "request_id": request_id(),
        "authentication": authentication(request),
    }
    try:
        drafting_require(kind=DocumentKind.CONTRACT, **asked)
        draft = start(request, workspace)
        key = once_key(request, content=draft_bytes(draft))
        begun = contract_draft_create(draft=draft, idempotency_key=key, **asked)
    except (InvalidRequestError, RefusedActError) as refused:
        return listed(request, workspace, problems=refused.problems, status=422)
    except (ConflictError, NotAllowedError) as refused:
        problem = Finding(
            "request", f"request/{refused.code}", "draft", "a draft that may be begun", refused.message.rstrip(".")
        )
        return listed(request, workspace, problems=(problem,), status=refused.status)
    return go_to(request, step_href(slug, begun.pk, FIRST))


def start(request: PersonRequest, workspace: Workspace) -> ContractDraft:
    """Return what a new draft begins as.

    Raises:
        InvalidRequestError: the file or text is no contract to go on from.
        RefusedActError: a file is too large.
        NotFoundError: the workspace has no such contract.
    """
    act = request.POST.get("act", "")
    if act == "clone":
        digest = request.POST.get("contract", "")
        raw = contract_of_workspace(actor=request.user, workspace=workspace, file_sha256=digest)
        return continued(raw, based_on=digest)
    if act != "upload":
        return ContractDraft()
    given = given_files(request.FILES, request.POST, "document", pasted_as="pasted text")
    if not given:
        expected = "a contract as a file or text"
        raise InvalidRequestError((Finding("request", "request/files", "document", expected, "nothing"),))
    try:
        return continued(given[0][1])
    except DocumentRefusedError as refused:
        raise InvalidRequestError(tuple(Finding.of(problem, "contract") for problem in refused.problems)) from refused


def listed(
    request: PersonRequest, workspace: Workspace, *, problems: tuple[Finding, ...] = (), status: int = 200
) -> HttpResponse:
    """Render the list."""
    drafts = drafts_of(actor=request.user, workspace=workspace, kind=DocumentKind.CONTRACT)
    verdict = may_submit(standing_of(request.user, workspace))
    context = frame(
        workspace.slug,
        "new",
        off=verdict.reason,
        drafts=[(draft, step_href(workspace.slug, draft.id, FIRST)) for draft in drafts],
        contracts=contracts_of_workspace(actor=request.user, workspace=workspace),
        chosen=request.GET.get("contract", ""),
        problems=problems,
        pasted=request.POST.get("document_text", ""),
    )
    return render(request, "reviews/contract_builder_list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def contract_draft(request: PersonRequest, slug: str, draft_id: int, step: str) -> HttpResponse:
    """Show one step of a draft, take what was typed in it, and lead on.

    Raises:
        NotFoundError: there is no such step, or no such draft of this person.
    """
    workspace = workspace_of(slug)
    stored = draft_of_owner(actor=request.user, workspace=workspace, draft_id=draft_id, kind=DocumentKind.CONTRACT)
    shown = step_named(step)
    if shown is None:
        raise NotFoundError("There is no such step.")
    draft = draft_from(bytes(stored.body))
    if request.method != "POST":
        return step_page(request, workspace, stored, draft, shown)
    if request.POST.get("act") == "delete":
        return deleted(request, workspace, stored)
    return taken(request, workspace, stored, draft, shown)


def taken(
    request: PersonRequest, workspace: Workspace, stored: Draft, draft: ContractDraft, step: Step
) -> HttpResponse:
    """Take the form of a step: check it, or save it and go where its button leads."""
    found = edited(draft, request.POST, request.FILES)
    act = request.POST.get("act", "save")
    seen = number_or_none(request.POST.get("version", "")) or 0
    if found.problems or act == "check":
        status = 422 if found.problems else 200
        return step_page(
            request, workspace, stored, found.draft, step, problems=found.problems, version=seen, status=status
        )
    try:
        contract_draft_save(
            actor=request.user,
            workspace=workspace,
            draft_id=stored.pk,
            seen_version=seen,
            draft=found.draft,
            request_id=request_id(),
            authentication=authentication(request),
        )
    except ConflictError as refused:
        lost = section_rows(draft.tree, found.draft.tree, None)
        return step_page(
            request, workspace, stored, found.draft, step, conflict=refused.message, lost=lost, status=refused.status
        )
    return redirect(next_href(workspace.slug, stored.pk, step, act, found.at))


def next_href(slug: str, draft_id: int, step: Step, act: str, at: str) -> str:
    """Return where a button leads: another step, or the place on this one that it made or opened."""
    verb, _, target = act.partition(":")
    neighbour = {"next": step_after(step), "back": step_before(step), "go": step_named(target)}.get(verb)
    if neighbour is not None:
        return step_href(slug, draft_id, neighbour.id)
    here = step_href(slug, draft_id, step.id)
    if not at:
        return here
    return f"{here}?{urlencode({'open': at})}#{at if at == 'questions' else dom_id(at)}"


def step_href(slug: str, draft_id: int, step: str) -> str:
    """Return the address of a step."""
    return reverse("contract-draft", args=[slug, draft_id, step])


def deleted(request: PersonRequest, workspace: Workspace, stored: Draft) -> HttpResponse:
    """Delete the draft and lead to the list."""
    draft_delete(
        actor=request.user,
        workspace=workspace,
        draft_id=stored.pk,
        kind=DocumentKind.CONTRACT,
        request_id=request_id(),
        authentication=authentication(request),
    )
    return go_to(request, reverse("contract-builder", args=[workspace.slug]))


def step_page(
    request: PersonRequest,
    workspace: Workspace,
    stored: Draft,
    draft: ContractDraft,
    step: Step,
    *,
    problems: tuple[Finding, ...] = (),
    conflict: str = "",
    lost: tuple[SectionRow, ...] = (),
    version: int | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render a step of a draft as it stands, or as it would after what was typed."""
    context = frame(
        workspace.slug,
        "new",
        stored=stored,
        draft=draft,
        version=version or stored.version,
        here=step_href(workspace.slug, stored.pk, step.id),
        form_problems=problems,
        conflict=conflict,
        lost=lost,
        typed=request.POST,
        is_unsaved=bool(problems or conflict or request.POST.get("act") == "check"),
        **builder_page(draft, step, request.GET.get("open", "")),
    )
    if step is REVIEW:
        context |= differences(request, workspace, draft) | {"ways": ways_on(workspace.slug, stored.pk, draft.revises)}
    return render(request, "reviews/contract_builder_step.html", context, status=status)


def ways_on(slug: str, draft_id: int, revises: int | None) -> list[tuple[str, str]]:
    """Return where a finished contract goes from here; ``revises`` is the decision that it is a revision of."""
    asked = urlencode({"contract_draft": draft_id})
    revised = f"{asked}&decision={revises}" if revises else asked
    submit = f"Submit with evidence as a revision of {decision_label(revises)}" if revises else "Submit with evidence"
    return [
        (f"{reverse('decision-new', args=[slug])}?{revised}", submit),
        (f"{reverse('builder-list', args=[slug])}?{asked}", "Build evidence from files"),
        (reverse("draft-benchmark", args=[slug, draft_id]), "What to measure"),
    ]


def differences(request: PersonRequest, workspace: Workspace, draft: ContractDraft) -> dict[str, Any]:
    """Return what differs from the contract that the draft began as."""
    if draft.based_on is None:
        return {}
    raw = contract_of_workspace(actor=request.user, workspace=workspace, file_sha256=draft.based_on)
    policy = policy_of_workspace(actor=request.user, workspace=workspace)
    before = json.loads(raw)
    return {
        "based_on": draft.based_on,
        "sections": section_rows(before, draft.tree, policy),
        "origins": [
            (pointer, origin)
            for pointer, origin in draft.origins.items()
            if value_at(before, *steps(pointer)) != value_at(draft.tree, *steps(pointer))
        ],
        "notes": draft.notes,
    }


@require_safe
@page
def contract_draft_json(request: PersonRequest, slug: str, draft_id: int) -> HttpResponse:
    """Give the document as it would be stored, byte for byte."""
    workspace = workspace_of(slug)
    stored = draft_of_owner(actor=request.user, workspace=workspace, draft_id=draft_id, kind=DocumentKind.CONTRACT)
    draft = draft_from(bytes(stored.body))
    name = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in draft.slot) or f"draft-{stored.pk}"
    answer = HttpResponse(rendered(draft.tree), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="contract-{printable(name, 80)}.json"'
    return answer
