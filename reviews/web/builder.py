"""The evidence builder: a draft's files, how runs are arranged, what a person answers, and what is still lacking.

Every page takes its own forms and answers with itself, so that it works without script and swaps itself with it. A
form names the version that it was made from; where the draft moved on since, nothing is overwritten and the page says
so, with what was typed still in its fields.
"""

import re
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner import builder
from planner.builder import DraftState
from planner.times import time_text
from reviews.clock import database_now, when
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError, ReviewError
from reviews.models import DocumentKind
from reviews.selectors.evidence_drafts import EvidenceDraft, evidence_draft
from reviews.services.draft_files import Outcome, file_remove, files_add
from reviews.services.drafts import draft_delete
from reviews.services.evidence_drafts import evidence_draft_change, evidence_make
from reviews.web.builder_acts import changes_of, typed_answers
from reviews.web.builder_conflict_rows import conflict_rows
from reviews.web.builder_coverage_rows import (
    breach_rows,
    coverage_page,
    prediction_rows,
    value_row,
)
from reviews.web.builder_files import given_of, outcome_strips
from reviews.web.builder_loose_rows import difference_rows, open_rows, unplaced_rows
from reviews.web.builder_open_rows import OPTIONAL, Given, held_rows, questions_page, rank_of
from reviews.web.builder_rows import FILES_A_PAGE, file_line, meter_of, places_of, trials_page
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, authentication, frame, go_to, page, request_id, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.page_rows import Strip
from reviews.web.pager import numbered

VALUES_A_PAGE = 200
TABS = (
    ("builder-files", "Files"),
    ("builder-trials", "Trials"),
    ("builder-questions", "Questions"),
    ("builder-coverage", "Coverage"),
)
_CHANGE = re.compile(r"\A/changes/[0-9]+(?=/)")
"""Where a change stands in its request: on a page it is the field that counts."""
Context = dict[str, Any]
Rows = Callable[[PersonRequest, EvidenceDraft, DraftState], Context]


def who(request: PersonRequest, slug: str, draft: int) -> Context:
    """Return what every act on a draft names: whose it is, where, and how they proved who they are."""
    return {
        "actor": request.user,
        "workspace": workspace_of(slug),
        "draft_id": draft,
        "request_id": request_id(),
        "authentication": authentication(request),
    }


def seen_version(request: PersonRequest) -> int | None:
    """Return the version that a form was made from."""
    return number_or_none(request.POST.get("version", ""))


def tab(name: str, rows: Rows) -> Callable[..., HttpResponseBase]:
    """Make the page of a tab: it shows its rows, and takes what its forms ask for."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @page
    def view(request: PersonRequest, slug: str, draft: int) -> HttpResponse:
        if request.method != "POST" or request.POST.get("act") == "tick":
            # Ticking changes nothing: it fills the form in, and a person then confirms.
            return answer(request, slug, draft, name, rows)
        try:
            outcomes = act(request, slug, draft)
        except (InvalidRequestError, ConflictError, NotAllowedError) as refused:
            return answer(request, slug, draft, name, rows, refused=refused)
        if any(outcome.verdict in ("refused", "unknown") for outcome in outcomes) or request.htmx:
            return answer(request, slug, draft, name, rows, outcomes=outcomes)
        return go_to(request, request.get_full_path())

    return view


def act(request: PersonRequest, slug: str, draft: int) -> tuple[Outcome, ...]:
    """Do what a form asks for; the answer speaks of files alone.

    Raises:
        InvalidRequestError, ConflictError, NotAllowedError: it cannot be done.
    """
    asked, form = who(request, slug, draft), request.POST
    if form.get("act") == "files":
        # Adding loses nobody's work, so it does not ask which version was seen.
        return files_add(files=[given_of(upload) for upload in request.FILES.getlist("files")], **asked)
    if form.get("act") == "remove_file":
        file_remove(sha256=form.get("sha256", ""), seen_version=seen_version(request), **asked)
        return ()
    evidence_draft_change(changes=changes_of(form), seen_version=seen_version(request), **asked)
    return ()


def answer(
    request: PersonRequest,
    slug: str,
    draft: int,
    name: str,
    rows: Rows,
    *,
    refused: ReviewError | None = None,
    outcomes: tuple[Outcome, ...] = (),
) -> HttpResponse:
    """Render a tab with what was refused, or with what became of files."""
    workspace = workspace_of(slug)
    found = evidence_draft(actor=request.user, workspace=workspace, draft_id=draft)
    state = builder.state_of(found.work.draft, found.work.contract, time_text(database_now()))
    context = frame(
        slug,
        "new",
        draft=found.draft,
        version=found.draft.version,
        changed=when(found.draft.changed_at),
        expires=when(found.draft.expires_at),
        contract=found.work.contract,
        tabs=[(text, reverse(one, args=[slug, draft]), one == name, badge(one, found, state)) for one, text in TABS],
        strips=(*refusal_strips(refused), *outcome_strips(outcomes)),
        meter=meter_of(found, state),
        hides_hosts=bool(found.body.hosts_salt),
        polls=found.waits,
        **rows(request, found, state),
    )
    status = refused.status if refused else 200
    return render(request, f"reviews/{name.replace('-', '_')}.html", context, status=status)


def badge(name: str, found: EvidenceDraft, state: DraftState) -> int:
    """Count what waits for a person on a tab."""
    meter = meter_of(found, state)
    open_counts = {
        "builder-trials": meter.unused,
        "builder-questions": meter.questions + meter.conflicts + meter.held,
        "builder-coverage": meter.breaches,
    }
    return open_counts.get(name, 0)


def refusal_strips(refused: ReviewError | None) -> tuple[Strip, ...]:
    """Say why something was not done."""
    if refused is None:
        return ()
    if isinstance(refused, InvalidRequestError):
        lead = f"{count(len(refused.problems), 'problem')}, nothing was changed."
        return tuple(
            Strip(
                lead=lead if not number else "And:",
                text=_CHANGE.sub("", one.sentence),
                icon="fail-o",
                css="fail",
                is_alert=True,
            )
            for number, one in enumerate(refused.problems[:8])
        )
    lead = "Not saved." if isinstance(refused, ConflictError) else "Not allowed."
    return (Strip(lead=lead, text=refused.message, icon="fail-o", css="fail", is_alert=True),)


def asked_page(request: PersonRequest, name: str = "page") -> int:
    """Return the page that an address asks for, from 1."""
    return number_or_none(request.GET.get(name, "")) or 1


def files_rows(request: PersonRequest, found: EvidenceDraft, state: DraftState) -> Context:
    """Return one page of files."""
    at, pages = asked_page(request), max(1, -(-len(found.files) // FILES_A_PAGE))
    at = min(at, pages)
    shown = found.files[(at - 1) * FILES_A_PAGE : at * FILES_A_PAGE]
    return {
        "files": [file_line(row) for row in shown],
        "file_count": count(len(found.files), "file"),
        "pager": numbered(at, pages, Query()),
    }


def trials_rows(request: PersonRequest, found: EvidenceDraft, state: DraftState) -> Context:
    """Return one page of the arrangement."""
    shown = trials_page(found, state, asked_page(request))
    return {
        "shown": shown,
        "places": places_of(found.work.draft),
        "load_points": sorted(found.work.contract.record.identity.workload.load_points),
        "typed": request.POST,
        "pager": numbered(shown.page, shown.pages, Query()),
    }


def questions_rows(request: PersonRequest, found: EvidenceDraft, state: DraftState) -> Context:
    """Return one page of questions, conflicts and held runs."""
    query = Query.of(request.GET.dict(), keep=("page", "conflicts", "all", "each"))
    form = request.POST
    given = Given(
        typed=typed_answers(form),
        ticked=frozenset(form.getlist("field")),
        tick=form.get("group", "") if form.get("act") == "tick" else "",
    )
    shown = questions_page(state, asked_page(request), given, shows_all=query.get("all") == "yes")
    settled = {at: one.because for at, one in found.work.draft.settled.items()}
    typed = {form.get("field", ""): form.get("because", "")}
    conflicts = conflict_rows(state, settled, typed, asked_page(request, "conflicts"), each=query.get("each") == "yes")
    return {
        "shown": shown,
        "conflicts": conflicts.rows,
        "conflict_pager": numbered(conflicts.page, conflicts.pages, query, name="conflicts"),
        "held": held_rows(found.work.draft, state),
        "pager": numbered(shown.page, shown.pages, query),
        "all_href": query.link(all=None if query.get("all") == "yes" else "yes", page=None),
        "shows_all": query.get("all") == "yes",
        "optional": sum(rank_of(question) == OPTIONAL for question in state.questions),
        "together": conflicts.together,
        "shows_each": query.get("each") == "yes",
        "each_href": query.link(each=None if query.get("each") == "yes" else "yes", conflicts=None),
    }


def coverage_rows(request: PersonRequest, found: EvidenceDraft, state: DraftState) -> Context:
    """Return one page of coverage, and what else is to be known of the figures."""
    shown = coverage_page(state, asked_page(request))
    breaches, holding = breach_rows(state)
    return {
        "shown": shown,
        "breaches": breaches,
        "holding": holding,
        "differences": difference_rows(state),
        "unplaced": unplaced_rows(state),
        "predictions": prediction_rows(state),
        "open_points": open_rows(state),
        "pager": numbered(shown.page, shown.pages, Query()),
    }


builder_files = tab("builder-files", files_rows)
builder_trials = tab("builder-trials", trials_rows)
builder_questions = tab("builder-questions", questions_rows)
builder_coverage = tab("builder-coverage", coverage_rows)


@require_safe
@page
def builder_values(request: PersonRequest, slug: str, draft: int, file: str) -> HttpResponse:
    """Show what was read of a file: every value with its unit, its place, and the field that it fills."""
    found = evidence_draft(actor=request.user, workspace=workspace_of(slug), draft_id=draft)
    reading = found.work.draft.files.get(file)
    row = next((one for one in found.files if one.sha256.removeprefix("sha256:").startswith(file)), None)
    if reading is None or row is None:
        raise NotFoundError("There is no such file in this draft.")
    values = [(run.id, value) for run in reading.runs for value in run.values]
    pages = max(1, -(-len(values) // VALUES_A_PAGE))
    at = min(asked_page(request), pages)
    context = frame(
        slug,
        "new",
        draft=found.draft,
        file=file_line(row),
        values=[value_row(*pair) for pair in values[(at - 1) * VALUES_A_PAGE : at * VALUES_A_PAGE]],
        value_count=count(len(values), "value"),
        remarks=[(run.id, remark) for run in reading.runs for remark in run.remarks][:VALUES_A_PAGE],
        missing=sorted({name for run in reading.runs for name in run.missing}),
        pager=numbered(at, pages, Query()),
    )
    return render(request, "reviews/builder_values.html", context)


@require_POST
@page
def builder_delete(request: PersonRequest, slug: str, draft: int) -> HttpResponse:
    """Delete a draft for good, and go back to the list."""
    draft_delete(kind=DocumentKind.EVIDENCE, **who(request, slug, draft))
    return go_to(request, reverse("builder-list", args=[slug]))


@require_POST
@page
def builder_make(request: PersonRequest, slug: str, draft: int) -> HttpResponse:
    """Make the document and go to it; what keeps it from being made is shown on the page of coverage."""
    try:
        made = evidence_make(seen_version=seen_version(request), **who(request, slug, draft))
    except (InvalidRequestError, ConflictError) as refused:
        return answer(request, slug, draft, "builder-coverage", coverage_rows, refused=refused)
    return go_to(request, reverse("evidence-detail", args=[slug, made.file_sha256]))
