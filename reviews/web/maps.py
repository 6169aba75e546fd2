"""The rank map of a trial, two of them side by side, and what they show as downloads."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reviews.selectors.maps import MapSource, map_source
from reviews.web import map_compare, map_page
from reviews.web.csv_text import Value, csv_response
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.map_groups import HEADER, group_table
from reviews.web.map_notes import notes_of
from reviews.web.rank_facts import facts_of_view
from reviews.web.rank_metrics import metrics_of
from reviews.web.rank_table import rank_rows
from reviews.web.trial_page import source_of, table_answer


@require_safe
@page
def decision_map(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Draw the rank map of a trial."""
    query = Query.of(request.GET.dict(), keep=map_page.KEPT)
    source = source_of(request, slug, number)
    own = reverse("decision-map", args=[slug, number])
    context = frame(
        slug,
        "inbox",
        head=head_for(source.page, slug, "decision-map"),
        compare_href=reverse("map-compare", args=[slug, number]),
        thread_new_href=new_thread_href(source, slug),
        **map_page.map_context(source, query, own),
    )
    return render(request, "reviews/decision_map.html", context)


def new_thread_href(source: MapSource, slug: str) -> str:
    """Return where a thread about the shown revision begins; empty while it is not planned."""
    shown = source.page.shown
    return f"{reverse('thread-new', args=[slug, source.page.number])}?revision={shown.number}" if shown.plan else ""


@require_safe
@page
def map_notes_count(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Count what must be known of a trial's map, as a part of another page, with the link to it."""
    source = source_of(request, slug, number)
    query = Query.of(request.GET.dict(), keep=("revision", "trial"))
    href = f"{reverse('decision-map', args=[slug, number])}{query.link('notes')}"
    notes = notes_of(source.contract, source.trial)
    return render(request, "reviews/_map_count.html", {"notes": notes, "href": href})


@require_safe
@page
def decision_map_compare(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Lay two maps side by side; the second is another trial of the same revision unless the address says more."""
    query = Query.of(request.GET.dict(), keep=map_compare.KEPT)
    before, after = pair_of(request, slug, number)
    own = reverse("map-compare", args=[slug, number])
    context = frame(
        slug,
        "inbox",
        head=head_for(before.page, slug, "decision-map"),
        own=own,
        map_href=reverse("decision-map", args=[slug, number]),
        moved_csv=f"{own}moved.csv{query.link()}",
        **map_compare.compare_context(before, after, query),
    )
    return render(request, "reviews/decision_map_compare.html", context)


def pair_of(request: PersonRequest, slug: str, number: int) -> tuple[MapSource, MapSource]:
    """Return both sides; without a second trial the first other one, or the same one of another revision."""
    before = source_of(request, slug, number)
    revision = number_or_none(request.GET.get("with_revision", "")) or before.page.shown.number
    others = [trial for trial in before.trial_ids if trial != before.trial_id]
    after = map_source(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=revision,
        trial_id=request.GET.get("with", ""),
        preferred=[*others, before.trial_id] if revision == before.page.shown.number else [before.trial_id],
    )
    return before, after


@require_safe
@page
def moved_download(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Return every rank that stands elsewhere on the second map, as CSV."""
    before, after = pair_of(request, slug, number)
    found = map_compare.difference(facts_of_view(before.view), facts_of_view(after.view))
    name = f"{before.page.label}-moved-ranks.csv"
    return csv_response(name, map_compare.MOVED_HEADER, map_compare.moved_table(found) if found else [])


@require_safe
@page
def ranks_download(request: PersonRequest, slug: str, number: int, suffix: str) -> HttpResponse:
    """Return every rank with its place, groups and metrics, as CSV or JSON."""
    source = source_of(request, slug, number)
    facts = facts_of_view(source.view)
    metrics = metrics_of(source.trial)
    header = ["rank", "node", "device", "nic", "island", "serving_group"]
    header += [f"{kind.id}_group" for kind in facts.kinds] + [metric.id for metric in metrics]
    rows: list[list[Value]] = []
    for row in rank_rows(facts, None, range(len(facts.places)), Query()):
        values: list[Value] = [metric.values[row.rank] for metric in metrics]
        rows.append([row.rank, row.node, row.device, row.nic, row.island, row.serving, *row.groups, *values])
    return table_answer(source, "ranks", suffix, header, rows)


@require_safe
@page
def groups_download(request: PersonRequest, slug: str, number: int, suffix: str) -> HttpResponse:
    """Return every process group with its widest boundary, slowest link and who contends, as CSV or JSON."""
    source = source_of(request, slug, number)
    return table_answer(source, "groups", suffix, HEADER, group_table(facts_of_view(source.view)))
