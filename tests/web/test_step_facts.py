"""Steps and arrivals of ranks: own work among peers, waiting and moving apart, what a pattern suggests."""

import pytest

from reviews.web.memory_facts import window_of
from reviews.web.step_facts import WindowSteps, steps_of
from reviews.web.step_rows import figures, incident_lines, lateness_lines
from tests.web.traces import TRIAL, own_ms, traced_view, traced_window, trees, view_of


def steps_with(**per_rank: list[float | None] | None) -> tuple[WindowSteps, list[str]]:
    """The traced window with metrics of its ranks replaced (None takes one out), and what is said of it."""
    contract, evidence = trees()
    window = traced_window()
    for name, values in per_rank.items():
        if values is None:
            window["per_rank"].pop(name)
        else:
            window["per_rank"][name] = {"scope": "rank", "values": values}
    evidence["trials"][TRIAL]["windows"]["trace"] = window
    view = view_of(contract, evidence)
    steps = steps_of(view, window_of(view, "trace"))
    return steps, list(lateness_lines(view, steps))


def test_own_work_is_compared_with_peers_and_steps_are_not() -> None:
    steps, _ = steps_with()
    slow = steps.ranks[5]
    assert slow.own == 24
    assert slow.step == 30
    assert steps.slowest is slow
    assert {row.step for row in steps.ranks} == {30}


def test_the_highest_share_is_that_of_the_fastest_rank() -> None:
    steps, _ = steps_with()
    assert steps.heaviest is steps.ranks[0]
    assert own_ms(0) == min(own_ms(rank) for rank in range(16))


def test_a_rank_that_stays_slow_is_told_from_slowness_that_moves() -> None:
    stays, moves = steps_with()[1], steps_with(slowest_sample_share=[0.3] * 16)[1]
    assert "Rank 5 is slowest in 94 % of the samples: it stays on this rank." in stays
    assert "Rank 5 is slowest in 30 % of the samples: it moves between ranks." in moves


@pytest.mark.parametrize(
    ("late", "line"),
    [
        pytest.param([5], "One rank is late: look at its placement, device and host.", id="one rank"),
        pytest.param([5, 13], "2 ranks are late, all on node-b: look at that node.", id="one node"),
        pytest.param([1, 5], "2 ranks are late, on several nodes: look at a link that they share.", id="nodes"),
    ],
)
def test_what_the_pattern_suggests(late: list[int], line: str) -> None:
    assert line in steps_with(arrival_lag_ms=[8 if rank in late else 0 for rank in range(16)])[1]


def test_late_ranks_of_later_stages_stand_behind_the_earliest() -> None:
    steps, lines = steps_with(arrival_lag_ms=[7 if rank == 1 else 9 if rank == 5 else 0 for rank in range(16)])
    assert (steps.lateness[0].rank, steps.lateness[0].reporter) == (1, 0)
    assert "Rank 5 of a later stage is late behind rank 1." in lines


def test_even_arrivals_make_nobody_late() -> None:
    steps, _ = steps_with(arrival_lag_ms=[rank % 4 * 0.5 for rank in range(16)])
    assert steps.lateness == ()
    found = list(figures(traced_view(), steps))
    assert (found[1].value, found[1].text) == ("No rank", "The widest spread of arrivals is 1.5 ms, up to rank 3.")


def test_collectives_that_are_not_split_stay_one_time() -> None:
    steps, _ = steps_with(
        collective_wait_ms=None, collective_move_ms=None, arrival_lag_ms=None, collective_ms=[12] * 16
    )
    assert list(steps.ranks[0].parts or ()) == [18, 12, 0, 0]
    found = list(figures(traced_view(), steps))
    assert found[0].text == "On rank 0, the most: waiting and moving are not split."
    assert found[1].value == "Not recorded"


def test_a_rank_without_times_has_no_bar() -> None:
    steps, _ = steps_with(
        step_ms=[None, *[30] * 15], collective_wait_ms=[None, *[9] * 15], collective_move_ms=[None, *[3] * 15]
    )
    assert steps.ranks[0].parts is None
    assert list(steps.ranks[1].parts or ()) == [18, 0, 9, 3]


def test_incidents_of_communication_are_counted() -> None:
    steps, _ = steps_with()
    assert list(incident_lines(steps)) == ["1 collective timeout in this window, the first after 74 s."]


def test_a_refused_layout_has_no_peers() -> None:
    contract, evidence = trees()
    evidence["trials"][TRIAL]["topology"]["instances"][0]["pp"] = 5
    view = view_of(contract, evidence)
    steps = steps_of(view, window_of(view, "sat-1"))
    assert (steps.groups, steps.lateness) == ((), ())


def test_without_steps_the_spread_is_named_and_nobody_is_called_late() -> None:
    steps, _ = steps_with(step_ms=None)
    late = list(figures(traced_view(), steps))[1]
    assert steps.lateness == ()
    assert (late.value, late.text) == (
        "Not known",
        "The widest spread of arrivals is 6 ms, up to rank 5. Late needs step_ms.",
    )
