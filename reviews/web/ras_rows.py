"""Snapshots of NCCL RAS as rows of text, in the words of the tool and with its version. Pure.

Rules kept: a snapshot is no verdict, so its words have no colour of one; what stands out comes first, and what is not
shown is counted.
"""

from dataclasses import dataclass

from planner.observations.ras import Communicator, RankStatus, RasSnapshot
from reviews.web.formats import count

MOST_COMMUNICATORS = 40
MOST_RANKS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicatorRow:
    """One communicator, or several alike."""

    name: str
    ranks: str
    status: str
    errors: str
    operations: tuple[str, ...]
    standing_out: tuple[str, ...]
    more: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRow:
    """One snapshot."""

    title: str
    at: str
    where: str
    size: str
    rows: tuple[CommunicatorRow, ...]
    more: str
    problems: tuple[str, ...]


def snapshot_row(found: RasSnapshot) -> SnapshotRow:
    """Make the card of a snapshot."""
    ordered = sorted(found.communicators, key=lambda one: not _is_remarkable(one))
    left = len(ordered) - MOST_COMMUNICATORS
    known = [
        text
        for text in (
            count(found.nodes, "node") if found.nodes else "",
            count(found.devices, "device") if found.devices else "",
            count(sum(one.count for one in found.communicators), "communicator"),
        )
        if text
    ]
    return SnapshotRow(
        title=f"NCCL {found.version}" if found.version else "NCCL, version not printed",
        at=found.at or "time not printed",
        where=f"{found.file}, line {found.line:,}",
        size=", ".join(known),
        rows=tuple(_row(one) for one in ordered[:MOST_COMMUNICATORS]),
        more=f"{count(left, 'more communicator')} in the download" if left > 0 else "",
        problems=found.problems,
    )


def _is_remarkable(one: Communicator) -> bool:
    return one.errors != "OK" or bool(one.operations or one.standing_out) or one.status == "INCOMPLETE"


def _row(one: Communicator) -> CommunicatorRow:
    left = len(one.standing_out) - MOST_RANKS
    return CommunicatorRow(
        name=one.name if one.count == 1 else f"{one.name}, {one.count:,} alike",
        ranks="differ" if one.ranks is None else f"{one.ranks:,}",
        status=one.status,
        errors=one.errors,
        operations=one.operations[:MOST_RANKS],
        standing_out=tuple(map(_rank, one.standing_out[:MOST_RANKS])),
        more=f"{count(left, 'more rank')} in the download" if left > 0 else "",
    )


def _rank(rank: RankStatus) -> str:
    device = "" if rank.device is None else f" on device {rank.device}"
    launched = "" if rank.launched is None else f", {rank.launched:,} operations launched"
    return f"rank {rank.rank}{device}: {rank.status.replace('_', ' ')}{launched}"
