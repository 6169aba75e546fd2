"""The calendar of ends as rows: months, weeks, days, pages."""

from datetime import UTC, datetime, timedelta

import pytest

from reviews.selectors.slot_ends import End
from reviews.web.links import Query
from reviews.web.slot_end_rows import PAGE_SIZE, Ends, ends_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def end(days: float, **changes: object) -> End:
    values: dict[str, object] = {
        "at": NOW + timedelta(days=days),
        "kind": "decision",
        "slot": "own/one",
        "number": 1,
        "label": "D-0001",
        "topology": "tp1-pp1-ep1-dp1",
    }
    return End(**values | changes)  # type: ignore[arg-type] # fields by name, typed above


def made(*found: End, **query: str) -> Ends:
    shown = ends_of(
        found,
        Query(tuple(query.items())),
        slot_href=lambda slot: f"/{slot}",
        decision_href=lambda number: f"/{number}",
        now=NOW,
        soon=NOW + timedelta(days=14),
    )
    assert shown is not None
    return shown


def test_without_ends_there_is_no_calendar() -> None:
    none = ends_of([], Query(), slot_href=str, decision_href=str, now=NOW, soon=NOW)
    assert none is None


def test_the_first_month_in_which_something_ends_is_shown() -> None:
    shown = made(end(20), end(21), end(50))
    assert [(month.name, month.ends, month.width, month.is_chosen) for month in shown.months] == [
        ("December 2026", 2, 100, True),
        ("January 2027", 1, 50, False),
    ]
    assert (shown.name, shown.total, shown.months[1].href) == ("December 2026", 2, "?month=2027-01")


@pytest.mark.parametrize("month", ["2027-01", "2027-1", "nonsense", "2031-01"])
def test_another_month_is_chosen_where_something_ends_in_it(month: str) -> None:
    assert made(end(20), end(50), month=month).name == ("January 2027" if month == "2027-01" else "December 2026")


def test_a_day_counts_its_ends_and_leads_to_the_first() -> None:
    shown = made(end(1), end(1.1), end(20))
    days = {day.number: day for week in shown.weeks for day in week if day.ends}
    assert {number: (day.ends, day.is_urgent, day.href) for number, day in days.items()} == {
        1: (2, True, "#d-2026-12-01"),
        20: (1, False, "#d-2026-12-20"),
    }
    assert days[1].label == "1 December 2026: 2 ends"
    assert [line.anchor for line in shown.lines] == ["d-2026-12-01", "", "d-2026-12-20"]


def test_weeks_begin_on_monday_and_leave_other_months_out() -> None:
    shown = made(end(1))
    assert [day.number for day in shown.weeks[0]] == [0, 1, 2, 3, 4, 5, 6]


def test_today_is_marked() -> None:
    shown = made(end(0.1))
    assert [day.number for week in shown.weeks for day in week if day.is_today] == [30]


def test_many_ends_come_in_pages_and_days_lead_to_theirs() -> None:
    many = [end(1 + at / 10_000) for at in range(PAGE_SIZE)] + [end(5)]
    first, second = made(*many), made(*many, page="2")
    assert (len(first.lines), len(second.lines), first.pages, second.page) == (PAGE_SIZE, 1, 2, 2)
    days = {day.number: day.href for week in first.weeks for day in week if day.ends}
    assert days == {1: "#d-2026-12-01", 5: "?month=2026-12&page=2#d-2026-12-05"}
    assert second.lines[0].anchor == "d-2026-12-05"


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            end(1),
            "The age that policy or contract set is reached. The slot runs without a decision in force from then on.",
        ),
        (
            end(1, by_evidence=True),
            "Its evidence is then too old. The slot runs without a decision in force from then on.",
        ),
        (end(1, kind="emergency", name="INC-7"), "For INC-7. It is revoked then, unless its review is done."),
        (end(1, kind="waiver", name="ttft of t-2"), "ttft of t-2. The decision turns stale then."),
        (end(1, kind="evidence"), "In review. It cannot be put into force after that."),
    ],
    ids=["age", "evidence of what is in force", "emergency", "waiver", "review"],
)
def test_what_follows_is_said(one: End, said: str) -> None:
    assert one.follows == said
