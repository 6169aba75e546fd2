"""Which rank runs on which device of which host, as the collective library prints it in an engine's log.

Rules kept: only a communicator (NCCL, ``NCCL_DEBUG=INFO``) of as many ranks as the world numbers ranks as the engine
does. What two lines say otherwise of one rank is no rank map. Devices are numbers of the driver (``nvmlDev``), which
do not follow ``CUDA_VISIBLE_DEVICES``. Nothing is counted or filled in.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["RankSeen", "RanksSeen", "ranks_seen"]

MAX_LINE = 2000
MAX_RANKS = 65_536
_INIT = re.compile(
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9._-]{0,252}):[0-9]{1,10}:[0-9]{1,10} \[[0-9]{1,4}\] NCCL INFO .{0,80}?"
    r"comm (?P<comm>0x[0-9a-f]{1,16}) rank (?P<rank>[0-9]{1,6}) nranks (?P<ranks>[0-9]{1,6}) "
    r"cudaDev [0-9]{1,4} nvmlDev (?P<device>[0-9]{1,4}) busId (?P<bus>[0-9a-f]{1,12}) "
    r"commId (?P<group>0x[0-9a-f]{1,16})"
)
_WORLD = re.compile(r"rank [0-9]{1,6} in world size ([0-9]{1,6}) is assigned as ")


@dataclass(frozen=True, slots=True)
class RankSeen:
    """A rank: the host as the log names it, the device's number there, and the line."""

    rank: int
    host: str
    device: int
    line: int


@dataclass(frozen=True, slots=True)
class RanksSeen:
    """Ranks of the world, as far as one log shows them, in order. ``because`` says why there are none."""

    world_size: int
    ranks: tuple[RankSeen, ...]
    because: str = ""


def ranks_seen(lines: Iterable[tuple[int, str]], world_size: int | None = None) -> RanksSeen:
    """Return the ranks of the world that a log shows. ``lines`` are numbered; ``world_size`` is what was decided.

    Without it the engine's own words count (``world size 16``).
    """
    groups: dict[tuple[str, int], dict[int, RankSeen]] = {}
    printed: set[int] = set()
    torn: set[tuple[str, int]] = set()
    for number, text in lines:
        line = text[:MAX_LINE]
        if (said := _WORLD.search(line)) is not None:
            printed.add(int(said[1]))
        found = _INIT.search(line) if "nvmlDev" in line else None
        if found is None:
            continue
        key = (found["group"], int(found["ranks"]))
        seen = RankSeen(int(found["rank"]), found["host"], int(found["device"]), number)
        known = groups.setdefault(key, {}).setdefault(seen.rank, seen)
        if (known.host, known.device) != (seen.host, seen.device) or not seen.rank < key[1] <= MAX_RANKS:
            torn.add(key)
    world = world_size if world_size is not None else printed.pop() if len(printed) == 1 else None
    return _chosen(groups, torn, world)


def _chosen(
    groups: Mapping[tuple[str, int], dict[int, RankSeen]], torn: set[tuple[str, int]], world: int | None
) -> RanksSeen:
    if world is None:
        return RanksSeen(0, (), "the log does not say of how many ranks the world is (--world-size)")
    fitting = {key: held for key, held in groups.items() if key[1] == world}
    if not fitting:
        return RanksSeen(world, (), f"the log shows no communicator of {world} ranks with its devices")
    if torn & fitting.keys():
        return RanksSeen(world, (), f"the log says two things of one rank of {world}")
    placed: dict[int, RankSeen] = {}
    for each in (seen for held in fitting.values() for seen in held.values()):
        known = placed.setdefault(each.rank, each)
        if (known.host, known.device) != (each.host, each.device):
            return RanksSeen(world, (), f"communicators of {world} ranks number the devices in different ways")
    return RanksSeen(world, tuple(placed[rank] for rank in sorted(placed)))
