"""The page of a decision's observations: production beside what was qualified, rank by rank, and who reports."""

import json
import shlex
from typing import Any

from django.conf import settings
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from planner.decision_numbers import decision_label
from planner.observations import METRICS
from planner.observations.rollup import Key
from planner.observations.scrapes import MAPPINGS
from reviews.clock import utc_text, when
from reviews.errors import DocumentsRefusedError, NotAllowedError, ReviewError
from reviews.selectors.observations_page import (
    PAGE_SIZE,
    SPANS,
    STATES,
    Asked,
    ObservationsView,
    Shown,
    observations_view,
    shown_or_refused,
)
from reviews.selectors.observed_rows import PAGE_SIZE as LIST_SIZE
from reviews.selectors.observed_rows import FindingRow
from reviews.selectors.observed_values import COLUMNS, value_fields
from reviews.services.observations import observations_take
from reviews.web.byte_text import bytes_text
from reviews.web.csv_text import attachment, csv_response
from reviews.web.decision_head import head_for
from reviews.web.document_links import links_of
from reviews.web.formats import ago, count
from reviews.web.frame import PersonRequest, frame, page, server_of, trace_of, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.observation_rows import (
    MEANINGS,
    SILENT,
    SPAN_WORDS,
    STATE_WORDS,
    finding_line,
    history_lines,
    history_place,
    place_text,
    rows_of,
    source_line,
    strip_of,
)

KEPT = ("metric", "span", "state", "rank", "group", "place", "closed", "page", "open", "sources")
PAGES = ("page", "open", "sources")
"""Fields of an address that name a page of one of the lists."""
MOST_PROBLEMS = 20
TAKEN = {"1": "The batch was taken.", "0": "The same bytes were here already: nothing changed."}
NO_BATCH = (
    "A batch is JSON. The command under From exporters makes one of scrapes; traces and answers of ncclras are for "
    "Slowest rank."
)
NO_PAGE: dict[str, str | int | None] = dict.fromkeys(PAGES)


def asked_of(given: QueryDict) -> Asked:
    """Read what an address asks for; nonsense is as if it were not there."""
    metric, span, state = (given.get(name, "") for name in ("metric", "span", "state"))
    known = metric if metric in METRICS else ""
    place = given.get("place", "")[:64]
    by_number = not known or METRICS[known].of != "link"
    return Asked(
        metric=known,
        span=span if span in SPANS else "day",
        state=state if state in STATES else "",
        rank=number_or_none(given.get("rank", "")),
        group=number_or_none(given.get("group", "")),
        place=(number_or_none(place) if by_number else place) if place else None,
        is_closed=given.get("closed") == "1",
        page=number_or_none(given.get("page", "")) or 1,
        findings_page=number_or_none(given.get("open", "")) or 1,
        sources_page=number_or_none(given.get("sources", "")) or 1,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@page
def decision_observations(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show production beside what was qualified, and take a batch that somebody sends by hand."""
    if request.method != "POST":
        return _shown(request, slug, number)
    sent = request.FILES.get("observations")
    try:
        taken = observations_take(
            actor=request.user,
            workspace=workspace_of(slug),
            raw=b"" if sent is None else bytes(sent.read()),
            trace=trace_of(request),
        )
    except (DocumentsRefusedError, NotAllowedError) as refused:
        return _shown(request, slug, number, refused=refused)
    return redirect(f"{reverse('decision-observations', args=[slug, taken.decision])}?taken={int(taken.is_new)}#report")


def _shown(request: PersonRequest, slug: str, number: int, refused: ReviewError | None = None) -> HttpResponse:
    query = Query.of(request.GET.dict(), keep=KEPT)
    asked = asked_of(request.GET)
    found = observations_view(actor=request.user, workspace=workspace_of(slug), number=number, asked=asked)
    own = reverse("decision-observations", args=[slug, number])
    activation, problems = found.observed.activation, _sentences(refused)
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-observations"),
        is_in_force=activation is not None,
        release_href=reverse("decision-release", args=[slug, number]),
        convert_command=_convert_command(found.page.slot, activation.subject if activation else "DIGEST"),
        post_command=f"topogate observe post batch.json --server {server_of(request)} --workspace {slug}",
        summary=_summary(found),
        silent_after=f"{int(SILENT.total_seconds() // 60)} minutes",
        problems=problems[:MOST_PROBLEMS],
        more_problems=f"and {len(problems) - MOST_PROBLEMS:,} more" if len(problems) > MOST_PROBLEMS else "",
        taken=TAKEN.get(request.GET.get("taken", ""), ""),
        most=bytes_text(settings.OBSERVATION_BYTES),
        **_findings(found, asked, query, slug, number),
        **_sources(found, asked, query),
        **(_table(found.shown, asked, query, slug, number, own) if found.shown else {}),
        **_history(found),
    )
    status = refused.status if refused else 200
    return render(request, "reviews/decision_observations.html", context, status=status)


def _sentences(refused: ReviewError | None) -> tuple[str, ...]:
    """Return why a batch was refused; of what is no JSON where it belongs."""
    if refused is None:
        return ()
    codes = {problem.code for problem in refused.problems} if isinstance(refused, DocumentsRefusedError) else set()
    return (*refused.sentences, *((NO_BATCH,) if "json/syntax" in codes else ()))


def _convert_command(slot: str, subject: str) -> str:
    """Return the command that makes a batch of two scrapes; words in capitals are to be filled in."""
    said = shlex.join(["--slot", slot, "--subject", subject, "--source", "COLLECTOR"])
    places = " ".join(f"--{name} {form}" for name, form in MAPPINGS.items())
    times = "--start FROM_UTC --end UNTIL_UTC"
    return f"topogate observe convert before.txt after.txt {said} {times} {places} > batch.json"


def _summary(found: ObservationsView) -> list[tuple[str, str, str]]:
    """Return title, figure and text of what the page begins with."""
    feed, now = found.observed.feed, timezone.now()
    if feed is None or feed.ended_at is None:
        return []
    activation = found.observed.activation
    topology = activation.topology if activation else ""
    is_silent = now - feed.ended_at > SILENT
    return [
        ("Breaches now", f"{feed.breaches:,}", "above a limit of the contract"),
        ("Drift now", f"{feed.drifts:,}", f"{MEANINGS['DRIFT']}, and no breach"),
        ("Reported until", when(feed.ended_at), f"{ago(feed.ended_at, now)}{'; nothing since' if is_silent else ''}"),
        ("Reported by", count(found.sources_count, "collector"), f"of {topology}"),
    ]


def _findings(found: ObservationsView, asked: Asked, query: Query, slug: str, number: int) -> dict[str, Any]:
    activation = found.observed.activation
    links = links_of(slug, number, activation.revision.number if activation else 1)
    now = timezone.now()
    lines = [
        finding_line(
            row,
            links,
            query.link("metric", metric=row.metric, place=history_place(_key_of(row)), **NO_PAGE),
            now,
        )
        for row in found.findings.rows
    ]
    first = (asked.findings_page - 1) * LIST_SIZE
    more = first + len(lines) < found.findings.total
    return {
        "findings": lines,
        "findings_total": found.findings.total,
        "is_closed": asked.is_closed,
        "open_href": query.link("findings", closed=None, open=None),
        "closed_href": query.link("findings", closed=1, open=None),
        "findings_earlier": query.link("findings", open=asked.findings_page - 1) if first else "",
        "findings_later": query.link("findings", open=asked.findings_page + 1) if more else "",
    }


def _key_of(row: FindingRow) -> Key:
    rank, group = (-1 if value is None else value for value in (row.rank, row.group))
    return Key("", row.metric, rank, group, row.link)


def _sources(found: ObservationsView, asked: Asked, query: Query) -> dict[str, Any]:
    now = timezone.now()
    first = (asked.sources_page - 1) * LIST_SIZE
    more = first + len(found.sources) < found.sources_count
    return {
        "sources": [source_line(row, now) for row in found.sources],
        "sources_total": found.sources_count,
        "sources_earlier": query.link("sources", sources=asked.sources_page - 1) if first else "",
        "sources_later": query.link("sources", sources=asked.sources_page + 1) if more else "",
    }


def _table(shown: Shown, asked: Asked, query: Query, slug: str, number: int, own: str) -> dict[str, Any]:
    """Return one page of the metric's rows, its filters and downloads."""
    total = len(shown.rows)
    start = (asked.page - 1) * PAGE_SIZE
    start = start if start < total else 0
    rows = shown.rows[start : start + PAGE_SIZE]
    at = start // PAGE_SIZE + 1
    links = links_of(slug, number, shown.revision)
    compared = shown.compared
    return {
        "metric": shown.metric,
        "metric_title": METRICS[shown.metric].title if shown.metric else "",
        "metrics": [(name, METRICS[name].title, name == shown.metric) for name in shown.metrics],
        "spans": [(name, text, name == shown.span) for name, text in SPAN_WORDS.items()],
        "states": [(name, STATE_WORDS[name].text, name == asked.state) for name in STATES],
        "asked": asked,
        "hidden": query.hidden("metric", "span", "state", "rank", "group", "place", *PAGES),
        "from_until": f"{when(compared.starts_at)} to {when(compared.ends_at)}"
        if compared.starts_at and compared.ends_at
        else "",
        "covered": f"{float(compared.seconds) / 3600:,.1f} h of it reported",
        "rows": rows_of(rows, shown.places, links, lambda key: query.link("history", place=history_place(key))),
        "total": total,
        "text": f"{start + 1:,}–{start + len(rows):,} of {total:,}",
        "earlier": query.link("metric", page=at - 1) if start else "",
        "later": query.link("metric", page=at + 1) if start + len(rows) < total else "",
        "strip": strip_of(shown),
        "meanings": [(STATE_WORDS[name], text) for name, text in MEANINGS.items()],
        "csv": f"{own}values.csv{query.changed(**NO_PAGE).link(closed=None)}",
        "json": f"{own}values.json{query.changed(**NO_PAGE).link(closed=None)}",
    }


def _history(found: ObservationsView) -> dict[str, Any]:
    shown = found.shown
    if shown is None or found.place is None or not found.history:
        return {"history": ()}
    return {
        "history": tuple(history_lines(found.history, shown.metric)),
        "history_of": place_text(found.place, shown.metric, shown.places),
        "is_count": METRICS[shown.metric].kind == "count",
    }


@require_safe
@page
def observations_download(request: PersonRequest, slug: str, number: int | str, suffix: str) -> HttpResponse:
    """Return every row that was asked for as CSV or JSON.

    Raises:
        NotFoundError: nothing was reported.
    """
    number = int(number)
    asked = asked_of(request.GET)
    shown = shown_or_refused(actor=request.user, workspace=workspace_of(slug), number=number, asked=asked)
    rows = [value_fields(row, shown.places) for row in shown.rows]
    name = f"{decision_label(number)}-{shown.metric}-{shown.span}.{suffix}"
    if suffix == "csv":
        return csv_response(name, COLUMNS, [tuple(row.values()) for row in rows])
    compared = shown.compared
    tree = {
        "metric": shown.metric,
        "starts_at": utc_text(compared.starts_at) if compared.starts_at else None,
        "ends_at": utc_text(compared.ends_at) if compared.ends_at else None,
        "seconds": float(compared.seconds),
        "values": rows,
    }
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")
