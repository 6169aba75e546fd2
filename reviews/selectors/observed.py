"""What production says of decisions: how many values are out of their envelope now, and any span beside it.

Rules kept: what counts is the topology that was put into force last; values are never averaged over ranks, groups or
links. Not handled: whether a machine is what was decided (``slot_check``).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from django.db.models import F, OuterRef, Subquery

from planner.observations import METRICS, Compared
from planner.observations.packed import BLOCK
from planner.observations.qualified import Qualified
from planner.observations.rollup import Key, Rolled
from reviews.asked_once import once
from reviews.errors import Finding, InvalidRequestError, NotFoundError, printable
from reviews.models import Activation, Decision, ObservationFeed, Person, Workspace
from reviews.selectors.compared_blocks import compared_blocks
from reviews.selectors.decision_page import decision_of_member
from reviews.selectors.envelopes import qualified_of
from reviews.selectors.roll_ups import covered_by, finest_spans, length_of, place_by_span, spans_of

__all__ = [
    "BESIDE",
    "ComparedSpan",
    "FindingCount",
    "Observed",
    "SpanValues",
    "compared_span",
    "feed_of",
    "observed",
    "open_findings",
    "value_history",
]

BESIDE = ("running_requests", "output_tokens", "requests_completed", "requests_failed", "requests_cancelled")
"""What metrics of groups are judged with: the load, the rate of all of them, of how many requests it is a share."""
MOST_SPANS = 24 * 32
"""Hours and days that one answer puts together or lists."""


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How many values are out of their envelope now, and until when production was reported at all."""

    breaches: int = 0
    drifts: int = 0
    last_batch_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is there of a decision: ``feed`` is None where nothing was reported of what was put into force last."""

    decision: Decision
    activation: Activation | None
    feed: ObservationFeed | None
    qualified: Qualified | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSpan:
    """Metrics of a span beside the envelope, the worst first; ``seconds`` is how much of it somebody reported.

    What was reported of it begins at ``starts_at`` and ends at ``ends_at``, None where nothing was.
    """

    rows: tuple[Compared, ...]
    seconds: Fraction
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class SpanValues:
    """What one hour or day had: ``level`` says which, ``rolled`` is by what it is of."""

    level: str
    starts_at: datetime
    rolled: Mapping[Key, Rolled]


def open_findings(workspace: Workspace, decision_ids: Collection[int]) -> Mapping[int, FindingCount]:
    """Return decision id -> what is out of its envelope now, for every id that is given; one query."""
    last = Activation.objects.filter(revision__decision=OuterRef("revision__decision")).order_by("-pk")
    feeds = ObservationFeed.objects.filter(
        revision__decision__in=list(decision_ids), revision__decision__workspace=workspace
    ).annotate(last_revision=Subquery(last.values("revision")[:1]), last_trial=Subquery(last.values("trial")[:1]))
    current = feeds.filter(revision=F("last_revision"), trial=F("last_trial"))
    rows = current.order_by().values_list("revision__decision", "breaches", "drifts", "ended_at")
    known = {decision: FindingCount(breaches, drifts, at) for decision, breaches, drifts, at in rows}
    return {decision_id: known.get(decision_id, FindingCount()) for decision_id in decision_ids}


def feed_of(activation: Activation) -> ObservationFeed | None:
    """Return what was observed of a topology that was put into force."""
    return ObservationFeed.objects.filter(revision=activation.revision_id, trial=activation.trial).first()


@once
def observed(*, actor: Person, workspace: Workspace, number: int) -> Observed:
    """Return what is there of a decision; before it is in force, nothing.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    decision = decision_of_member(actor=actor, workspace=workspace, number=number)
    rows = Activation.objects.filter(revision__decision=decision).select_related(
        "revision__contract", "revision__evidence", "revision__policy", "person"
    )
    activation = rows.order_by("-pk").first()
    if activation is None:
        return Observed(decision=decision, activation=None, feed=None, qualified=None)
    return Observed(
        decision=decision,
        activation=activation,
        feed=feed_of(activation),
        qualified=qualified_of(activation.revision, activation.trial),
    )


def compared_span(
    *, actor: Person, workspace: Workspace, number: int, metric: str, start: datetime, end: datetime
) -> ComparedSpan:
    """Return one metric of a span beside the envelope, for every rank, group or link by itself.

    Raises:
        NotFoundError: no such decision, nothing was reported, or the actor is no member of the workspace.
        InvalidRequestError: there is no such metric, or the span holds too many hours.
        TamperedError: stored bytes are not the ones that were stored.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    if found.activation is None or found.feed is None or found.qualified is None:
        raise NotFoundError(f"Nothing was reported yet of what {found.decision.label} put into force.")
    _require_metric(metric)
    spans = spans_of(found.feed, start, end)
    _require_bounded(len(spans))
    subject = found.activation.subject
    beside = BESIDE if METRICS[metric].of == "group" else ()
    covered = covered_by(spans)
    seconds = length_of(covered)
    rows = compared_blocks(spans, found.qualified, subject, metric, beside=beside, seconds=seconds) if seconds else ()
    return ComparedSpan(
        rows=tuple(rows),
        seconds=seconds,
        starts_at=datetime.fromtimestamp(covered[0][0], UTC) if covered else None,
        ends_at=datetime.fromtimestamp(covered[-1][1], UTC) if covered else None,
    )


def value_history(
    *, actor: Person, workspace: Workspace, number: int, metric: str, place: int | str, days: int = 7
) -> tuple[SpanValues, ...]:
    """Return what one rank or group (its number) or link (its name) had hour by hour, then day by day, oldest first.

    ``days`` counts back from the newest span that was reported.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        InvalidRequestError: there is no such metric, or the span holds too many hours.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    _require_metric(metric)
    if found.activation is None or found.feed is None or found.feed.ended_at is None:
        return ()
    end = found.feed.ended_at
    spans = finest_spans(found.feed, end - timedelta(days=days), end)
    _require_bounded(len(spans))
    block = place // BLOCK if isinstance(place, int) else 0
    held = place_by_span(spans, found.activation.subject, metric, block, place)
    return tuple(SpanValues(span.level, span.starts_at, held.get(span.pk, {})) for span in spans)


def _require_metric(metric: str) -> None:
    if metric not in METRICS:
        expected = f"one of {', '.join(METRICS)}"
        raise InvalidRequestError((Finding("request", "request/metric", "metric", expected, printable(metric)),))


def _require_bounded(spans: int) -> None:
    if spans > MOST_SPANS:
        expected = f"a span of at most {MOST_SPANS:,} hours and days"
        raise InvalidRequestError((Finding("request", "request/span", "start", expected, f"{spans:,}"),))
