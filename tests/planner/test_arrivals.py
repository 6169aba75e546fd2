"""Arrivals: who is late, who would report it first, and what arrivals are read from."""

from fractions import Fraction
from typing import Any

import pytest

from planner.arrivals import GroupArrivals, arrivals, earliest_late, late_ranks
from planner.readings import WindowView
from tests.web.traces import TRIAL, traced_window, trees, view_of


def window_with(**per_rank: Any) -> WindowView:
    contract, evidence = trees()
    window = traced_window()
    window["per_rank"] = {name: {"scope": "rank", "values": values} for name, values in per_rank.items()}
    evidence["trials"][TRIAL]["windows"]["trace"] = window
    return view_of(contract, evidence).stretches("saturated", "instrumented")[0]


def group(late: tuple[int, ...], **behind: int) -> GroupArrivals:
    ranks = {int(rank[1:]): Fraction(value) for rank, value in behind.items()}
    return GroupArrivals(ranks=tuple(ranks), behind=ranks, late=late)


def test_recorded_lags_are_counted_from_the_first_of_the_group() -> None:
    window = window_with(arrival_lag_ms=[5, 7.5, 5, 6, *[0] * 12])
    source, found = arrivals(window, [(0, 1, 2, 3)])
    assert source == "arrival_lag_ms"
    assert found[0].behind == {0: 0, 1: Fraction("2.5"), 2: 0, 3: 1}
    assert (found[0].first, found[0].last, found[0].spread) == (0, 1, Fraction("2.5"))


def test_without_lags_the_longest_wait_came_first() -> None:
    window = window_with(collective_wait_ms=[1, 9, 4, 9, *[0] * 12])
    source, found = arrivals(window, [(0, 1, 2, 3)])
    assert source == "collective_wait_ms"
    assert found[0].behind == {0: 8, 1: 0, 2: 5, 3: 0}
    assert (found[0].first, found[0].last) == (1, 0)


def test_a_group_with_a_missing_rank_has_no_arrivals() -> None:
    window = window_with(arrival_lag_ms=[None, *[1] * 15])
    assert [found.ranks for found in arrivals(window, [(0, 1), (2, 3), (4,)])[1]] == [(2, 3)]


def test_nothing_recorded_is_no_source() -> None:
    assert arrivals(window_with(step_ms=[1] * 16), [(0, 1)]) == (None, ())


@pytest.mark.parametrize(
    ("behind", "step", "late"),
    [
        pytest.param([0, 6, 1, 1], 30, (1,), id="far behind the others"),
        pytest.param([0, 3, 1, 1], 30, (), id="less than a tenth of the step"),
        pytest.param([0, 4, 1, 1], 30, (), id="exactly a tenth of the step"),
        pytest.param([0, 9, 1, 1], None, (), id="no step to hold it against"),
        pytest.param([0, 9, 0, 9], 30, (), id="within one deviation"),
        pytest.param([0, 0, 0, 0, 9, 8], 30, (4, 5), id="two of them"),
    ],
)
def test_late_is_beyond_a_deviation_and_a_tenth_of_the_step(
    behind: list[int], step: int | None, late: tuple[int, ...]
) -> None:
    ranks = {rank: Fraction(value) for rank, value in enumerate(behind)}
    assert late_ranks(ranks, None if step is None else Fraction(step)) == late


def test_the_late_rank_of_the_earliest_stage_is_named_before_one_that_is_further_behind() -> None:
    groups = [group((5,), r4=0, r5=9, r6=0), group((1,), r0=0, r1=6, r2=0)]
    assert earliest_late(groups, {0: 0, 1: 0, 2: 0, 4: 1, 5: 1, 6: 1}) == (1, (5,))


def test_of_one_stage_the_rank_furthest_behind_is_named() -> None:
    groups = [group((1,), r0=0, r1=6, r2=0), group((5,), r4=0, r5=9, r6=0)]
    assert earliest_late(groups, {}) == (5, ())


def test_nobody_late_is_nobody() -> None:
    assert earliest_late([group((), r0=0, r1=1)], {}) is None
