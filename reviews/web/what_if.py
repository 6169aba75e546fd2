"""The page that asks what a decision would be under other limits or readings, several at once."""

from typing import Any

import msgspec
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.version import PLANNER_VERSION
from reviews.selectors.what_if import MOST_OVERRIDES, Asked, WhatIfView, what_if_view
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import number_or_none
from reviews.web.page_rows import Strip
from reviews.web.pager import Pager, pager
from reviews.web.what_if_asked import address, asked_of, asked_of_form, command_of, is_form
from reviews.web.what_if_choices import choices_of
from reviews.web.what_if_rows import PAGE_SIZE, answer_of, asked_rows

INJECTED = Strip(
    lead="Injected overrides.",
    text="Nothing here was measured and nothing is stored: it is no plan, and no sign-off can be bound to it.",
    icon="unk",
    css="unk",
)


@require_safe
@page
def decision_what_if(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show both decisions and what turned between them; the form leads to an address that can be shared."""
    revision = number_or_none(request.GET.get("revision", ""))
    kept = str(revision or "")
    here = reverse("decision-what-if", args=[slug, number])
    if is_form(request.GET):
        return redirect(f"{here}{address(asked_of_form(request.GET), kept)}#answer")
    asked = asked_of(request.GET)
    found = what_if_view(
        actor=request.user, workspace=workspace_of(slug), number=number, revision=revision, asked=asked
    )
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-what-if"),
        strip=INJECTED,
        here=here,
        revision=kept,
        detail_href=reverse("decision-detail", args=[slug, number]),
        most=MOST_OVERRIDES,
        **shown(found, asked, request.GET.get("page", ""), slug, kept),
    )
    return render(request, "reviews/decision_what_if.html", context, status=422 if found.problems else 200)


def shown(found: WhatIfView, asked: Asked, page_text: str, slug: str, revision: str) -> dict[str, Any]:
    """Return what the page says of an answer, and its form; nothing before there is a plan."""
    plan, contract = found.plan, found.contract
    if plan is None or contract is None:
        return {}
    tree = msgspec.to_builtins(contract.record)
    number = found.page.number
    detail_href = reverse("decision-detail", args=[slug, number])
    cells = f"{detail_href}?{f'revision={revision}&' if revision else ''}cell="
    answer = found.answer and answer_of(
        found.answer, plan, asked_page=number_or_none(page_text) or 1, detail_href=cells
    )
    pages = Pager()
    if answer:
        pages = pager(
            answer.start,
            answer.moved,
            PAGE_SIZE,
            "candidate",
            lambda at: f"{address(asked, revision, page=at)}#answer",
        )
    api_href = reverse("api-what-if", args=[slug, number, found.page.shown.number])
    return {
        "rows": asked_rows(asked, plan, tree, found.problems, revision),
        "choices": choices_of(plan, tree) if len(asked) < MOST_OVERRIDES else None,
        "answer": answer,
        "pager": pages,
        "too_large": found.too_large,
        "command": command_of(asked, plan.as_of),
        "json_href": f"{api_href}{address(asked)}" if answer else "",
        "other_planner": "" if plan.planner_version == PLANNER_VERSION else PLANNER_VERSION,
        "is_asked": len(asked) > 0,
    }
