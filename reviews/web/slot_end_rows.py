"""What ends when, as a calendar: months with how much ends in each, one month by days, and its ends in words. Pure."""

import calendar
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from reviews.clock import when
from reviews.selectors.slot_ends import End, EndKind
from reviews.web.formats import ago, count
from reviews.web.links import Query, number_or_none
from reviews.web.words import Word

PAGE_SIZE = 50
KINDS: dict[EndKind, Word] = {
    "decision": Word("Decision expires", "wait", "plain"),
    "emergency": Word("Emergency runs out", "stale", "unk"),
    "waiver": Word("Waiver lapses", "stale", "unk"),
    "evidence": Word("Evidence too old", "doc", "plain"),
}
WEEKDAYS = tuple(zip(calendar.day_abbr, calendar.day_name, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthLink:
    """A month, how much ends in it, and how long its bar is, of 100."""

    name: str
    href: str
    ends: int
    width: int
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day of the calendar; ``number`` 0 is one of another month. ``label`` is read aloud where something ends."""

    number: int = 0
    ends: int = 0
    href: str = ""
    label: str = ""
    is_today: bool = False
    is_urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EndLine:
    """Something that ends, and what follows; ``anchor`` is given to the first of its day."""

    anchor: str
    at: str
    ago: str
    word: Word
    slot: str
    slot_href: str
    label: str
    href: str
    topology: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The calendar: months, the chosen one by weeks, and a page of what ends in it."""

    months: tuple[MonthLink, ...]
    name: str
    total: int
    weeks: tuple[tuple[Day, ...], ...]
    lines: tuple[EndLine, ...]
    page: int
    pages: int


def ends_of(
    found: Sequence[End],
    query: Query,
    *,
    slot_href: Callable[[str], str],
    decision_href: Callable[[int], str],
    now: datetime,
    soon: datetime,
) -> Ends | None:
    """Make the calendar; the month that ``query`` names, else the first in which something ends. None without ends."""
    if not found:
        return None
    by_month = Counter(_month(end.at) for end in found)
    chosen = query.get("month") if query.get("month") in by_month else min(by_month)
    inside = [end for end in found if _month(end.at) == chosen]
    pages = -(-len(inside) // PAGE_SIZE)
    asked = number_or_none(query.get("page")) or 1
    page = asked if 1 <= asked <= pages else 1
    start = (page - 1) * PAGE_SIZE
    lines, seen = [], {end.at.date() for end in inside[:start]}
    for end in inside[start : start + PAGE_SIZE]:
        lines.append(_line(end, seen, slot_href(end.slot), decision_href(end.number), now))
        seen.add(end.at.date())
    return Ends(
        months=_months(by_month, chosen, query),
        name=_name(chosen),
        total=len(inside),
        weeks=_weeks(chosen, inside, query, page, now, soon),
        lines=tuple(lines),
        page=page,
        pages=pages,
    )


def _line(end: End, seen: set[date], slot_href: str, href: str, now: datetime) -> EndLine:
    day = end.at.date()
    return EndLine(
        anchor="" if day in seen else _anchor(day),
        at=when(end.at),
        ago=ago(end.at, now),
        word=KINDS[end.kind],
        slot=end.slot,
        slot_href=slot_href,
        label=end.label,
        href=href,
        topology=end.topology,
        text=end.follows,
    )


def _months(by_month: Counter[str], chosen: str, query: Query) -> tuple[MonthLink, ...]:
    most = max(by_month.values())
    return tuple(
        MonthLink(
            name=_name(month),
            href=query.link(month=month, page=None),
            ends=ends,
            width=max(2, 100 * ends // most),
            is_chosen=month == chosen,
        )
        for month, ends in sorted(by_month.items())
    )


def _weeks(
    month: str, inside: Sequence[End], query: Query, page: int, now: datetime, soon: datetime
) -> tuple[tuple[Day, ...], ...]:
    """Return the weeks of a month; a day leads to the first of its ends, on whichever page it stands."""
    year, number = map(int, month.split("-"))
    by_day: dict[int, list[int]] = {}
    for place, end in enumerate(inside):
        by_day.setdefault(end.at.day, []).append(place)

    def day_of(day: int) -> Day:
        places = by_day.get(day, [])
        is_today = day > 0 and (year, number, day) == (now.year, now.month, now.day)
        if not places:
            return Day(number=day, is_today=is_today)
        on = places[0] // PAGE_SIZE + 1
        anchor = _anchor(date(year, number, day))
        return Day(
            number=day,
            ends=len(places),
            href=f"#{anchor}" if on == page else query.link(anchor, month=month, page=on),
            label=f"{day} {_name(month)}: {count(len(places), 'end')}",
            is_today=is_today,
            is_urgent=inside[places[0]].at <= soon,
        )

    return tuple(tuple(map(day_of, week)) for week in calendar.Calendar().monthdayscalendar(year, number))


def _month(at: datetime) -> str:
    return f"{at:%Y-%m}"


def _name(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{calendar.month_name[number]} {year}"


def _anchor(day: date) -> str:
    return f"d-{day:%Y-%m-%d}"
