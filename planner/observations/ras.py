"""Snapshots of NCCL RAS as they stand: what one version of it said of communicators and ranks at one moment.

Rules kept: diagnostics, never a verdict: a communicator can be healthy while one rank is late, a job can hang with all
of them "OK", and a mismatch of counts is normal for a moment. Addresses of nodes and process ids are not kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from planner.importers.nccl_ras import IMPORTER
from planner.importers.nccl_table import operation_named
from planner.importers.ras_json import communicator_state, counts_of, flags_of, ranks_of
from planner.importers.ras_text import Group, Snapshot, snapshots
from planner.importers.source import Source
from planner.records.base import SAFE_INTEGER
from planner.shown import printable

__all__ = ["NO_VERDICT", "Communicator", "RankStatus", "RasSnapshot", "ras_snapshots"]

NO_VERDICT = (
    "A snapshot of one moment and no verdict: a communicator can be healthy while one rank is late, and counts that "
    "differ may agree again a moment later."
)
MOST = 1000
"""Communicators of a snapshot, and ranks of a communicator, that are kept."""
FEW = 8
KIND_LENGTH = 64


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
    by_kind = _by_kind(ranks)
    usual = {kind: max(counts, key=lambda count: len(counts[count])) for kind, counts in by_kind.items()}
    standing_out = [_status(rank, "missing") for rank in missing]
    standing_out += [_status(rank, "") for rank in ranks if flags_of(rank) or _differs(rank, usual)]
    size = _whole(communicator.get("size")) if isinstance(communicator, dict) else None
    return Communicator(
        name=f"communicator {at}",
        count=1,
        ranks=len(ranks) + len(missing) if size is None else size,
        status="INCOMPLETE" if "INCOMPLETE" in state else "COMPLETE",
        errors=",".join(word for word in state if word != "INCOMPLETE") or "OK",
        operations=tuple(islice(_operations(by_kind), MOST)),
        standing_out=tuple(standing_out[:MOST]),
    )


def _by_kind(ranks: list[dict[str, Any]]) -> dict[str, dict[int, list[int | None]]]:
    """Return kind of collective -> how many of it were launched -> by which ranks, None for one without a number."""
    found: dict[str, dict[int, list[int | None]]] = {}
    for rank in ranks:
        for kind, count in _counted(rank):
            found.setdefault(kind, {}).setdefault(count, []).append(_whole(rank.get("rank")))
    return found


def _counted(rank: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield kind of collective and how many of it a rank has launched."""
    for kind, said in counts_of(rank).items():
        count = _whole(said)
        if count is not None:
            yield str(kind)[:KIND_LENGTH], count


def _differs(rank: dict[str, Any], usual: dict[str, int]) -> bool:
    return any(usual[kind] != count for kind, count in _counted(rank))


def _operations(by_kind: dict[str, dict[int, list[int | None]]]) -> Iterator[str]:
    """Yield for every kind of which ranks launched different numbers who launched how many, the fewest first."""
    for kind, counts in sorted(by_kind.items()):
        if len(counts) < 2:
            continue
        parts = []
        for count in sorted(counts)[:FEW]:
            of = counts[count]
            named = ", ".join("?" if one is None else str(one) for one in of[:FEW])
            who = f"{len(of)} ranks" if len(of) > FEW else f"{'rank' if len(of) == 1 else 'ranks'} {named}"
            parts.append(f"{count:,} by {who}")
        yield printable(f"{operation_named(kind)}: {'; '.join(parts)}")


def _status(rank: dict[str, Any], otherwise: str) -> RankStatus:
    number = _whole(rank.get("rank"))
    counts = [count for _, count in _counted(rank)]
    return RankStatus(
        rank=-1 if number is None else number,
        device=_whole(rank.get("cuda_dev")),
        status=", ".join(flags_of(rank)) or otherwise or "other counts",
        launched=sum(counts) if counts else None,
    )


def _whole(value: Any) -> int | None:
    """Return a number that counts something; ``true`` is none, nor is one that no reader of JSON keeps."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and abs(value) <= SAFE_INTEGER else None


def _text(value: Any) -> str:
    return printable(value)[:40] if isinstance(value, str) else ""
