"""Whether a machine is what was decided: every bound key, the digest of the rank map, and the place of every rank.

Rules kept (4-reviews, rule 11): a key that is missing or ``unknown`` is no match; with ``requalify_on`` only keys below
its pointers count, the rank map always; a rank map counts by what it says, not by the digest written beside it. Leaves
that only the machine has are not bound. Nothing here raises on what a machine reports.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner.canonical import content_id
from planner.identity import UNKNOWN, leaves, same
from planner.pointers import is_below, joined, steps

__all__ = [
    "RANK_MAP",
    "BoundKey",
    "How",
    "KeyDifference",
    "RankDifference",
    "bound_keys",
    "differing_keys",
    "key_differences",
    "rank_differences",
    "section_of",
]

RANK_MAP = "/placement/rank_map_digest"
"""The key that the plan adds to the contract's identity."""
PLACES = ("node", "device", "nic")
DEEP = ("stack", "hardware")
"""Sections whose parts have owners of their own."""

How = Literal["differs", "missing", "unknown"]


@dataclass(frozen=True, slots=True)
class BoundKey:
    """A key that a contract binds: its JSON pointer below ``/identity``, the steps of it, and the decided value."""

    key: str
    path: tuple[str, ...]
    expected: Any


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A key of the decided identity that a machine does not show; ``key`` is a JSON pointer below ``/identity``."""

    key: str
    how: How
    expected: Any
    found: Any

    @property
    def section(self) -> str:
        """The part of the identity that the key belongs to."""
        return section_of(self.key)


@dataclass(frozen=True, slots=True)
class RankDifference:
    """A place of a rank that is not the decided one; ``what`` is node, device or nic, ``rank`` for a rank too many.

    ``expected`` and ``found`` are None where there is none.
    """

    rank: int
    what: str
    how: How
    expected: str | None
    found: str | None


def section_of(key: str) -> str:
    """Return the section of a key, of ``stack`` and ``hardware`` with its part: ``/model``, ``/stack/driver``."""
    path = steps(key)
    return joined(path[: 2 if path[:1] and path[0] in DEEP else 1])


def key_differences(
    bound: Mapping[str, Any],
    live: Mapping[str, Any],
    *,
    rank_map_digest: str,
    requalify_on: Sequence[str] | None = None,
) -> tuple[KeyDifference, ...]:
    """Compare a machine's identity with the decided one, in document order, the rank map last.

    ``live`` has the shape of a contract's ``identity``, with ``placement.rank_map_digest`` or ``placement.rank_map``
    beside its sections. ``requalify_on`` are contract pointers (``/identity/stack``), every key where it is None;
    ``rank_map_digest`` is "" where no topology is selected.
    """
    return differing_keys(bound_keys(bound, requalify_on), live, rank_map_digest=rank_map_digest)


def bound_keys(bound: Mapping[str, Any], requalify_on: Sequence[str] | None = None) -> tuple[BoundKey, ...]:
    """Return the keys of a decided identity that count, in document order; the rank map counts besides."""
    found = (BoundKey(joined(path), tuple(path), expected) for path, expected in leaves(bound))
    return tuple(one for one in found if requalify_on is None or is_below(f"/identity{one.key}", *requalify_on))


def differing_keys(
    keys: Sequence[BoundKey], live: Mapping[str, Any], *, rank_map_digest: str
) -> tuple[KeyDifference, ...]:
    """Compare a machine's identity with keys that were taken out of the decided one before; see ``key_differences``."""
    # A router asks this all the time, and nearly every key is a text that is the decided one.
    found = [
        _difference(one.key, one.expected, value)
        for one in keys
        if type(value := _leaf(live, one.path)) is not str or value != one.expected or value == UNKNOWN
    ]
    if rank_map_digest:
        found.append(_difference(RANK_MAP, rank_map_digest, _placed(live)))
    return tuple(difference for difference in found if difference is not None)


def rank_differences(decided: Sequence[Mapping[str, Any]], live: Any) -> tuple[RankDifference, ...]:
    """Compare where ranks run with where they were decided, in the order of ranks; both as evidence writes rank maps.

    What is no rank map is one without ranks. A NIC that was not decided is not compared.
    """
    placed: dict[Any, Mapping[str, Any]] = {}
    for entry in live if isinstance(live, list | tuple) else ():
        if isinstance(entry, Mapping) and type(entry.get("rank")) is int:
            placed.setdefault(entry["rank"], entry)
    found = [each for entry in decided for each in _places(entry, placed.get(entry["rank"], {}))]
    more = sorted(placed.keys() - {entry["rank"] for entry in decided})
    found += [RankDifference(rank, "rank", "differs", None, _place(placed[rank].get("device"))) for rank in more]
    return tuple(found)


def _places(decided: Mapping[str, Any], placed: Mapping[str, Any]) -> Iterator[RankDifference]:
    for what in PLACES:
        expected = decided.get(what)
        found = placed.get(what)
        if expected is None or same(expected, found):
            continue
        how: How = "missing" if found is None else "unknown" if found == UNKNOWN else "differs"
        yield RankDifference(decided["rank"], what, how, expected, _place(found))


def _place(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else type(value).__name__


def _leaf(live: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return the leaf that a machine reports at a path; None where there is none, or an object in its place."""
    node: Any = live
    for step in path:
        # Mapping alone would say the same of a dict, and take five times as long.
        node = node.get(step) if isinstance(node, dict | Mapping) else None
    return None if isinstance(node, Mapping) and node else node


def _placed(live: Mapping[str, Any]) -> Any:
    placement = live.get("placement")
    if isinstance(placement, Mapping) and "rank_map" in placement:
        return _digest(placement["rank_map"])
    return _leaf(live, steps(RANK_MAP))


def _difference(key: str, expected: Any, value: Any) -> KeyDifference | None:
    if value is None:
        return KeyDifference(key, "missing", expected, None)
    if UNKNOWN in (value, expected):
        return KeyDifference(key, "unknown", expected, value)
    return None if same(expected, value) else KeyDifference(key, "differs", expected, value)


def _digest(rank_map: Any) -> str:
    """Return the digest of a reported rank map; what no document can hold has none, and matches none."""
    try:
        return content_id(rank_map)
    except (TypeError, ValueError, RecursionError):
        return "no rank map"
