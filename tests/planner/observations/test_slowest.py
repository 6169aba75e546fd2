"""Who keeps the others waiting: one rank, one node, one stage, whoever, all together; and who only waited himself."""

import msgspec
import pytest

from planner.importers.trace_calls import Call, Calls
from planner.observations.slowest import Missing, handoff_suggestion, slowest
from planner.observations.slowest_text import slowest_lines
from planner.observations.time_outs import TimeOut, time_outs_in
from planner.records.sections import Handoff
from tests.planner.observations.traces import ALL, MOVE, PLACES, WORK, trace


def slow(*ranks: int, by: float = 5000.0) -> Calls:
    """Return ten rounds in which these ranks are slow in turn."""
    return trace(10, [ALL], lambda rank, nth, group: WORK + (by if rank == ranks[nth % len(ranks)] else 0))


def test_one_slow_rank_is_named_with_its_device() -> None:
    found = slowest(slow(5), PLACES)
    assert (found.pattern, found.rank, found.nodes, found.share) == ("one_rank", 5, ("node-1",), 1.0)
    assert (found.late_collectives, found.collectives) == (10, 10)
    assert found.suggests.startswith("placement, device, host or local contention")
    five = found.ranks[5]
    assert (five.node, five.device, five.late, five.late_p50_us, five.waiting_us) == ("node-1", "g1", 10, 5000, 0)
    assert (found.ranks[0].waiting_us, found.ranks[0].moving_us, found.ranks[0].late) == (50_000, 10 * MOVE, 0)


def test_clocks_of_nodes_that_disagree_change_nothing() -> None:
    ahead = trace(10, [ALL], lambda rank, nth, group: WORK + 5000 * (rank == 5), shift=lambda rank: 9e6 * (rank > 3))
    found = slowest(ahead, PLACES)
    assert (found.pattern, found.rank, found.late_collectives) == ("one_rank", 5, 10)


@pytest.mark.parametrize(
    ("ranks", "stages", "pattern", "nodes"),
    [
        ((4, 5, 6, 7), {}, "one_node", ("node-1",)),
        ((0, 4, 1, 5), {rank: rank % 4 // 2 for rank in range(8)}, "one_stage", ("node-0", "node-1")),
        ((0, 7, 2, 5, 3), {}, "rotating", ()),
    ],
)
def test_what_late_ranks_have_in_common(
    ranks: tuple[int, ...], stages: dict[int, int], pattern: str, nodes: tuple[str, ...]
) -> None:
    found = slowest(slow(*ranks), PLACES, stages=stages)
    assert (found.pattern, found.rank, found.nodes) == (pattern, None, nodes)


def test_nobody_is_late_by_the_time_of_a_launch() -> None:
    found = slowest(slow(5, by=90.0), PLACES)
    assert (found.pattern, found.late_collectives, found.earliest) == ("none", 0, None)
    assert slowest(slow(5, by=90.0), PLACES, late_us=50).rank == 5


def test_slower_moving_without_a_late_rank_is_symmetric() -> None:
    calls = trace(10, [ALL], move=2 * MOVE)
    assert slowest(calls, PLACES, expected_us={("all_reduce", 4096): MOVE}).pattern == "symmetric"
    assert slowest(calls, PLACES, expected_us={("all_reduce", 4096): 2 * MOVE}).pattern == "none"


def test_a_rank_that_was_held_up_elsewhere_is_not_the_cause() -> None:
    groups = [("tp-0", (0, 1)), ("tp-1", (2, 3)), ("pp-0", (1, 2))]
    calls = trace(10, groups, lambda rank, nth, group: WORK + 4000 * (rank == 0 and group == "tp-0"))
    found = slowest(calls, PLACES)
    by_group = {(late.group, late.rank, late.is_cause) for late in found.late if late.nth > 0}
    assert by_group == {("tp-0", 0, True), ("pp-0", 1, False), ("tp-1", 2, False)}
    assert (found.pattern, found.rank) == ("one_rank", 0)
    assert found.earliest is not None
    assert (found.earliest.rank, found.earliest.work_us, found.earliest.usual_us) == (0, 5000, 1000)


def test_a_rank_that_never_came_is_told_from_who_reported_it() -> None:
    calls = trace(10, [ALL], absent=lambda rank, nth: rank == 6 and nth == 9)
    reports = (TimeOut(2, 10, "allreduce", 7), TimeOut(6, 10, "allreduce", 9))
    found = slowest(calls, PLACES, time_outs=reports)
    assert found.missing == (Missing(group="tp-0", rank=6, made=9, most=10),)
    assert (found.pattern, found.rank, found.nodes) == ("one_rank", 6, ("node-1",))
    assert found.reporter == reports[0]


def test_calls_of_different_kinds_are_not_compared() -> None:
    calls = slow(5)
    calls.add("tp-1", 0, Call(0, 1, "all_reduce", 1, 1))
    calls.add("tp-1", 1, Call(0, 9000, "all_gather", 1, 1))
    found = slowest(calls, PLACES)
    assert found.notes == ("tp-1: calls differ between ranks from call 1 on, and are not compared",)
    assert found.collectives == 10


def test_ranks_may_leave_a_broadcast_before_others_come() -> None:
    found = slowest(trace(3, [ALL], lambda rank, nth, group: WORK + 5000 * (rank == 5), kind="broadcast"), PLACES)
    assert (found.pattern, found.late_collectives) == ("none", 0)
    assert found.notes == ("broadcast: ranks may leave before others come, so nobody is called late",)


LOG = """INFO 11-30 12:00:00 loading
[rank2]:[E1130 12:10:00.1 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=4096, Timeout(ms)=600000) ran for 600013 milliseconds
[Rank x] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1
[rank5]:[E1130 12:10:00.3] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE,
"""


def test_the_first_report_of_a_log() -> None:
    found = list(time_outs_in(enumerate(LOG.splitlines(), start=1)))
    assert found == [TimeOut(2, 41, "allreduce", 2), TimeOut(5, 41, "allreduce", 4)]


def test_lines_for_people_tell_the_reporter_from_the_late_rank() -> None:
    found = slowest(slow(5), PLACES, time_outs=(TimeOut(2, 41, "allreduce", 2),))
    assert list(slowest_lines(found, PLACES)) == [
        "pattern=one_rank;late=10 of 10 collectives",
        "points at rank 5 (node-1 g1): 100% of what was late",
        f"look at {found.suggests}",
        "late first: rank 5 (node-1 g1) to call 2 of tp-0, after 6.000 ms of own work where others had 1.000",
        "reported first: rank 2 (node-0 g2), allreduce 41: it waited, and is not who was late first",
        "rank 5 (node-1 g1) came late 10 of 10 times, p50 5.000 ms, most 5.000 ms",
    ]


@pytest.mark.parametrize(
    ("first", "last", "idle", "told"),
    [(2, 4, 0.5, True), (2, 2.1, 0.5, False), (2, 4, 0.05, False), (None, 4, 0.5, False)],
)
def test_transfers_that_queue_while_decode_idles(first: float | None, last: float, idle: float, told: bool) -> None:
    tree = {"queued_first_third_mean": first, "queued_last_third_mean": last, "decode_idle_share": idle}
    assert (handoff_suggestion(msgspec.convert(tree, Handoff)) is not None) is told
