"""What the page of a decision's observations needs together: one metric of a span beside the envelope, what is out of
it, who reports, and one rank, group or link hour by hour.

Rules kept: the span ends with the newest that was reported, so that a silent collector is seen as that and not as calm;
without a metric it is the one with the worst open finding, else the first that was reported. What is read does not grow
with ranks but for the one metric.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from planner.decision_numbers import decision_label
from planner.observations import METRICS, Compared
from planner.observations.rollup import Key
from reviews.errors import NotFoundError
from reviews.models import ObservationFeed, ObservationFinding, ObservationRollUp, Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.observed import ComparedSpan, Observed, SpanValues, compared_span, observed, value_history
from reviews.selectors.observed_rows import FindingsPage, SourceRow, findings_page, source_rows
from reviews.selectors.roll_ups import DAY, span_of, spans_of
from reviews.selectors.rows import DecisionPage

__all__ = [
    "PAGE_SIZE",
    "SPANS",
    "STATES",
    "Asked",
    "ObservationsView",
    "Shown",
    "observations_view",
    "place_of",
    "shown_of",
    "shown_or_refused",
    "state_of",
]

PAGE_SIZE = 50
SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
STATES = ("BREACH", "DRIFT", "UNKNOWN", "WITHIN", "NO_LIMIT")
HISTORY_DAYS = {"hour": 1, "day": 1, "week": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody looks at. ``place`` is a rank, a group or the name of a link, whatever the metric is of."""

    metric: str = ""
    span: str = "day"
    state: str = ""
    rank: int | None = None
    group: int | None = None
    place: int | str | None = None
    is_closed: bool = False
    page: int = 1
    findings_page: int = 1
    sources_page: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One metric of a span. ``rows`` are those asked for, the worst first; ``places`` is rank -> node and device.

    ``revision`` is the one whose contract and evidence the pointers of the rows lead into.
    """

    revision: int
    metric: str
    metrics: tuple[str, ...]
    span: str
    compared: ComparedSpan
    rows: tuple[Compared, ...]
    places: Mapping[int, tuple[str, str]]

    @property
    def every(self) -> tuple[Compared, ...]:
        """All rows of the metric, whatever was asked for."""
        return self.compared.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationsView:
    """The page. ``shown`` is None where nothing was reported; ``observed`` says then what could be."""

    page: DecisionPage
    observed: Observed
    shown: Shown | None
    findings: FindingsPage
    open_count: int
    sources: tuple[SourceRow, ...]
    sources_count: int
    history: tuple[SpanValues, ...]
    place: int | str | None


def observations_view(*, actor: Person, workspace: Workspace, number: int, asked: Asked) -> ObservationsView:
    """Return what the page shows.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        InvalidRequestError: there is no such metric.
        TamperedError: stored bytes are not the ones that were stored.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    found = observed(actor=actor, workspace=workspace, number=number)
    shown = shown_of(actor=actor, workspace=workspace, number=number, asked=asked)
    findings = findings_page(
        actor=actor, workspace=workspace, number=number, is_open=not asked.is_closed, page=asked.findings_page
    )
    sources, sources_count = source_rows(actor=actor, workspace=workspace, number=number, page=asked.sources_page)
    place = asked.place if asked.place is not None else _worst_place(shown)
    history: tuple[SpanValues, ...] = ()
    if shown is not None and place is not None:
        days = HISTORY_DAYS[shown.span]
        history = value_history(
            actor=actor, workspace=workspace, number=number, metric=shown.metric, place=place, days=days
        )
    return ObservationsView(
        page=page,
        observed=found,
        shown=shown,
        findings=findings,
        open_count=found.feed.breaches + found.feed.drifts if found.feed else 0,
        sources=sources,
        sources_count=sources_count,
        history=history,
        place=place,
    )


def shown_of(*, actor: Person, workspace: Workspace, number: int, asked: Asked) -> Shown | None:
    """Return one metric of a span beside the envelope; None where nothing was reported.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        InvalidRequestError: there is no such metric.
        TamperedError: stored bytes are not the ones that were stored.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    if found.feed is None or found.feed.ended_at is None or found.activation is None or found.qualified is None:
        return None
    end = found.feed.ended_at
    start = _start(asked.span, end)
    metrics = _reported(found.feed, start, end)
    metric = asked.metric or _worst_metric(found.feed) or next(iter(metrics), "")
    compared = compared_span(actor=actor, workspace=workspace, number=number, metric=metric, start=start, end=end)
    return Shown(
        revision=found.activation.revision.number,
        metric=metric,
        metrics=metrics,
        span=asked.span,
        compared=compared,
        rows=tuple(row for row in compared.rows if _is_asked_for(row, asked)),
        places=found.qualified.places,
    )


def shown_or_refused(*, actor: Person, workspace: Workspace, number: int, asked: Asked) -> Shown:
    """Return one metric of a span beside the envelope to somebody who takes it away; see ``shown_of``.

    Raises:
        NotFoundError: no such decision, nothing was reported, or the actor is no member of the workspace.
        InvalidRequestError: there is no such metric.
        TamperedError: stored bytes are not the ones that were stored.
    """
    shown = shown_of(actor=actor, workspace=workspace, number=number, asked=asked)
    if shown is None:
        raise NotFoundError(f"Nothing was reported yet of what {decision_label(number)} put into force.")
    return shown


def state_of(row: Compared) -> str:
    """Return what a row is called: drift is told where no limit is broken."""
    return "DRIFT" if row.drifted and row.state != "BREACH" else row.state


def place_of(key: Key) -> int | str | None:
    """Return the rank, group or link that a value is of; None of the whole deployment."""
    if key.rank >= 0:
        return key.rank
    return key.group if key.group >= 0 else key.link or None


def _is_asked_for(row: Compared, asked: Asked) -> bool:
    return (
        asked.state in ("", state_of(row))
        and asked.rank in (None, row.key.rank)
        and asked.group in (None, row.key.group)
    )


def _start(span: str, end: datetime) -> datetime:
    """Return where a span begins that ends then; a week with a whole day, of which one roll-up is read and not 24."""
    start = end - SPANS[span]
    return span_of(start, DAY) if span == "week" else start


def _reported(feed: ObservationFeed, start: datetime, end: datetime) -> tuple[str, ...]:
    """Return the metrics that a span has, in the order in which metrics are listed."""
    rows = ObservationRollUp.objects.filter(span__in=spans_of(feed, start, end))
    found = set(rows.order_by().values_list("metric", flat=True).distinct())
    return tuple(name for name in METRICS if name in found)


def _worst_metric(feed: ObservationFeed) -> str:
    rows = ObservationFinding.objects.filter(feed=feed, closed_at=None).order_by("state", "-used", "pk")
    return rows.values_list("metric", flat=True).first() or ""


def _worst_place(shown: Shown | None) -> int | str | None:
    places = (place_of(row.key) for row in shown.rows) if shown else ()
    return next((place for place in places if place is not None), None)
