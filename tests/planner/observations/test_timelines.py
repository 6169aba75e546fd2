"""Timelines: every rank from its own end of one collective, whatever its clock says, with what it waited."""

import time

import pytest

from planner.importers.trace_calls import Call, Calls
from planner.observations.timelines import Span, timelines
from tests.planner.observations.traces import ALL, MOVE, WORK, trace


def test_ranks_leave_together_whatever_their_clocks_say() -> None:
    calls = trace(5, [ALL], lambda rank, nth, group: WORK + 4000 * (rank == 5), shift=lambda rank: 1e9 * rank)
    found = timelines(calls, "tp-0", 2, most=1)
    assert set(found) == set(range(8))
    assert all(spans[1].end_us == 0 for spans in found.values())
    assert found[5][1] == Span(
        group="tp-0", kind="all_reduce", message_bytes=4096, start_us=-MOVE, end_us=0, waiting_us=0
    )
    assert (found[0][1].start_us, found[0][1].waiting_us) == (-MOVE - 4000, 4000)
    assert [span.end_us for span in found[0]] == [-MOVE - WORK - 4000, 0, MOVE + WORK + 4000]


def test_calls_of_other_groups_stand_in_time() -> None:
    calls = trace(2, [("tp-0", (0, 1)), ("tp-1", (2, 3)), ("pp-0", (1, 2))])
    found = timelines(calls, "tp-0", 1)
    assert set(found) == {0, 1}
    assert [span.group for span in found[1]] == ["tp-0", "pp-0", "tp-0", "pp-0"]
    assert [span.group for span in found[0]] == ["tp-0", "tp-0"]


def test_a_rank_that_never_came_has_no_timeline() -> None:
    calls = trace(3, [ALL], absent=lambda rank, nth: rank == 6 and nth == 2)
    assert 6 not in timelines(calls, "tp-0", 2)
    with pytest.raises(KeyError):
        timelines(calls, "tp-9", 0)


def test_many_groups_of_many_ranks_are_walked_once() -> None:
    calls, many = Calls(), 4000
    for rank in range(many):
        calls.add("tp-0", rank, Call(900.0 * (rank == 0), 1000, "all_reduce", 8, 1))
        calls.add(f"own-{rank}", rank, Call(2000, 2001, "all_reduce", 8, 1))
    began = time.process_time()
    found = timelines(calls, "tp-0", 0)
    assert time.process_time() - began < 2  # every group of every rank, or every rank of every rank, takes far longer
    assert len(found) == many
    assert [span.group for span in found[3]] == ["tp-0", "own-3"]
