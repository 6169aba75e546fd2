"""Observations as rows of text: what was seen, what was qualified, what is allowed, how much of it is used. Pure.

Rules kept: every value stands with its unit, its rank, group or link, and the pointers that its bounds come from; a
range is written as one; what is unknown says why; drift is told apart from a breach, in form, word and colour.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from planner.numbers import exact
from planner.observations import METRICS, Compared
from planner.observations.rollup import Key, Rolled
from planner.observations.words import unit_of
from reviews.clock import when
from reviews.policies.document import team_title
from reviews.selectors.observations_page import Shown, place_of, state_of
from reviews.selectors.observed import SpanValues
from reviews.selectors.observed_rows import FindingRow, SourceRow
from reviews.selectors.roll_ups import source_of
from reviews.web.document_links import DocumentLinks
from reviews.web.formats import ago, count, percent, quantity
from reviews.web.stacked import Fleet, skyline
from reviews.web.words import Word

STATE_WORDS = {
    "BREACH": Word("Breach", "fail", "fail"),
    "DRIFT": Word("Drift", "stale", "unk"),
    "UNKNOWN": Word("Unknown", "unk", "unk"),
    "WITHIN": Word("Within", "pass", "pass"),
    "NO_LIMIT": Word("No limit", "nd", "nd"),
}
MEANINGS = {
    "BREACH": "all that it can be is above the limit",
    "DRIFT": "more than a tenth above what was measured",
    "UNKNOWN": "it may be above or below",
    "WITHIN": "none of it is above the limit",
    "NO_LIMIT": "the contract has none",
}
STRADDLES = "The limit lies inside of what it can be."
SPAN_WORDS = {"hour": "last hour", "day": "last day", "week": "last week"}
SILENT = timedelta(hours=1)
"""A collector that says nothing for longer is called silent."""
MOST_USED = Fraction(5, 4)
"""What fills a bar; the limit stands at four fifths of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBar:
    """How much of a limit is used, of 100: ``css`` is a verdict's, ``width`` is cut at the end of the bar."""

    css: str
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One value beside its bounds."""

    word: Word
    where: str
    place: str
    shape: str
    statistic: str
    seen: str
    because: str
    source: str
    limit: str
    limit_href: str
    qualified: str
    qualified_href: str
    drift: str
    used: str
    bar: UsedBar | None
    history_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingLine:
    """One value that is, or was, out of its envelope."""

    word: Word
    metric: str
    title: str
    where: str
    place: str
    statistic: str
    value: str
    limit: str
    limit_href: str
    qualified: str
    qualified_href: str
    used: str
    bar: UsedBar | None
    team: str
    since: str
    until: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A collector; ``silent`` is empty while it reports."""

    name: str
    until: str
    silent: str
    word: Word
    batches: str
    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """One hour or day of one rank, group or link, for a shape, a phase and a collector."""

    at: str
    level: str
    shape: str
    phase: str
    source: str
    count: str
    mean: str
    least: str
    most: str


def value_text(value: Fraction | float | None, unit: str) -> str:
    """Write a value with its unit; an en dash where there is none."""
    if value is None:
        return "–"
    if unit == "percent":
        return percent(exact(value), signed=False)
    shown = exact(value)
    return quantity(int(shown) if shown.denominator == 1 else float(shown), unit or None)


def range_text(low: Fraction | None, high: Fraction | None, unit: str) -> str:
    """Write what a value can be."""
    if low == high or low is None or high is None:
        return value_text(high if low is None else low, unit) + ("" if high is not None or low is None else " or more")
    return f"{value_text(low, unit)} to {value_text(high, unit)}"


def used_bar(used: Fraction | float | None, state: str) -> UsedBar | None:
    """Return the bar of how much of a limit is used; an unknown one is empty and dashed."""
    if state == "UNKNOWN":
        return UsedBar(css="unk", width=80.0)
    if used is None:
        return None
    css = {"BREACH": "fail", "DRIFT": "drift", "WITHIN": "pass"}.get(state, "plain")
    return UsedBar(css=css, width=float(round(100 * min(exact(used) / MOST_USED, Fraction(1)), 1)))


def where_text(rank: int | None, group: int | None, link: str) -> str:
    """Name the rank, group or link that a value is of."""
    if rank is not None and rank >= 0:
        return f"Rank {rank}"
    if group is not None and group >= 0:
        return f"Group {group}"
    return f"Link {link}" if link else "All groups"


def rows_of(
    rows: Sequence[Compared], places: Mapping[int, tuple[str, str]], links: DocumentLinks, href: Callable[[Key], str]
) -> tuple[Row, ...]:
    """Make the rows of a table; ``href`` leads to the history of what a value is of."""
    return tuple(_row(row, places, links, href(row.key)) for row in rows)


def _row(row: Compared, places: Mapping[int, tuple[str, str]], links: DocumentLinks, href: str) -> Row:
    key, entry, state = row.key, row.entry, state_of(row)
    unit = unit_of(key.metric, entry.statistic)
    return Row(
        word=STATE_WORDS[state],
        where=where_text(key.rank, key.group, key.link),
        place=" · ".join(part for part in places.get(key.rank, ()) if part),
        shape=key.shape,
        statistic=entry.statistic,
        seen=range_text(row.low, row.high, unit),
        because=row.because or (STRADDLES if row.state == "UNKNOWN" else ""),
        source=source_of(row.source),
        limit="" if entry.limit is None else f"≤ {value_text(entry.limit, unit)}",
        limit_href=links.to(entry.limit_at),
        qualified="" if entry.qualified is None else value_text(entry.qualified, unit),
        qualified_href=links.to(entry.qualified_at),
        drift="" if row.drift is None else percent(row.drift),
        used="" if row.used is None else percent(row.used, signed=False),
        bar=used_bar(row.used, state),
        history_href=href,
    )


def finding_line(row: FindingRow, links: DocumentLinks, href: str, now: datetime) -> FindingLine:
    """Make the line of a finding; ``href`` leads to its metric and place."""
    unit = unit_of(row.metric, row.statistic)
    since = f"{when(row.opened_at)} ({ago(row.opened_at, now)})"
    calm = f", back within since {when(row.calm_since)}" if row.calm_since and row.closed_at is None else ""
    shape = f", {row.shape}" if row.shape else ""
    return FindingLine(
        word=STATE_WORDS[row.state],
        metric=row.metric,
        title=METRICS[row.metric].title,
        where=where_text(row.rank, row.group, row.link) + shape,
        place=" · ".join(part for part in (row.node, row.device) if part),
        statistic=row.statistic,
        value=_seen_text(row, unit),
        limit="" if row.limit is None else f"≤ {value_text(row.limit, unit)}",
        limit_href=links.to(row.limit_at),
        qualified="" if row.qualified is None else value_text(row.qualified, unit),
        qualified_href=links.to(row.qualified_at),
        used="" if row.used is None else percent(exact(row.used), signed=False),
        bar=used_bar(row.used, row.state),
        team=team_title(row.team),
        since=f"{since}{calm}",
        until="" if row.closed_at is None else when(row.closed_at),
        href=href,
    )


def _seen_text(row: FindingRow, unit: str) -> str:
    """Write what a finding's value can be; a share of a bound that is zero tells no end of it."""
    bound = row.qualified if row.limit is None else row.limit
    most = row.value_up_to if row.used is not None or bound else row.value
    low, high = (None if end is None else exact(end) for end in (row.value, most))
    return range_text(low, high, unit)


def source_line(row: SourceRow, now: datetime) -> SourceLine:
    """Make the line of a collector."""
    silent = now - row.ended_at > SILENT
    return SourceLine(
        name=row.name,
        until=when(row.ended_at),
        silent=f"last said anything {ago(row.ended_at, now)}" if silent else "",
        word=Word("Silent", "wait", "unk") if silent else Word("Reports", "pass", "plain"),
        batches=count(row.batches, "batch", "batches"),
        person=row.person,
    )


def history_lines(history: Sequence[SpanValues], metric: str) -> Iterator[HistoryLine]:
    """Yield hours and days, the newest first, for every shape, phase and collector by itself."""
    unit = unit_of(metric)
    is_count = METRICS[metric].kind == "count"
    for span in reversed(history):
        for key, rolled in sorted(span.rolled.items()):
            yield HistoryLine(
                at=when(span.starts_at),
                level=span.level,
                shape=key.shape or "all",
                phase=key.phase or "all",
                source=source_of(key.source) or "not known",
                count=f"{rolled.count:,}",
                mean=_mean(rolled, unit, is_count=is_count),
                least=value_text(rolled.min, unit),
                most=value_text(rolled.max, unit),
            )


def _mean(rolled: Rolled, unit: str, *, is_count: bool) -> str:
    """Write the mean, or of what is counted the sum."""
    return value_text(exact(rolled.sum) if is_count else exact(rolled.sum) / rolled.count, unit)


def strip_of(shown: Shown) -> Fleet | None:
    """Draw the highest value of every rank side by side, with the limit; None where the metric is not of ranks."""
    by_rank: dict[int, Compared] = {}
    for row in shown.every:
        if row.key.rank >= 0 and row.high is not None and not row.key.shape:
            known = by_rank.get(row.key.rank)
            by_rank[row.key.rank] = row if known is None or known.high is None or known.high < row.high else known
    if len(by_rank) < 2:
        return None
    ranks = range(len(shown.places) or max(by_rank) + 1)
    highs = [by_rank[rank].high if rank in by_rank else None for rank in ranks]
    limits = [by_rank[rank].entry.limit if rank in by_rank else None for rank in ranks]
    tallest = max((value for value in (*highs, *limits) if value is not None), default=Fraction(0))
    worst = max(by_rank.values(), key=lambda row: (row.high or Fraction(0), -row.key.rank))
    unit = unit_of(shown.metric, worst.entry.statistic)
    return Fleet(
        picture=skyline(("p2",), [None if high is None else (high,) for high in highs], tallest or 1, limits),
        worst_x=worst.key.rank + 0.5,
        label=f"{METRICS[shown.metric].title} of {count(len(by_rank), 'rank')}, the highest "
        f"{value_text(worst.high, unit)} on rank {worst.key.rank}",
    )


def place_text(place: int | str, metric: str, places: Mapping[int, tuple[str, str]]) -> str:
    """Name what a history is of."""
    of = METRICS[metric].of
    named = where_text(*(int(place), None, "")) if of == "rank" else f"{of.capitalize()} {place}"
    at = " · ".join(places.get(int(place), ())) if of == "rank" else ""
    return f"{named}, {at}" if at else named


def history_place(key: Key) -> str:
    """Write what a history is asked for by; empty of the whole deployment."""
    found = place_of(key)
    return "" if found is None else str(found)
