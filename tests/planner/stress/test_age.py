"""Evidence that is older than the contract allows."""

import pytest

from planner.stress.base import NotInjectable
from tests.planner.factories import Changes
from tests.planner.stress.cases import cell, fault, injected

DAY = 24 * 3600
ONE_DAY = Changes(contract=(("/validity", {"max_evidence_age_s": DAY}),))


def test_every_window_gets_older_by_the_maximum_age_and_a_second() -> None:
    found = injected("stale_evidence", None, ONE_DAY)["windows"]
    assert [(found[name]["start"], found[name]["end"]) for name in ("w1", "w2")] == [
        ("2026-09-30T12:09:59Z", "2026-09-30T12:11:39Z"),
        ("2026-09-30T12:19:59Z", "2026-09-30T12:21:39Z"),
    ]


def test_stale_evidence_is_caught_by_freshness_where_an_age_is_declared() -> None:
    found = cell("stale_evidence", None, ONE_DAY)
    assert (found.result, found.gate, found.intended, found.before, found.limit) == (
        "CAUGHT",
        "freshness",
        True,
        42500,
        DAY,
    )
    assert found.after == 42500 + DAY + 1


def test_without_a_maximum_age_the_hole_is_said() -> None:
    found = cell("stale_evidence")
    assert (found.result, found.sentence) == (
        "NOT_DECLARED",
        "No declared limit reads it: declare validity.max_evidence_age_s.",
    )


def test_evidence_that_is_stale_already_masks_the_fault() -> None:
    assert (
        cell("stale_evidence", None, Changes(contract=(("/validity", {"max_evidence_age_s": 1}),))).result == "MASKED"
    )


@pytest.mark.parametrize("age", [2**53 - 1, 3000 * 365 * DAY], ids=["no time delta", "before year 1"])
def test_an_age_that_no_calendar_reaches_is_not_injectable(age: int) -> None:
    found = cell("stale_evidence", None, Changes(contract=(("/validity", {"max_evidence_age_s": age}),)))
    assert (found.result, found.sentence) == ("NOT_INJECTABLE", "A figure gets too large to be written.")


def test_times_without_a_zone_do_not_age() -> None:
    changes = Changes(trial=tuple((f"/windows/{window}/end", "2026-10-01T12:59:00") for window in ("w1", "w2")))
    assert fault("stale_evidence", None, changes)[1] == NotInjectable(sentence="No window has a time in UTC.")
