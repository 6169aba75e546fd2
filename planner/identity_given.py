"""What reports in somebody's hand say otherwise than decided: as posting them would tell it.

Rules kept: a host answers for what it says, so a key that it does not say is no difference; of hosts that contradict
each other the one that says otherwise than decided is told. Reports that were put together, and an identity of the
whole slot, answer for every key. Every key counts, also one that ``requalify_on`` lets pass, and is told once. How old
a report is does not matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UnsetType

from planner.identity_check import RANK_MAP, KeyDifference, key_differences
from planner.identity_live import Decided, placed_of, said_of
from planner.records.identity_report import IdentityReport

__all__ = ["OF_SEVERAL", "given_differences", "is_of_several", "told_once"]

OF_SEVERAL = ", "
"""Stands between the hosts of reports that were put together."""
PLACEMENT = "/placement/"


def is_of_several(host: str) -> bool:
    """Say whether a report that names this host is of several that were put together."""
    return OF_SEVERAL in host


def given_differences(
    identity: Mapping[str, Any],
    rank_map: Sequence[Mapping[str, Any]],
    given: Iterable[IdentityReport | Mapping[str, Any]],
    *,
    rank_map_digest: str,
) -> tuple[KeyDifference, ...]:
    """Return each key that some of what is given shows otherwise, once, the rank map last.

    ``identity`` and ``rank_map`` are what was decided; without a rank map, whose digest is "", places of ranks are not
    compared. A mapping is an identity of the whole slot, with ``placement`` beside its sections.
    """
    decided = Decided.of(identity, rank_map, rank_map_digest=rank_map_digest)

    def shown(one: IdentityReport | Mapping[str, Any]) -> tuple[KeyDifference, ...]:
        if isinstance(one, IdentityReport) and not is_of_several(one.host):
            node = "" if isinstance(one.node, UnsetType) else one.node
            return said_of(decided, one.identity, placed_of(one), node=node).differs
        live = one.live if isinstance(one, IdentityReport) else one
        return key_differences(identity, live, rank_map_digest=rank_map_digest)

    return told_once((each for one in given for each in shown(one)), rank_map_digest)


def told_once(found: Iterable[KeyDifference], rank_map_digest: str) -> tuple[KeyDifference, ...]:
    """Return each key once, as it was told first; places of ranks together as the rank map, which comes last."""
    keys: dict[str, KeyDifference] = {}
    moved: dict[str, None] = {}
    for one in found:
        if one.key.startswith(PLACEMENT) and one.key != RANK_MAP:
            moved[one.key.removeprefix(PLACEMENT)] = None
        else:
            keys.setdefault(one.key, one)
    if moved and RANK_MAP not in keys:
        names = list(moved)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        text = f"another map: {', '.join(names[:3])}{more}"
        keys[RANK_MAP] = KeyDifference(RANK_MAP, "differs", rank_map_digest, text)
    return tuple(sorted(keys.values(), key=lambda one: one.key == RANK_MAP))
