"""The rows that nothing beats are those that comparing each with all others leaves."""

from collections.abc import Iterable
from operator import le

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.dominance import Row, unbeaten
from planner.frontier import frontier
from planner.records.plan import FrontierPoint, Ratio

ROWS = st.tuples(st.integers(1, 4), st.sampled_from([2, 5, 40])).flatmap(
    lambda size: st.lists(st.tuples(*[st.integers(0, size[1])] * size[0]), max_size=80)
)


def one_by_one(rows: Iterable[Row]) -> set[Row]:
    different = set(rows)
    return {row for row in different if not any(o != row and all(map(le, o, row)) for o in different)}


@given(ROWS)
def test_the_unbeaten_are_those_that_no_other_row_beats(rows: list[Row]) -> None:
    assert unbeaten(rows) == one_by_one(rows)


def on_a_plane(count: int) -> list[Row]:
    """Rows whose places add up to the same, so that nothing beats any of them."""
    return [(a, b, c, 3 * count - a - b - c) for n in range(count) for a, b, c in [(n, n * 7 % count, n * n % count)]]


def test_thousands_of_rows_that_nothing_beats_are_all_kept() -> None:
    rows = on_a_plane(5_000)
    assert unbeaten(rows) == set(rows)


def test_a_row_that_beats_all_is_the_only_one_kept() -> None:
    assert unbeaten([*((a + 1, b + 1, c + 1, d + 1) for a, b, c, d in on_a_plane(500)), (0, 0, 0, 0)]) == {(0, 0, 0, 0)}


NEAREST = 1 / 3
"""The double that one third and its neighbours below are closest to."""


@pytest.mark.parametrize(
    ("one", "other", "best"),
    [
        pytest.param(Ratio(num=1, den=3), NEAREST, {"a"}, id="a third is above its double"),
        pytest.param(Ratio(num=1, den=3), Ratio(num=1, den=3), {"a", "b"}, id="equal"),
        pytest.param(Ratio(num=10**17, den=3 * 10**17 + 1), Ratio(num=1, den=3), {"b"}, id="two ratios of one double"),
        pytest.param(0.5, 1, {"b"}, id="numbers as written"),
    ],
)
def test_figures_that_share_a_double_are_told_apart_exactly(
    one: int | float | Ratio, other: int | float | Ratio, best: set[str]
) -> None:
    points = [
        FrontierPoint(
            trial=trial,
            state="ELIGIBLE",
            output_tokens_per_s_per_charged_device=rate,
            output_tokens_per_s_per_request=None,
            ttft_ms=None,
            usd_per_million_output_tokens=None,
            non_dominated=False,
        )
        for trial, rate in {"a": one, "b": other}.items()
    ]
    assert {point.trial for point in frontier(points) if point.non_dominated} == best
