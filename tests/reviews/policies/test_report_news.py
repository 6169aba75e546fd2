"""What of reports that come every minute is told, and what is too often to be told each time."""

from datetime import UTC, datetime, timedelta

from reviews.policies.report_news import KEYS_KEPT, Course, News, course_after, refused_again

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEY = "/stack/engine/version"


def after(changes: int, *, every: timedelta = MINUTE) -> tuple[Course, list[News]]:
    """Let a place say something else so many times."""
    course, first = course_after(None, is_same=False, keys=[], now=NOW)
    told = [first]
    for turn in range(1, changes + 1):
        keys = [KEY] if turn % 2 else []
        course, news = course_after(course, is_same=False, keys=keys, now=NOW + turn * every)
        told.append(news)
    return course, told


def test_the_first_changes_are_told_each_and_then_that_it_flaps() -> None:
    course, told = after(6)
    assert told == [*[News.NEW] * 4, News.FLAPS, News.NOTHING, News.NOTHING]
    assert (course.changes, course.flaps_since, course.flapped) == (6, NOW + 4 * MINUTE, (KEY,))


def test_changes_that_lie_an_hour_apart_are_told_for_ever() -> None:
    assert set(after(9, every=timedelta(hours=1))[1]) == {News.NEW}


def test_what_says_the_same_is_nothing_new() -> None:
    course, _ = after(1)
    assert course_after(course, is_same=True, keys=[KEY], now=NOW + timedelta(days=2)) == (course, News.NOTHING)


def test_who_flapped_has_settled_after_saying_the_same_for_an_hour() -> None:
    course, _ = after(6)
    soon, late = course.since + timedelta(minutes=59), course.since + timedelta(minutes=60)
    assert course_after(course, is_same=True, keys=[], now=soon) == (course, News.NOTHING)
    assert course_after(course, is_same=True, keys=[], now=late) == (Course(since=course.since), News.SETTLED)


def test_who_flaps_and_is_silent_for_long_flaps_still_if_it_says_something_else() -> None:
    course, _ = after(5)
    found, news = course_after(course, is_same=False, keys=[KEY], now=NOW + timedelta(days=1))
    assert (found.changes, found.flaps_since, news) == (6, course.flaps_since, News.NOTHING)


def test_the_keys_of_a_place_that_flaps_are_kept_up_to_a_bound() -> None:
    course, _ = after(4)
    keys = [f"/stack/flags/{number}" for number in range(200)]
    found, _ = course_after(course, is_same=False, keys=keys, now=NOW + 5 * MINUTE)
    assert found.flapped == tuple(keys[:KEYS_KEPT])


def test_a_refusal_is_news_once_for_each_reason_and_again_after_a_day_without() -> None:
    kept, is_known = refused_again("", ["clock", "host"], NOW)
    assert not is_known
    kept, is_known = refused_again(kept, ["host"], NOW + timedelta(hours=23))
    assert is_known
    kept, is_known = refused_again(kept, ["host"], NOW + timedelta(hours=46))
    assert is_known
    kept, is_known = refused_again(kept, ["clock"], NOW + timedelta(hours=46))
    assert not is_known
    late = NOW + timedelta(days=9)
    assert refused_again(kept, ["size"], late)[0] == f'{{"size":{int(late.timestamp())}}}'
