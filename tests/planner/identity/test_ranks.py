"""Ranks of the world in a log of the collective library: what is printed, nothing where it contradicts itself."""

from collections.abc import Iterable

from planner.identity_ranks import RankSeen, RanksSeen, ranks_seen

WORLD = (
    "INFO parallel_state.py:1208] rank {} in world size 2 is assigned as DP rank 0, PP rank 0, TP rank {}, EP rank 0"
)


def initialised(rank: int, device: int, *, ranks: int = 2, host: str = "host-a", group: str = "0xabc") -> str:
    return (
        f"{host}:4242:4301 [{rank}] NCCL INFO ncclCommInitRank comm 0x55aa rank {rank} nranks {ranks} cudaDev {rank} "
        f"nvmlDev {device} busId 5d000 commId {group} - Init COMPLETE"
    )


def seen(lines: Iterable[str], world_size: int | None = None) -> RanksSeen:
    return ranks_seen(enumerate(lines, start=1), world_size)


def test_the_devices_are_those_of_the_driver() -> None:
    lines = [WORLD.format(0, 0), initialised(0, 4), initialised(0, 4, ranks=1, group="0x1"), initialised(1, 6)]
    assert seen(lines) == RanksSeen(2, (RankSeen(0, "host-a", 4, 2), RankSeen(1, "host-a", 6, 4)))


def test_one_host_shows_its_own_ranks_alone() -> None:
    assert seen([initialised(3, 1, ranks=4)], 4) == RanksSeen(4, (RankSeen(3, "host-a", 1, 1),))


def test_without_the_size_of_the_world_no_communicator_is_it() -> None:
    assert seen([initialised(0, 0)]).because == "the log does not say of how many ranks the world is (--world-size)"
    assert seen([initialised(0, 0)], 8).because == "the log shows no communicator of 8 ranks with its devices"


def test_contradictions_give_no_ranks() -> None:
    assert seen([initialised(0, 0), initialised(0, 1)], 2).because == "the log says two things of one rank of 2"
    assert seen([initialised(2, 0)], 2).because == "the log says two things of one rank of 2"
    other = initialised(0, 1, group="0xdef")
    assert (
        seen([initialised(0, 0), other], 2).because == "communicators of 2 ranks number the devices in different ways"
    )


def test_long_and_other_lines_are_passed_over() -> None:
    assert seen(["x" * 10_000 + initialised(0, 0), "nvmlDev", ""], 2).ranks == ()
