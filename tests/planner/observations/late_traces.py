"""Files of production of ``examples/late-rank``: traces as its ranks write them, and a log of its engine."""

from collections.abc import Callable

from tests.planner.observations.traces import WORK, Group, trace

TENSOR: tuple[Group, ...] = (("tp-0", (0, 1, 2, 3)), ("tp-1", (4, 5, 6, 7)))
DECODE_US = 38.5
"""What the example measured of an all-reduce of ``DECODE_BYTES``."""
DECODE_BYTES = 131072
HEADER = "rank,node,device,group,kind,bytes,start,end\n"


def trace_file(
    work: Callable[[int, int, str], float] = lambda rank, nth, group: WORK,
    *,
    move: float = DECODE_US,
    rounds: int = 20,
    groups: tuple[Group, ...] = TENSOR,
    absent: Callable[[int, int], bool] = lambda rank, nth: False,
) -> bytes:
    """Return a trace in which every tensor group meets ``rounds`` times; ``work`` is what a rank does before, in us."""
    calls = trace(rounds, groups, work, move=move, absent=absent)
    rows = [
        f"{rank},host-{rank // 4},cuda:{rank % 4},{group},AllReduce,{DECODE_BYTES},{call.start},{call.end}\n"
        for group in calls.groups()
        for rank in calls.ranks(group)
        for call in calls.of_rank(group, rank)
    ]
    return (HEADER + "".join(rows)).encode()


def late(*ranks: int, by: float = 4000.0) -> Callable[[int, int, str], float]:
    """Return work of ranks of which these are slow in turn."""
    return lambda rank, nth, group: WORK + (by if rank == ranks[nth % len(ranks)] else 0)


def log_file(rank: int = 0, number: int = 41) -> bytes:
    """Return an engine's log in which a rank reports a time-out."""
    return (
        "INFO 11-30 12:00:00 loading\n"
        f"[rank{rank}]:[E1130 12:10:00.1 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, NumelIn=4096, Timeout(ms)=600000) ran for 600013 ms\n"
    ).encode()
