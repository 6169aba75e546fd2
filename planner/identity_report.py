"""A machine's identity report (``topogate.identity/v1``): what runs there, from which source, and what is not known.

Rules kept: a value stands in the report because something said it, never because it is usual; where two sources differ,
what was read from the machine stands and the difference is told; what the contract binds and nothing says is listed as
missing. Reports of several hosts are put together only where they do not contradict one another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UnsetType

from planner.errors import PlannerError
from planner.identity import leaves, same
from planner.identity_given import OF_SEVERAL
from planner.intake.opening import opened
from planner.pointers import is_below, joined, steps
from planner.records.identity_report import IdentityReport
from planner.strict_json import read

__all__ = [
    "PLACEMENT",
    "SCHEMA",
    "Conflict",
    "Gathered",
    "IdentityReport",
    "MergeRefusedError",
    "merged",
    "read_report",
    "report_tree",
]

SCHEMA = "topogate.identity/v1"
PLACEMENT = "/placement"
"""The key of what a log says of ranks, among the sources."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that differ about one key; the first one stands."""

    key: str
    kept: Any
    source: str
    other: Any
    other_source: str


class MergeRefusedError(PlannerError):
    """Reports contradict one another; ``conflicts`` names every key."""

    def __init__(self, conflicts: Sequence[str]) -> None:
        super().__init__("; ".join(conflicts))
        self.conflicts = tuple(conflicts)


@dataclass(slots=True)
class Gathered:
    """What was found on a host so far, by pointer below ``identity``; ``absent`` says why a thing is not there."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    inner: dict[str, str] = field(default_factory=dict)
    world_size: int | None = None
    ranks: list[dict[str, Any]] = field(default_factory=list)

    def put(self, key: str, value: Any, source: str) -> None:
        """Take a value; one that says otherwise than an earlier one is a conflict, an object for a value too."""
        path = steps(key)
        above = [joined(path[:length]) for length in range(1, len(path))]
        taken = next((each for each in (*above, key) if each in self.values), self.inner.get(key))
        if taken is None:
            self.values[key] = value
            self.sources[key] = source
            for each in above:
                self.inner.setdefault(each, key)
        elif taken != key or not same(self.values[key], value):
            self.conflicts.append(Conflict(taken, self.values[taken], self.sources[taken], value, source))

    def put_tree(self, tree: Mapping[str, Any], source: str) -> None:
        """Take every leaf of a tree in the shape of a contract's ``identity``."""
        for path, value in leaves(tree):
            if path:
                self.put(joined(path), value, source)

    def lack(self, what: str, because: str) -> None:
        """Say that something could not be had, and why."""
        self.absent.setdefault(what, because)


def report_tree(
    found: Gathered,
    *,
    host: str,
    collected_at: str,
    environment: Mapping[str, str],
    bound: Mapping[str, Any] | None,
    node: str | None = None,
) -> dict[str, Any]:
    """Return the report. ``bound`` is the contract's identity, whose keys without a value are listed as missing.

    ``node`` is which node of the contract the host is, None where that was not said.
    """
    known = {key for key in found.values if found.values[key] is not None}
    missing = [{"what": what, "because": because} for what, because in found.absent.items() if what not in known]
    named = {entry["what"] for entry in missing}
    for path, _ in leaves(bound or {}):
        key = joined(path)
        if path and key not in known and not is_below(key, *named):
            missing.append({"what": key, "because": "nothing at hand says it"})
    return {
        "schema": SCHEMA,
        "host": host,
        **({} if node is None else {"node": node}),
        "collected_at": collected_at,
        "identity": _tree(found.values),
        **_placement(found.world_size, found.ranks),
        "sources": dict(found.sources),
        "conflicts": [
            {
                "what": one.key,
                "kept": one.kept,
                "source": one.source,
                "other": one.other,
                "other_source": one.other_source,
            }
            for one in found.conflicts
        ],
        "missing": missing,
        "environment": dict(environment),
    }


def _placement(world_size: int | None, ranks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ranks that are known, and the rank map where that is all of them."""
    if world_size is None:
        return {}
    ordered = sorted(ranks, key=lambda entry: int(entry["rank"]))
    whole = [entry["rank"] for entry in ordered] == list(range(world_size))
    if whole:
        return {"placement": {"rank_map": [dict(entry) for entry in ordered]}}
    return {"ranks_seen": {"world_size": world_size, "ranks": [dict(entry) for entry in ordered]}}


def _tree(values: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *path, last = steps(key)
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node[last] = value
    return tree


def read_report(raw: bytes) -> IdentityReport:
    """Read a report.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return opened(read(raw), IdentityReport, SCHEMA, lambda tree: ())


def merged(reports: Sequence[IdentityReport]) -> dict[str, Any]:
    """Put reports of several hosts together.

    Raises:
        MergeRefusedError: two of them say otherwise of one key or rank.
    """
    whole = Gathered()
    environments: dict[str, str] = {}
    torn: list[str] = []
    for report in reports:
        host = report.host
        for path, value in leaves(report.identity):
            key = joined(path)
            whole.put(key, value, f"{host}: {report.sources[key]}" if key in report.sources else host)
        for entry in report.missing:
            whole.lack(entry.what, f"{host}: {entry.because}")
        environments |= {f"{host}/{name}": value for name, value in report.environment.items()}
        torn += _take_ranks(whole, report)
    torn += [f"{one.key}: {one.kept!r} ({one.source}), {one.other!r} ({one.other_source})" for one in whole.conflicts]
    if torn:
        raise MergeRefusedError(torn)
    together, first = OF_SEVERAL.join(report.host for report in reports), min(report.collected_at for report in reports)
    return report_tree(whole, host=together, collected_at=first, environment=environments, bound=None)


def _take_ranks(whole: Gathered, report: IdentityReport) -> Iterator[str]:
    if not isinstance(report.placement, UnsetType):
        placed = report.placement.rank_map
        world = len(placed)
    elif not isinstance(report.ranks_seen, UnsetType):
        placed, world = report.ranks_seen.ranks, report.ranks_seen.world_size
    else:
        return
    if whole.world_size not in (None, world):
        yield f"ranks in all: {whole.world_size}, {world} ({report.host})"
        return
    whole.world_size = world
    known = {entry["rank"]: entry for entry in whole.ranks}
    for place in placed:
        entry = msgspec.to_builtins(place)
        if known.setdefault(place.rank, entry) != entry:
            yield f"rank {place.rank}: {known[place.rank]}, {entry} ({report.host})"
    whole.ranks = list(known.values())
