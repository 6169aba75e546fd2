"""The page of one slot."""

import shlex
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from reviews.clock import when
from reviews.selectors.slot_page import SlotPage, slot_page
from reviews.web.banner_rows import alternatives
from reviews.web.document_links import links_of
from reviews.web.formats import ago, count
from reviews.web.frame import PersonRequest, frame, page, server_of, workspace_of
from reviews.web.links import Query
from reviews.web.matrix_rows import candidate_order
from reviews.web.operate import PAGES
from reviews.web.page_rows import STATES
from reviews.web.proposal_rows import second_strip
from reviews.web.slot_page_rows import (
    MOST_DECISIONS,
    NEAREST,
    Way,
    chosen_of,
    key_lines,
    past_of,
    rollback_of,
    runs_of,
    strips_of,
)
from reviews.web.slot_rows import other_line, production_line, taken_of
from reviews.web.slots import decision_link

OF_OPERATING = {
    "decision-identity": "what each host says it is",
    "decision-observations": "production beside what was qualified",
    "decision-slowest": "the rank that the others wait for",
    "decision-requalification": "what must be measured again, and why",
    "decision-launch": "how the engine is started with this map",
}
"""What is found on the pages of a decision that is run."""


@require_safe
@page
def slot_detail(request: PersonRequest, slug: str) -> HttpResponse:
    """Show everything of the slot that the address names."""
    found = slot_page(actor=request.user, workspace=workspace_of(slug), slot=request.GET.get("slot", ""))
    now = timezone.now()
    fact, decision, link = found.fact, found.fact.decision, decision_link(slug)
    inbox = f"{reverse('decision-list', args=[slug])}?{urlencode({'slot': fact.slot}, safe='/')}"
    context = frame(
        slug,
        "slots",
        slot=fact.slot,
        word=STATES[decision.state],
        decision=decision,
        decision_href=link("decision-detail", decision.number),
        is_in_force=fact.hold == "in_force",
        strips=(
            *strips_of(found, now, now + timedelta(days=settings.EXPIRY_NOTICE_DAYS)),
            *(second_strip(row, slug, of=row.label) for row in found.proposals),
        ),
        others=[other_line(other, link) for other in fact.others],
        past=past_of(fact, link, now),
        past_total=len(fact.decisions),
        past_more=inbox if len(fact.decisions) > MOST_DECISIONS else "",
        inbox_href=inbox,
        check=check_line(request, slug, fact.slot),
        api=request.build_absolute_uri(reverse("api-check", args=[slug])),
        **held_values(slug, found, now),
    )
    return render(request, "reviews/slot_detail.html", context)


def held_values(slug: str, found: SlotPage, now: datetime) -> dict[str, Any]:
    """Return what the page says of what was put into force last; nothing where nothing stands."""
    held, plan, number = found.fact.held, found.plan, found.fact.decision.number
    if held is None or plan is None or found.page is None or found.live is None:
        return {}
    own = f"?revision={held.revision}"
    decision_href = reverse("decision-detail", args=[slug, number]) + own
    map_href = reverse("decision-map", args=[slug, number]) + own
    order = [trial for trial in candidate_order(plan) if trial != held.trial]
    query = Query((("revision", str(held.revision)),))
    until = held.valid_until
    return {
        "held": held,
        "activation": found.page.activation,
        "activated": when(held.activated_at),
        "activated_ago": ago(held.activated_at, now),
        "until": when(until) if until else "",
        "until_ago": ago(until, now) if until else "",
        "banner": chosen_of(plan, held, decision_href.removesuffix(own), is_in_force=found.fact.hold == "in_force"),
        "map_href": f"{map_href}&{urlencode({'trial': held.trial})}",
        "taken": taken_of(held.footprint),
        "subject": found.page.shown.subject,
        "identity": runs_of(found.live, now),
        "identity_because": found.live.because,
        "keys": key_lines(found),
        "production": production_line(found.row.findings, now),
        "more": {name.removeprefix("decision-"): reverse(name, args=[slug, number]) for _, name in PAGES},
        "rollback": rollback_of(found, decision_link(slug), map_href),
        "cells_href": decision_href.removesuffix(own),
        "alternatives": alternatives(plan, query=query, map_href=map_href, among=order[:NEAREST], chosen=held.trial),
        "not_selected": len(order),
        "nearest": f"the nearest {NEAREST} of {count(len(order), 'candidate')}" if len(order) > NEAREST else "",
        "all_href": f"{decision_href}#alternatives",
        "ways": ways_of(slug, found, held.revision, held.trial),
    }


def ways_of(slug: str, found: SlotPage, revision: int, trial: str) -> tuple[Way, ...]:
    """List what is one click away: the decision and its documents, then the pages of a decision that is run."""
    number = found.fact.decision.number
    documents, own = links_of(slug, number, revision), f"?revision={revision}"

    def to(name: str) -> str:
        return reverse(name, args=[slug, number]) + own

    return (
        Way(
            f"Decision {found.fact.decision.label} r{revision}",
            to("decision-detail"),
            "why this one, what would flip it",
        ),
        Way("Rank map", f"{to('decision-map')}&{urlencode({'trial': trial})}", "which rank sits where"),
        Way("Evidence of the trial", documents.to(f"/trials/{trial}"), "every value that was measured"),
        Way("Contract", documents.to("/identity"), "the identity that has to match"),
        Way("Sign-offs and history", to("decision-history"), "who signed what, when"),
        Way(
            "Record of the decision",
            reverse("decision-record", args=[slug, number]),
            "as Markdown, to be kept elsewhere",
        ),
        *(Way(title, reverse(name, args=[slug, number]), OF_OPERATING[name]) for title, name in PAGES),
    )


def check_line(request: PersonRequest, slug: str, slot: str) -> str:
    """Return the command with which a router or a host asks whether the slot runs what holds."""
    server = server_of(request)
    return f"topogate check --slot {shlex.quote(slot)} --identity live.json --server {server} --workspace {slug}"
