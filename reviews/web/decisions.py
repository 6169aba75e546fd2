"""The page of a decision: progress while it is planned, then the decision; signing it."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from planner.gates import GATES
from planner.records.plan import Plan
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, ProofNeededError, ReviewError
from reviews.policies.signoff_status import points_of
from reviews.selectors.pages import DecisionView, decision_view
from reviews.selectors.rows import DecisionPage
from reviews.selectors.what_if import Asked
from reviews.services.signoffs import signoff_give
from reviews.web.banner_rows import alternatives, banner, notices
from reviews.web.decision_head import head_for
from reviews.web.document_links import DocumentLinks, links_of
from reviews.web.event_rows import event_of
from reviews.web.flip_rows import flip_groups
from reviews.web.frame import PersonRequest, authentication, frame, page, request_id, workspace_of
from reviews.web.frontier_rows import frontier, order, order_text
from reviews.web.links import Query, number_or_none
from reviews.web.matrix_rows import Waived, matrix
from reviews.web.page_rows import Strip, answer_strips, moved_text, progress_of, stale_strip, turn_strip
from reviews.web.proposal_rows import second_strip
from reviews.web.reauthentication import ask_again, typed_before
from reviews.web.release_rows import waived_of
from reviews.web.sign_rows import FIELDS, Form, sign_panel
from reviews.web.signoff_rows import requirements_of
from reviews.web.thread_rows import Place, counts_of, open_lines
from reviews.web.what_if_asked import address
from reviews.web.why_rows import why_rows
from reviews.web.words import OUTCOMES

KEPT = ("revision", "rows", "page", "cell", "passing")


@cache
def gate_titles() -> dict[str, str]:
    """Return the gates' titles by id."""
    return {gate.id: gate.title for gate in GATES}


@never_cache
@require_safe
@page
def decision_detail(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show a decision, or how far its planning is."""
    revision = number_or_none(request.GET.get("revision", ""))
    found = decision_view(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=revision,
        team=request.GET.get("team", ""),
    )
    return shown(request, slug, found, form=typed_before(request))


def shown(
    request: PersonRequest,
    slug: str,
    found: DecisionView,
    *,
    form: Mapping[str, str] | None = None,
    problems: tuple[str, ...] = (),
    strip: Strip | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render a decision's page; ``form`` is a sign-off that was refused, with ``problems`` and ``strip`` saying why."""
    decision = found.page
    now = timezone.now()
    head = head_for(decision, slug, "decision-detail")
    plan = found.plan
    if plan is None:
        kept = (form or {}).get("statement", "")
        context = frame(slug, "inbox", head=head, progress=progress_of(decision), strip=strip, kept=kept)
        return render(request, "reviews/decision_planning.html", context, status=status)
    context = frame(
        slug,
        "inbox",
        head=head,
        strips=[
            *([strip] if strip else []),
            *(second_strip(row, slug) for row in found.proposals),
            *answer_strips(decision, head.revise_href),
            _turn_of(decision, slug),
        ],
        **answer_of(
            plan,
            query=Query.of(request.GET.dict(), keep=KEPT),
            map_href=reverse("decision-map", args=[slug, decision.number]),
            what_if_href=reverse("decision-what-if", args=[slug, decision.number]),
            documents=links_of(slug, decision.number, decision.shown.number),
            waived=waived_of(decision.waivers, now),
        ),
        **addresses_of(slug, decision.number, decision.shown.number),
        **comparisons_of(plan, slug, decision.number, decision.shown.number),
        requirements=requirements_of(decision, now),
        number=decision.number,
        sign=sign_panel(
            decision,
            plan,
            found.reviewing,
            person=request.user.display_name,
            now=now,
            form=Form(
                typed=form or {},
                problems=problems,
                sign_href=reverse("decision-sign", args=[slug, decision.number]),
                open_href=reverse("item-open", args=[slug, decision.number]),
                withdraw=lambda signoff: reverse("signoff-withdraw", args=[slug, decision.number, signoff]),
            ),
        ),
        **threads_of(found, slug),
        events=[event_of(row, reverse("audit-entry", args=[slug, row.seq])) for row in found.events],
    )
    return render(request, "reviews/decision_detail.html", context, status=status)


def _turn_of(decision: DecisionPage, slug: str) -> Strip:
    if decision.is_newest:
        return turn_strip(decision)
    return stale_strip(decision, reverse("decision-detail", args=[slug, decision.number]))


def threads_of(found: DecisionView, slug: str) -> dict[str, Any]:
    """Return the open threads, and how many are about what."""
    place = Place(slug, found.page.number)
    return {"threads": open_lines(found.threads, place), "thread_counts": counts_of(found.threads, place)}


def answer_of(
    plan: Plan, *, query: Query, map_href: str, what_if_href: str, documents: DocumentLinks, waived: Waived
) -> dict[str, Any]:
    """Return what the page says of the plan; lists of candidates have those of the matrix's page."""
    candidates = matrix(plan, query=query, titles=gate_titles(), map_href=map_href, documents=documents, waived=waived)
    shown_trials = tuple(head.trial for head in candidates.heads)
    return {
        "notices": notices(plan),
        "banner": banner(plan, query=query),
        "why": why_rows(plan, query=query),
        "flips": flip_groups(plan, query=query, what_if_href=what_if_href),
        "what_if_href": what_if_href + address(Asked(), query.get("revision")),
        "baseline": plan.baseline,
        "order_text": order_text(plan),
        "order": order(plan, shown_trials),
        "matrix": candidates,
        "words": {"fail": OUTCOMES["FAIL"], "unknown": OUTCOMES["UNKNOWN"], "passed": OUTCOMES["PASS"]},
        "alternatives": alternatives(plan, query=query, map_href=map_href, among=shown_trials),
        "not_selected": len(plan.candidates) - (plan.selected is not None),
        "frontier": frontier(plan, shown_trials),
    }


@require_POST
@page
def decision_sign(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Sign, bound to the subject that the form showed; a refused sign-off keeps what was typed."""
    form = {name: request.POST.get(name, "") for name in FIELDS}
    workspace, here = workspace_of(slug), reverse("decision-detail", args=[slug, number])
    try:
        signoff_give(
            actor=request.user,
            decision_number=number,
            workspace=workspace,
            request_id=request_id(),
            authentication=authentication(request),
            **{name: form[name] for name in ("team", "meaning", "statement", "rollback", "seen_subject")},
            conditions=points_of(form["conditions"]),
            follow_ups=points_of(form["follow_ups"]),
        )
    except ProofNeededError as refused:
        return ask_again(request, refused, back=f"{here}#sign", typed=form)
    except (ConflictError, NotAllowedError, InvalidRequestError) as refused:
        found = decision_view(actor=request.user, workspace=workspace, number=number, team=form["team"])
        return shown(
            request,
            slug,
            found,
            form=form,
            problems=(refused.message,),
            strip=refusal_strip(refused, has_form=found.plan is not None),
            status=refused.status,
        )
    return redirect(f"{here}#requirements")


def addresses_of(slug: str, number: int, revision: int) -> dict[str, str]:
    """Name where the decision's downloads and history are."""
    return {
        "matrix_csv": reverse("matrix-csv", args=[slug, number]) + f"?revision={revision}",
        "plan_json": reverse("plan-json", args=[slug, number]) + f"?revision={revision}",
        "record_href": reverse("decision-record", args=[slug, number]),
        "map_href": reverse("decision-map", args=[slug, number]),
        "map_notes_href": reverse("map-notes", args=[slug, number]) + f"?revision={revision}",
        "history_href": reverse("decision-history", args=[slug, number]),
        "thread_new_href": reverse("thread-new", args=[slug, number]) + f"?revision={revision}",
    }


def comparisons_of(plan: Plan, slug: str, number: int, revision: int) -> dict[str, str]:
    """Name what a revision is compared with: the one before it, and a candidate with the selected one."""
    own = f"{reverse('decision-compare', args=[slug, number])}?revision={revision}&with_revision="
    return {
        "compare_before": f"{own}{revision - 1}" if revision > 1 else "",
        "compare_selected": f"{own}{revision}&{urlencode({'with': plan.selected.trial})}" if plan.selected else "",
    }


def refusal_strip(refused: ReviewError, *, has_form: bool) -> Strip | None:
    """Say what moved under a sign-off, or why it was refused where no form says so."""
    if has_form and not isinstance(refused, ConflictError):
        return None
    moved = moved_text(refused.moved) if isinstance(refused, ConflictError) else ""
    return Strip(
        lead="This decision moved while you read it." if isinstance(refused, ConflictError) else "Not signed.",
        text=f"Changed: {moved}. Your statement is kept." if moved else f"{refused.message} Your statement is kept.",
        icon="fail-o",
        css="fail",
        href="#sign",
        action="Go to your statement",
        is_alert=True,
    )
