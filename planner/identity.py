"""Compare what ran with the contract's identity, leaf by leaf.

Rules kept (settled questions 11 and 14): a leaf is any JSON value that is not a non-empty object, so an array is one
leaf and ``{}`` is one; leaves are equal when they have the same JSON type and value, numbers by value and text byte
for byte; a leaf that is absent on the trial's side, or ``"unknown"`` on either, is neither equal nor different.
Leaves that only the trial has are counted, never bound. Not handled: what follows (``planner.gates.evidence``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.numbers import exact
from planner.pointers import is_below, joined

CHOICE_SECTIONS = ("model", "precision", "workload")
UNKNOWN = "unknown"

_ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A leaf whose value is not the contract's; ``at`` is the pointer below ``identity``."""

    at: str
    expected: Any
    found: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityComparison:
    """The result for one observed identity. Pointers stand below ``identity`` (``/model/revision``)."""

    compared: int
    choices: tuple[Difference, ...]
    environment: tuple[Difference, ...]
    unknown_choices: tuple[str, ...]
    unknown_environment: tuple[str, ...]
    only_observed: int

    @property
    def unknown(self) -> tuple[str, ...]:
        """All leaves that are neither equal nor different."""
        return self.unknown_choices + self.unknown_environment


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (path, value) of every leaf of a JSON tree, in document order."""
    if not isinstance(tree, Mapping) or not tree:
        yield path, tree
        return
    for key, value in tree.items():
        yield from leaves(value, (*path, key))


def contract_leaves(identity: msgspec.Struct) -> dict[tuple[str, ...], Any]:
    """Return the leaves that the contract binds."""
    return dict(leaves(msgspec.to_builtins(identity)))


def same(left: Any, right: Any) -> bool:
    """Say whether two JSON values have the same type and value; booleans are no numbers."""
    if _is_number(left) and _is_number(right):
        return exact(left) == exact(right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if _is_array(left) and _is_array(right):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def compare_identity(
    bound: Mapping[tuple[str, ...], Any], observed: msgspec.Struct, choice_keys: Iterable[str]
) -> IdentityComparison:
    """Compare the contract's leaves with an observed identity.

    ``choice_keys`` are contract pointers (``/identity/stack/flags``) whose leaves count as choices beside the
    sections model, precision and workload.
    """
    seen = dict(leaves(msgspec.to_builtins(observed)))
    inner = {path[:length] for path in seen for length in range(1, len(path))}
    chosen = tuple(choice_keys)
    differing: dict[bool, list[Difference]] = {True: [], False: []}
    unknown: dict[bool, list[str]] = {True: [], False: []}
    for path, expected in bound.items():
        at = joined(path)
        choice = path[0] in CHOICE_SECTIONS or is_below(f"/identity{at}", *chosen)
        found = seen.get(path, _ABSENT)
        if path in inner:
            differing[choice].append(Difference(at=at, expected=expected, found={"...": "..."}))
        elif found in (_ABSENT, None) or UNKNOWN in (found, expected):
            unknown[choice].append(at)
        elif not same(expected, found):
            differing[choice].append(Difference(at=at, expected=expected, found=found))
    return IdentityComparison(
        compared=len(bound),
        choices=tuple(differing[True]),
        environment=tuple(differing[False]),
        unknown_choices=tuple(unknown[True]),
        unknown_environment=tuple(unknown[False]),
        only_observed=sum(path not in bound for path in seen),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_array(value: Any) -> bool:
    return isinstance(value, list | tuple)
