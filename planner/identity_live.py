"""What reports of single hosts say of a decided identity, and what they say together.

Rules kept: a host answers for what it says and for nothing else, so a key that it does not say is waited for and is no
difference; nor does it answer for the hardware of another node; together the hosts match only where every bound key and
every decided rank was said and is equal. What one host says otherwise than another is named. Not handled here: how old
a report may be, and who sent it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UnsetType

from planner.identity import UNKNOWN, leaves, same
from planner.identity_check import RANK_MAP, KeyDifference, RankDifference, rank_differences
from planner.pointers import is_below, joined, steps
from planner.records.identity_report import IdentityReport

__all__ = [
    "Decided",
    "Said",
    "Seen",
    "Together",
    "placed_of",
    "places_of",
    "rank_key",
    "said_by_whole",
    "said_of",
    "seen_in",
    "together",
]

RANKS = "/placement/rank_map"
WORLD = "/placement/world_size"
LABEL = "TOPOGATE_RANK_MAP"
CONTRADICTIONS_NAMED = 50


@dataclass(frozen=True)
class Decided:
    """A decided identity: bound keys in the order of the contract, and the rank map in the order of ranks.

    ``nodes`` is pointer -> node, for keys that only the host of that node can say.
    """

    keys: tuple[tuple[str, Any], ...]
    ranks: tuple[Mapping[str, Any], ...]
    rank_map_digest: str
    nodes: Mapping[str, str]

    @classmethod
    def of(
        cls,
        identity: Mapping[str, Any],
        rank_map: Sequence[Mapping[str, Any]],
        *,
        rank_map_digest: str,
        requalify_on: Sequence[str] | None = None,
    ) -> "Decided":
        """Return what a contract's identity and a trial's rank map bind, limited as by ``validity.requalify_on``."""
        found = [(joined(path), path, value) for path, value in leaves(identity)]
        bound = [one for one in found if requalify_on is None or is_below(f"/identity{one[0]}", *requalify_on)]
        nodes = {key: node for key, path, _ in bound if (node := _node_of(identity, path))}
        ranks = tuple(sorted(rank_map, key=lambda entry: int(entry["rank"])))
        return cls(tuple((key, value) for key, _, value in bound), ranks, rank_map_digest, nodes)

    @cached_property
    def by_rank(self) -> Mapping[int, tuple[int, Mapping[str, Any]]]:
        """Rank -> its place in ``ranks``, and its entry."""
        return {entry["rank"]: (at, entry) for at, entry in enumerate(self.ranks)}

    @cached_property
    def by_path(self) -> Mapping[tuple[str, ...], int]:
        """Path of a key -> its place in ``keys``; a host says few of very many."""
        return {steps(key): at for at, (key, _) in enumerate(self.keys)}

    @cached_property
    def places(self) -> frozenset[str]:
        """The nodes that were decided: where ranks run, and of which the contract states the hardware."""
        return frozenset((*(str(entry["node"]) for entry in self.ranks), *self.nodes.values()))

    @property
    def every_key(self) -> int:
        """A set bit for every key."""
        return (1 << len(self.keys)) - 1

    @property
    def every_rank(self) -> int:
        """A set bit for every rank."""
        return (1 << len(self.ranks)) - 1


def _node_of(identity: Mapping[str, Any], path: Sequence[str]) -> str:
    if len(path) < 3 or path[0] != "hardware":
        return ""
    if path[1] == "nodes":
        return path[2]
    part = identity["hardware"][path[1]][path[2]]
    node = part.get("node") if isinstance(part, Mapping) else None
    return node if isinstance(node, str) else ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a report says of ranks: so many in all (None where it does not say), and the places of some."""

    world_size: int | None = None
    ranks: tuple[Mapping[str, Any], ...] = ()
    digest: str = ""


def placed_of(report: IdentityReport) -> Seen:
    """Return what a report says of ranks."""
    if not isinstance(report.placement, UnsetType):
        ranks = tuple(msgspec.to_builtins(place) for place in report.placement.rank_map)
        return Seen(len(ranks), ranks)
    if not isinstance(report.ranks_seen, UnsetType):
        return Seen(
            report.ranks_seen.world_size, tuple(msgspec.to_builtins(place) for place in report.ranks_seen.ranks)
        )
    return Seen()


@dataclass(frozen=True, slots=True)
class Said:
    """What one report says: bits of the keys and ranks that are as decided, and what differs.

    Differences of ranks have keys below ``/placement/rank_map``. ``unknown`` are bits of keys said to be unknown,
    ``nics`` of ranks that run where they were decided, as far as was said, but for their NIC, which was not.
    """

    keys: int = 0
    ranks: int = 0
    unknown: int = 0
    differs: tuple[KeyDifference, ...] = ()
    nics: int = 0


def places_of(bits: int) -> list[int]:
    """Return the places of the set bits, in order; a shift for each would copy the whole number."""
    digits = bin(bits)[:1:-1]
    found, at = [], digits.find("1")
    while at >= 0:
        found.append(at)
        at = digits.find("1", at + 1)
    return found


def seen_in(live: Mapping[str, Any]) -> Seen:
    """Return what a whole identity says of ranks: its ``placement`` holds a rank map, or the digest of one."""
    placement = live.get("placement")
    if not isinstance(placement, Mapping):
        return Seen()
    ranks = placement.get("rank_map")
    if isinstance(ranks, list):
        known = {one["rank"]: one for one in ranks if isinstance(one, Mapping) and type(one.get("rank")) is int}
        return Seen(len(ranks), tuple(known.values()))
    digest = placement.get("rank_map_digest")
    return Seen(digest=digest if isinstance(digest, str) else "")


def said_of(
    decided: Decided,
    identity: Mapping[str, Any],
    seen: Seen,
    environment: Mapping[str, str] | None = None,
    *,
    node: str = "",
) -> Said:
    """Compare what one host says with what was decided. Nothing is raised on what it says.

    ``node`` is which node it says it is: what it says of the hardware of another one as decided does not count.
    """
    keys = unknown = 0
    found: dict[int, KeyDifference] = {}
    for path, value in leaves(identity):
        at = decided.by_path.get(path)
        if at is None or value is None:
            continue
        key, expected = decided.keys[at]
        if UNKNOWN in (value, expected):
            unknown |= 1 << at
        elif same(expected, value):
            keys |= (not node or decided.nodes.get(key, node) == node) << at
        else:
            found[at] = KeyDifference(key, "differs", expected, value)
    differs = [found[at] for at in sorted(found)]
    ranks, nics, moved = _ranks(decided, seen)
    label = (environment or {}).get(LABEL, decided.rank_map_digest)
    if decided.rank_map_digest and label != decided.rank_map_digest:
        moved = (*moved, KeyDifference(RANK_MAP, "differs", decided.rank_map_digest, label))
    return Said(keys, ranks, unknown, (*differs, *moved), nics)


def said_by_whole(decided: Decided, identity: Mapping[str, Any], seen: Seen) -> Said:
    """Compare what speaks for the whole slot: a key or a rank that it does not say differs, too."""
    one = said_of(decided, identity, seen)
    by_key = {difference.key: difference for difference in one.differs}
    differs = []
    for at, (key, expected) in enumerate(decided.keys):
        if key in by_key:
            differs.append(by_key.pop(key))
        elif not one.keys >> at & 1:
            is_unknown = one.unknown >> at & 1
            differs.append(KeyDifference(key, "unknown", expected, UNKNOWN) if is_unknown else _missing(key, expected))
    differs += by_key.values()
    if decided.rank_map_digest and one.ranks != decided.every_rank and not by_key:
        differs.append(_missing(RANK_MAP, decided.rank_map_digest))
    return Said(one.keys, one.ranks, one.unknown, tuple(differs), one.nics)


def _missing(key: str, expected: Any) -> KeyDifference:
    return KeyDifference(key, "missing", expected, None)


def _ranks(decided: Decided, seen: Seen) -> tuple[int, int, tuple[KeyDifference, ...]]:
    """Return the ranks that run where they were decided, those of which only the NIC lacks, and every other place."""
    if not decided.ranks:
        return 0, 0, ()
    if seen.digest:
        if seen.digest == decided.rank_map_digest:
            return decided.every_rank, 0, ()
        return 0, 0, (KeyDifference(RANK_MAP, "differs", decided.rank_map_digest, seen.digest),)
    named = [decided.by_rank[rank] for entry in seen.ranks if (rank := entry["rank"]) in decided.by_rank]
    faults = rank_differences([entry for _, entry in named], seen.ranks)
    wrong: dict[int, set[str]] = {}
    for fault in faults:
        wrong.setdefault(fault.rank, set()).add(f"{fault.what} {fault.how}")
    good = sum(1 << at for at, entry in dict(named).items() if entry["rank"] not in wrong)
    unsaid = ({"nic missing"}, {"nic unknown"})
    nics = sum(1 << at for at, entry in dict(named).items() if wrong.get(entry["rank"]) in unsaid)
    moved = tuple(_moved(fault) for fault in faults if fault.how == "differs")
    if seen.world_size is not None and seen.world_size != len(decided.ranks):
        moved = (KeyDifference(WORLD, "differs", len(decided.ranks), seen.world_size), *moved)
    return good, nics, moved


def rank_key(rank: int, what: str) -> str:
    """Return the key of a place of a rank; of a rank too many it ends with the rank."""
    return f"{RANKS}/{rank}" if what == "rank" else f"{RANKS}/{rank}/{what}"


def _moved(fault: RankDifference) -> KeyDifference:
    return KeyDifference(rank_key(fault.rank, fault.what), "differs", fault.expected, fault.found)


@dataclass(frozen=True, slots=True)
class Together:
    """What all reports say: what nobody said yet, which nodes are waited for, and who contradicts whom.

    ``differs`` are pairs of who reports and what differs. ``open_keys`` are those that nobody said or knows, and
    ``open_nics`` those of ``open_ranks`` of which only the NIC was not said.
    """

    differs: tuple[tuple[str, KeyDifference], ...]
    open_keys: tuple[str, ...]
    open_ranks: tuple[int, ...]
    awaited: tuple[str, ...]
    contradictions: tuple[str, ...]
    open_nics: tuple[int, ...] = ()

    @property
    def open_places(self) -> tuple[int, ...]:
        """The ranks of which nobody said where they run."""
        nics = set(self.open_nics)
        return tuple(rank for rank in self.open_ranks if rank not in nics)

    @property
    def matches(self) -> bool:
        """Whether everything was said and is as decided."""
        return not (self.differs or self.open_keys or self.open_ranks)

    @property
    def ranks_match(self) -> bool:
        """Whether every decided rank was said to run where it was decided, and no other."""
        return not self.open_ranks and not any(is_below(one.key, "/placement") for _, one in self.differs)


def together(decided: Decided, said: Mapping[str, Said]) -> Together:
    """Put together what hosts say; ``said`` is node, or host where it names none -> what it says."""
    keys = ranks = nics = 0
    for one in said.values():
        keys |= one.keys
        ranks |= one.ranks
        nics |= one.nics
    differs = tuple((name, difference) for name, one in said.items() for difference in one.differs)
    denied = {difference.key for _, difference in differs}
    open_keys = tuple(
        decided.keys[at][0] for at in places_of(decided.every_key & ~keys) if decided.keys[at][0] not in denied
    )
    moved = {int(steps(key)[2]) for key in denied if key.startswith(f"{RANKS}/")}
    absent = [decided.ranks[at] for at in places_of(decided.every_rank & ~ranks)]
    open_entries = [entry for entry in absent if entry["rank"] not in moved] if RANK_MAP not in denied else []
    wanted = [decided.nodes[key] for key in open_keys if key in decided.nodes]
    wanted += [entry["node"] for entry in open_entries]
    return Together(
        differs=differs,
        open_keys=open_keys,
        open_ranks=tuple(entry["rank"] for entry in open_entries),
        awaited=tuple(dict.fromkeys(node for node in wanted if node not in said)),
        contradictions=tuple(_contradictions(decided, said, differs)),
        open_nics=tuple(entry["rank"] for entry in open_entries if nics >> decided.by_rank[entry["rank"]][0] & 1),
    )


def _contradictions(
    decided: Decided, said: Mapping[str, Said], differs: Sequence[tuple[str, KeyDifference]]
) -> Iterator[str]:
    """Yield the keys of which two hosts say different things, each with who says what."""
    if not differs:
        return
    found: dict[str, dict[str, list[str]]] = {}
    for name, difference in differs:
        value = msgspec.json.encode(difference.found).decode()[:80]
        found.setdefault(difference.key, {}).setdefault(value, []).append(name)
    places = {key: at for at, (key, _) in enumerate(decided.keys)}
    for key, values in list(found.items())[:CONTRADICTIONS_NAMED]:
        agreeing = [name for name, one in said.items() if _agrees(decided, one, key, places)]
        sides = [f"{_names(agreeing)} as decided"] if agreeing else []
        sides += [f"{_names(names)} {value}" for value, names in values.items()]
        if len(sides) > 1:
            yield f"{key}: {'; '.join(sides)}"


def _agrees(decided: Decided, one: Said, key: str, places: Mapping[str, int]) -> bool:
    if key in places:
        return bool(one.keys >> places[key] & 1)
    if key.startswith(f"{RANKS}/"):
        known = decided.by_rank.get(int(steps(key)[2]))
        return known is not None and bool(one.ranks >> known[0] & 1)
    return False


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
