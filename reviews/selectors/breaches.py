"""What production breaks now and somebody has to act on: of decisions that are theirs, or limits that their teams own.

Rules kept: what counts is the topology that was put into force last; a decision is named once, with the worst that
concerns the reader, because a fault spreads over thousands of ranks; two queries, however many there are, one more
where not all are shown, and one where nothing is broken.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, OuterRef, Q, Subquery, Window
from django.db.models.functions import RowNumber

from reviews.facts import Standing
from reviews.models import Activation, FindingState, ObservationFeed, ObservationFinding, Revision, Workspace
from reviews.policies.transitions import FINAL
from reviews.selectors.finding_words import finding_text

__all__ = ["BreachRow", "Breaches", "breaches_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreachRow:
    """A decision whose production is above a limit: ``text`` says the worst, ``count`` how many concern the reader.

    ``since`` is when the first of them was seen, ``team`` owns the limit of the worst.
    """

    number: int
    label: str
    title: str
    slot: str
    revision: int
    text: str
    count: int
    team: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Breaches:
    """The decisions that are broken longest, or those of one page, of ``total`` that concern the reader."""

    rows: tuple[BreachRow, ...] = ()
    total: int = 0


def breaches_of(standing: Standing, workspace: Workspace, most: int, page: int = 1) -> Breaches:
    """Return the decisions that concern a member now, that which is broken longest first, so many on a page.

    A page that does not exist is as if the first was asked for.
    """
    if not ObservationFeed.objects.filter(breaches__gt=0, revision__decision__workspace=workspace).exists():
        return Breaches()
    newest = Revision.objects.filter(decision=OuterRef("feed__revision__decision")).order_by("-number")
    last = Activation.objects.filter(revision__decision=OuterRef("feed__revision__decision")).order_by("-pk")
    concerning = ObservationFinding.objects.filter(
        closed_at=None,
        state=FindingState.BREACH,
        feed__breaches__gt=0,
        feed__revision__decision__workspace=workspace,
        feed__revision=Subquery(last.values("revision")[:1]),
        feed__trial=Subquery(last.values("trial")[:1]),
    ).exclude(feed__revision__decision__state__in=FINAL)
    own = Q(team__in=standing.teams) | Q(author=standing.person_id)
    ranked = (
        concerning.annotate(author=Subquery(newest.values("author")[:1]))
        .filter(own)
        .annotate(
            at=Window(RowNumber(), partition_by=F("feed"), order_by=(F("used").desc(nulls_last=True), F("pk").asc())),
            count=Window(Count("pk"), partition_by=F("feed")),
            since=Window(Min("opened_at"), partition_by=F("feed")),
        )
        .filter(at=1)
    )
    found = ranked.select_related("feed__revision__decision").order_by("since", "pk")
    total = ranked.count() if page > 1 else None
    start = (page - 1) * most if total is not None and (page - 1) * most < total else 0
    rows = tuple(_row(finding, finding.count, finding.since) for finding in found[start : start + most])
    if total is None:
        total = len(rows) if len(rows) < most else ranked.count()
    return Breaches(rows, total)


def _row(finding: ObservationFinding, count: int, since: datetime) -> BreachRow:
    revision = finding.feed.revision
    decision = revision.decision
    return BreachRow(
        number=decision.number,
        label=decision.label,
        title=decision.title,
        slot=decision.slot,
        revision=revision.number,
        text=finding_text(finding),
        count=count,
        team=finding.team,
        since=since,
    )
