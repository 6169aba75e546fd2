"""Comparing a reading with a limit: boundaries, one-sided evidence, and what is missing beside what fails."""

from fractions import Fraction

import pytest

from planner.compare import Comparator, compare
from planner.readings import Reading, Sample, bounded


def sample(
    value: int | None,
    *,
    bound: str = "exact",
    window: str = "w",
    doubts: tuple[str, ...] = (),
    limit: int | None = None,
) -> Sample:
    low, high = (None, None) if value is None else bounded(Fraction(value), bound)
    return Sample(
        value=None if value is None else Fraction(value),
        low=low,
        high=high,
        where=(("window", window),),
        missing=(f"/{window}",) if value is None else (),
        doubts=doubts,
        limit=None if limit is None else Fraction(limit),
    )


def reading(*samples: Sample) -> Reading:
    return Reading(samples=samples, worst_is="highest")


SIDES = {
    ("exact", "<=", 9): "PASS",
    ("exact", "<=", 10): "PASS",
    ("exact", "<=", 11): "FAIL",
    ("exact", ">=", 11): "PASS",
    ("exact", ">=", 10): "PASS",
    ("exact", ">=", 9): "FAIL",
    ("lower", "<=", 10): "UNKNOWN",
    ("lower", "<=", 11): "FAIL",
    ("lower", ">=", 10): "PASS",
    ("lower", ">=", 9): "UNKNOWN",
    ("upper", "<=", 10): "PASS",
    ("upper", "<=", 11): "UNKNOWN",
    ("upper", ">=", 10): "UNKNOWN",
    ("upper", ">=", 9): "FAIL",
    ("none", "<=", 9): "UNKNOWN",
    ("none", ">=", 9): "UNKNOWN",
}


@pytest.mark.parametrize(
    ("bound", "comparator", "value", "outcome"),
    [pytest.param(*case, outcome, id=" ".join(map(str, case))) for case, outcome in SIDES.items()],
)
def test_evidence_of_one_side_answers_one_side(bound: str, comparator: Comparator, value: int, outcome: str) -> None:
    assert compare(reading(sample(value, bound=bound)), comparator, Fraction(10)).outcome == outcome


def test_ratios_are_compared_exactly() -> None:
    rate = Sample(value=Fraction(1, 3), low=Fraction(1, 3), high=Fraction(1, 3), where=())
    result = compare(reading(rate), ">=", Fraction(1, 3))
    assert (result.outcome, result.margin) == ("PASS", Fraction(0))


def test_a_fail_stands_whatever_is_missing_elsewhere() -> None:
    result = compare(reading(sample(None, window="a"), sample(11, window="b")), "<=", Fraction(10))
    assert (result.outcome, result.decides) == ("FAIL", sample(11, window="b"))


def test_a_missing_place_is_never_dropped() -> None:
    result = compare(reading(sample(None, window="a"), sample(1, window="b")), "<=", Fraction(10))
    assert (result.outcome, result.missing, result.would) == ("UNKNOWN", ("/a",), None)


def test_a_doubted_fail_is_unknown_and_would_fail() -> None:
    result = compare(reading(sample(11, doubts=("Broken.",))), "<=", Fraction(10))
    assert (result.outcome, result.would, result.notes) == ("UNKNOWN", "FAIL", ("Broken.",))


def test_a_doubted_pass_beside_a_missing_place_would_be_neither() -> None:
    result = compare(reading(sample(1, doubts=("Broken.",)), sample(None, window="a")), "<=", Fraction(10))
    assert (result.outcome, result.would) == ("UNKNOWN", None)


def test_the_tightest_of_the_failing_places_decides() -> None:
    result = compare(
        reading(sample(11, window="a"), sample(13, window="b"), sample(12, window="c")), "<=", Fraction(10)
    )
    assert (result.decides, result.margin) == (sample(13, window="b"), Fraction(-3))


def test_each_place_may_have_its_own_limit() -> None:
    result = compare(reading(sample(50, window="big", limit=80), sample(40, window="small", limit=41)), "<=")
    assert (result.decides, result.limit, result.margin) == (
        sample(40, window="small", limit=41),
        Fraction(41),
        Fraction(1),
    )


def test_nothing_recorded_is_unknown() -> None:
    assert compare(reading(), "<=", Fraction(10)).outcome == "UNKNOWN"
