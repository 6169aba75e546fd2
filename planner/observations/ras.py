"""Snapshots of NCCL RAS as they stand: what one version of it said of communicators and ranks at one moment.

Rules kept: diagnostics, never a verdict: a communicator can be healthy while one rank is late, a job can hang with all
of them "OK", and a mismatch of counts is normal for a moment. Addresses of nodes and process ids are not kept.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.importers.nccl_ras import IMPORTER
from planner.importers.nccl_table import operation_named
from planner.importers.ras_json import communicator_state, counts_of, flags_of, ranks_of
from planner.importers.ras_text import Group, Snapshot, snapshots
from planner.importers.source import Source
from planner.shown import printable

__all__ = ["NO_VERDICT", "Communicator", "RankStatus", "RasSnapshot", "ras_snapshots"]

NO_VERDICT = (
    "A snapshot of one moment and no verdict: a communicator can be healthy while one rank is late, and counts that "
    "differ may agree again a moment later."
)
MOST = 1000
"""Communicators of a snapshot, and ranks of a communicator, that are kept."""
FEW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStatus:
    """A rank that stands out in a communicator: what its status says, and how many operations it had launched."""

    rank: int
    device: int | None
    status: str
    launched: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Communicator:
    """One communicator, or ``count`` alike of a group in the text, which names no ranks.

    ``status`` and ``errors`` are the tool's words; ``operations`` says how counts of operations differ, empty where
    they do not.
    """

    name: str
    count: int
    ranks: int | None
    status: str
    errors: str
    operations: tuple[str, ...] = ()
    standing_out: tuple[RankStatus, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RasSnapshot:
    """One answer of the tool. ``version`` is NCCL's, ``at`` the time that it prints, both empty where it says none."""

    file: str
    line: int
    version: str
    at: str
    nodes: int | None
    devices: int | None
    communicators: tuple[Communicator, ...]
    problems: tuple[str, ...] = ()


def ras_snapshots(source: Source) -> list[RasSnapshot] | None:
    """Return the snapshots of a file in its order; None where it is no answer of ``ncclras``."""
    recognised = IMPORTER.recognise(source)
    if recognised is None:
        return None
    return list(_of_json(source) if recognised.version.startswith("JSON") else _of_text(source))


def _of_text(source: Source) -> Iterator[RasSnapshot]:
    for found in snapshots(source):
        totals = {name: value for name, (value, _) in found.totals.items()}
        yield RasSnapshot(
            file=source.name,
            line=found.line,
            version=found.version[0] if found.version else "",
            at="",
            nodes=totals.get("nodes"),
            devices=totals.get("devices"),
            communicators=tuple(_of_group(group, found) for group in found.groups[:MOST]),
            problems=(
                *(f"the job reports {kind}: processes or ranks do not answer" for kind in found.errors),
                *(f"data of {missing:,} ranks of a communicator is missing" for missing, _ in found.missing_ranks),
            ),
        )


def _of_group(group: Group, found: Snapshot) -> Communicator:
    mine = sorted(text for text in found.mismatches if text.startswith(f"#{group.number}-"))
    return Communicator(
        name=f"group {group.number}",
        count=group.communicators,
        ranks=group.ranks_each,
        status=group.status,
        errors=group.errors,
        operations=tuple(printable(text) for text in mine[:MOST]),
    )


def _of_json(source: Source) -> Iterator[RasSnapshot]:
    for document in source.documents():
        tree = document.tree
        if not isinstance(tree, dict) or not isinstance(tree.get("communicators"), list):
            continue
        found = tree["communicators"]
        every = [rank for one in found for key in ("ranks", "missing_ranks") for rank in ranks_of(one, key)]
        yield RasSnapshot(
            file=source.name,
            line=document.line,
            version=_text(tree.get("nccl_version")),
            at=_text(tree.get("timestamp")),
            nodes=len({repr(rank.get("host")) for rank in every}) or None,
            devices=len({(repr(rank.get("host")), repr(rank.get("cuda_dev"))) for rank in every}) or None,
            communicators=tuple(_of_tree(one, at) for at, one in enumerate(found[:MOST])),
        )


def _of_tree(communicator: Any, at: int) -> Communicator:
    ranks, missing = ranks_of(communicator, "ranks"), ranks_of(communicator, "missing_ranks")
    state = communicator_state(communicator)
    usual = {kind: counts.most_common(1)[0][0] for kind, counts in _by_kind(ranks).items()}
    standing_out = [_status(rank, "missing") for rank in missing]
    standing_out += [_status(rank, "") for rank in ranks if flags_of(rank) or _differs(rank, usual)]
    size = communicator.get("size") if isinstance(communicator, dict) else None
    return Communicator(
        name=f"communicator {at}",
        count=1,
        ranks=size if isinstance(size, int) else len(ranks) + len(missing),
        status="INCOMPLETE" if "INCOMPLETE" in state else "COMPLETE",
        errors=",".join(word for word in state if word != "INCOMPLETE") or "OK",
        operations=tuple(_operations(ranks)),
        standing_out=tuple(standing_out[:MOST]),
    )


def _by_kind(ranks: list[dict[str, Any]]) -> dict[str, Counter[int]]:
    """Return kind of collective -> how many ranks launched how many of it."""
    found: dict[str, Counter[int]] = {}
    for rank in ranks:
        for kind, count in counts_of(rank).items():
            if isinstance(count, int):
                found.setdefault(str(kind)[:64], Counter())[count] += 1
    return found


def _differs(rank: dict[str, Any], usual: dict[str, int]) -> bool:
    return any(usual.get(str(kind)[:64], count) != count for kind, count in counts_of(rank).items())


def _operations(ranks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield for every kind of which ranks launched different numbers who launched how many, the fewest first."""
    for kind, counts in sorted(_by_kind(ranks).items()):
        if len(counts) < 2:
            continue
        parts = []
        for count in sorted(counts)[:FEW]:
            of = [rank.get("rank") for rank in ranks if counts_of(rank).get(kind) == count]
            named = ", ".join(str(one) for one in of) if len(of) <= FEW else f"{len(of)} ranks"
            parts.append(f"{count:,} by {named if len(of) > FEW else ('rank ' if len(of) == 1 else 'ranks ') + named}")
        yield printable(f"{operation_named(kind)}: {'; '.join(parts)}")


def _status(rank: dict[str, Any], otherwise: str) -> RankStatus:
    number, device = rank.get("rank"), rank.get("cuda_dev")
    counts = [count for count in counts_of(rank).values() if isinstance(count, int)]
    return RankStatus(
        rank=number if isinstance(number, int) else -1,
        device=device if isinstance(device, int) else None,
        status=", ".join(flags_of(rank)) or otherwise or "other counts",
        launched=sum(counts) if counts else None,
    )


def _text(value: Any) -> str:
    return printable(value)[:40] if isinstance(value, str) else ""
