"""Traces of ranks that work, meet in collectives and go on: who is slow is decided, who waits follows."""

from collections.abc import Callable, Sequence

from planner.importers.trace_calls import Call, Calls

MOVE = 200.0
WORK = 1000.0
Group = tuple[str, tuple[int, ...]]


def trace(
    rounds: int,
    groups: Sequence[Group],
    work: Callable[[int, int, str], float] = lambda rank, nth, group: WORK,
    *,
    kind: str = "all_reduce",
    shift: Callable[[int], float] = lambda rank: 0.0,
    move: float = MOVE,
    absent: Callable[[int, int], bool] = lambda rank, nth: False,
) -> Calls:
    """Return the calls of ``rounds`` in which every group meets once, in order; ``shift`` sets the clocks of ranks."""
    calls = Calls()
    free: dict[int, float] = {}
    for nth in range(rounds):
        for name, ranks in groups:
            begins = {rank: free.get(rank, 0.0) + work(rank, nth, name) for rank in ranks}
            end = max(begins.values()) + move
            for rank, begin in begins.items():
                free[rank] = end
                if not absent(rank, nth):
                    calls.add(name, rank, Call(begin + shift(rank), end + shift(rank), kind, 4096, 1))
    return calls


PLACES = {rank: (f"node-{rank // 4}", f"g{rank % 4}") for rank in range(8)}
ALL: Group = ("tp-0", tuple(range(8)))
