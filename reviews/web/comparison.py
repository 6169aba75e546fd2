"""Compare two candidates, two revisions or two decisions: the page, and its tables as files."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.candidate_diff import TrialChange
from planner.document_diff import ABSENT
from reviews.policies.owners import field_owner, limit_owner
from reviews.selectors.comparison import Asked, ComparedSide, ComparisonView, comparison_view
from reviews.web import comparison_rows, map_compare
from reviews.web.comparison_rows import FieldGroup
from reviews.web.csv_text import Value, attachment, csv_response, plain
from reviews.web.decision_head import head_for
from reviews.web.downloads import plain_number
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.map_page import trial_options
from reviews.web.pager import Pager, first_row, pager
from reviews.web.rank_facts import rank_facts

Row = TypeVar("Row")
KEPT = ("revision", "trial", "with_decision", "with_revision", "with", "team", "trials", "fields")
MOST_LISTED = 50
"""Trials that a list offers; of more, the name is typed."""
TRIALS_PER_PAGE = 25
FIELDS_PER_PAGE = 60
HEADERS = {
    "values": (
        *("name", "limit", "unit", "better", "before", "after", "comparator", "limit_before", "limit_after"),
        *("change_share", "effect", "reason"),
    ),
    "outcomes": ("gate", "limit", "owner", "before", "after", "sentence_before", "sentence_after"),
    "candidates": (
        *("trial", "topology_before", "topology_after", "state_before", "state_after", "gates", "other_evidence"),
    ),
    "fields": ("document", "pointer", "change", "before", "after", "owner"),
}


@require_safe
@page
def decision_compare(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Lay a candidate beside another one; without more being said beside that of the revision before."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    view = view_of(request, slug, number)
    context = frame(
        slug,
        "inbox",
        head=head_for(view.page, slug, "decision-compare"),
        view=view,
        own=reverse("decision-compare", args=[slug, number]),
        **chosen(view, slug),
        **compared(view),
        **changed_trials(view, query),
        **changed_fields(view, query),
        **maps(view, slug),
    )
    return render(request, "reviews/decision_compare.html", context)


def view_of(request: PersonRequest, slug: str, number: int, *, whole: bool = False) -> ComparisonView:
    """Return what the address names."""
    return comparison_view(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(request.GET.get("revision", "")),
        trial=request.GET.get("trial", ""),
        base=Asked(
            decision=number_or_none(request.GET.get("with_decision", "")),
            revision=number_or_none(request.GET.get("with_revision", "")),
            trial=request.GET.get("with", ""),
        ),
        whole=whole,
    )


def asked(after: ComparedSide, before: ComparedSide, **more: str) -> str:
    """Return the query that compares ``after`` with ``before``; the decision of ``after`` is in the path."""
    values: dict[str, str | int] = {"revision": after.row.number, "trial": after.trial}
    if before.number != after.number:
        values["with_decision"] = before.number
    values |= {"with_revision": before.row.number, "with": before.trial, **more}
    return urlencode({name: value for name, value in values.items() if value})


def chosen(view: ComparisonView, slug: str) -> dict[str, Any]:
    """Return what the choice of both sides needs."""
    sides = []
    for side, names in ((view.before, ("with", "with_revision")), (view.after, ("trial", "revision"))):
        trials = view.trials_of(side)
        sides.append(
            {
                "side": side,
                "trial_name": names[0],
                "revision_name": names[1],
                "trials": trial_options(side.plan, trials, side.trial) if len(trials) <= MOST_LISTED else (),
                "revisions": [(row.number, row.number == side.row.number) for row in view.page.revisions]
                if side.number == view.page.number
                else [],
                "href": f"{reverse('decision-detail', args=[slug, side.number])}?revision={side.row.number}",
            }
        )
    own = reverse("decision-compare", args=[slug, view.after.number])
    link = f"{own}{{table}}.{{suffix}}?{asked(view.after, view.before)}"
    return {
        "sides": sides,
        "other_decision": view.before.number if view.kind == "decisions" else None,
        "swapped": f"{reverse('decision-compare', args=[slug, view.before.number])}?{asked(view.before, view.after)}",
        "files": {
            table: [(suffix.upper(), link.format(table=table, suffix=suffix)) for suffix in ("csv", "json")]
            for table in HEADERS
        },
    }


def compared(view: ComparisonView) -> dict[str, Any]:
    """Return what is said of the two candidates."""
    rows = {"facts": comparison_rows.facts(view), "caution": comparison_rows.caution_text(view)}
    if view.diff is None:
        return rows
    differing, same = comparison_rows.value_rows(view.diff)
    more = len(view.diff.mismatches) - comparison_rows.MOST_MISMATCHES
    return rows | {
        "refusal": comparison_rows.refusal_text(view.diff),
        "mismatches": comparison_rows.mismatch_rows(view.diff.mismatches),
        "mismatches_more": max(0, more),
        "values": differing,
        "same_values": same,
        "outcomes": comparison_rows.outcome_rows(view.diff, view.policy),
        "same_outcomes": count(view.diff.same_outcomes, "limit"),
    }


def changed_trials(view: ComparisonView, query: Query) -> dict[str, Any]:
    """Return one page of the trials that differ between two plans."""
    shown, around = paged(view.trials, query, "trials", TRIALS_PER_PAGE, "candidate")

    def href(change: TrialChange) -> str:
        return f"?{asked(view.after, view.before, **{'trial': change.trial, 'with': change.trial})}"

    return {"trials": comparison_rows.trial_rows(shown, href), "trials_pager": around}


def changed_fields(view: ComparisonView, query: Query) -> dict[str, Any]:
    """Return one page of the fields that differ, of one team where the address names one."""
    titles = {slug: team.title for slug, team in view.policy.teams.items()}
    every = [(group, row) for group in comparison_rows.field_groups(view.fields, view.policy) for row in group.rows]
    teams = [slug for slug, title in titles.items() if any(title in row.owners for _, row in every)]
    team = query.get("team") if query.get("team") in teams else ""
    rows = [pair for pair in every if not team or titles[team] in pair[1].owners]
    shown, around = paged(rows, query, "fields", FIELDS_PER_PAGE, "field")
    groups: dict[tuple[str, str], list[Any]] = {}
    for group, row in shown:
        groups.setdefault((group.document, group.section), []).append(row)
    return {
        "field_groups": [
            FieldGroup(document=document, section=section, rows=tuple(found))
            for (document, section), found in groups.items()
        ],
        "fields_total": len(rows),
        "fields_pager": around,
        "teams": [
            (
                titles[slug],
                sum(titles[slug] in row.owners for _, row in every),
                query.link("fields", team=slug, fields=None),
                slug == team,
            )
            for slug in teams
        ],
        "all_teams": query.link("fields", team=None, fields=None),
        "team": team,
    }


def paged(rows: Sequence[Row], query: Query, name: str, size: int, what: str) -> tuple[Sequence[Row], Pager]:
    """Return one page of rows, with the words and links around it where there are more."""
    start = first_row(number_or_none(query.get(name)), len(rows), size)
    around = pager(start, len(rows), size, what, lambda page: query.link(name, **{name: page}))
    return rows[start : start + size], around


def maps(view: ComparisonView, slug: str) -> dict[str, Any]:
    """Return what differs between the maps in short, with the way to them."""
    if view.before.records is None or view.after.records is None:
        return {}
    sides = [
        rank_facts(records[0], side.trial, records[1])
        for side in (view.before, view.after)
        if (records := side.records) is not None
    ]
    links = [
        (
            side.name,
            f"{reverse('decision-map', args=[slug, side.number])}?revision={side.row.number}&trial={quote(side.trial)}",
        )
        for side in (view.before, view.after)
    ]
    pair: dict[str, str | int] = {
        "revision": view.before.row.number,
        "trial": view.before.trial,
        "with_revision": view.after.row.number,
        "with": view.after.trial,
    }
    is_one = view.before.number == view.after.number
    return {
        "map_reason": map_compare.reason(view.map, (sides[0], sides[1])),
        "moved": len(view.map.moved) if view.map else None,
        "map_links": [] if is_one else links,
        "map_compare": f"{reverse('map-compare', args=[slug, view.after.number])}?{urlencode(pair)}" if is_one else "",
    }


@require_safe
@page
def comparison_download(request: PersonRequest, slug: str, number: int, table: str, suffix: str) -> HttpResponse:
    """Return one table of the comparison whole, as CSV or JSON; fields of every trial are among them."""
    view = view_of(request, slug, number, whole=table == "fields")
    rows = list(TABLES[table](view))
    name = f"{view.after.label}-r{view.after.row.number}-{view.before.label}-r{view.before.row.number}-{table}.{suffix}"
    if suffix == "csv":
        return csv_response(name, HEADERS[table], rows)
    tree = {
        "before": {"decision": view.before.number, "revision": view.before.row.number, "trial": view.before.trial},
        "after": {"decision": view.after.number, "revision": view.after.row.number, "trial": view.after.trial},
        table: [dict(zip(HEADERS[table], row, strict=True)) for row in rows],
    }
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")


def value_table(view: ComparisonView) -> Iterator[list[Value]]:
    """Yield every value that was measured on a side at least."""
    for row in view.diff.values if view.diff else ():
        yield [
            *(row.name, row.limit_id, row.unit, row.better, plain_number(row.before), plain_number(row.after)),
            *(row.comparator, plain_number(row.limit_before), plain_number(row.limit_after)),
            *(plain(row.change), row.effect, row.reason),
        ]


def outcome_table(view: ComparisonView) -> Iterator[list[Value]]:
    """Yield every limit with another outcome."""
    for row in view.diff.outcomes if view.diff else ():
        yield [
            *(row.gate, row.limit_id, limit_owner(view.policy, row.gate)),
            *(side.outcome if side else None for side in (row.before, row.after)),
            *(side.sentence if side else None for side in (row.before, row.after)),
        ]


def candidate_table(view: ComparisonView) -> Iterator[list[Value]]:
    """Yield every trial that differs."""
    for change in view.trials:
        yield [
            change.trial,
            *(side.topology if side else None for side in (change.before, change.after)),
            *change.states,
            " ".join(f"{gate}:{old or ''}>{new or ''}" for gate, old, new in change.gates),
            "yes" if change.is_measured_anew else "no",
        ]


def field_table(view: ComparisonView) -> Iterator[list[Value]]:
    """Yield every field that differs, values as JSON."""
    for document, change in view.fields:
        sides: list[Value] = [
            None if value is ABSENT else json.dumps(value, ensure_ascii=False)
            for value in (change.before, change.after)
        ]
        yield [document, change.pointer, change.kind, *sides, field_owner(view.policy, change.pointer)]


TABLES = {"values": value_table, "outcomes": outcome_table, "candidates": candidate_table, "fields": field_table}
