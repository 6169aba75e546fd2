"""The JSON of NCCL RAS: ranks of a communicator, what they say of themselves, and what follows for the communicator.

JSON has no words for the state: a mismatch follows from counts of collectives, an incomplete communicator from ranks
that are missing. Whatever has another shape counts as not said.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["communicator_state", "counts_of", "flags_of", "ranks_of"]

FAULTS = ("async_error", "abort_flag")
UNANSWERED = ("considered_dead", "unresponsive")


def ranks_of(communicator: Any, key: str) -> list[dict[str, Any]]:
    """Return the ranks (``ranks``) or those that do not answer (``missing_ranks``) of a communicator."""
    found = communicator.get(key) if isinstance(communicator, dict) else None
    return [rank for rank in found if isinstance(rank, dict)] if isinstance(found, list) else []


def counts_of(rank: Mapping[str, Any]) -> dict[str, Any]:
    """Return kind of collective -> how many of them a rank has launched."""
    counts = rank.get("collective_counts")
    return counts if isinstance(counts, dict) else {}


def flags_of(rank: Mapping[str, Any], names: Sequence[str] = (*FAULTS, *UNANSWERED)) -> tuple[str, ...]:
    """Return which of some flags of its status a rank has set."""
    status = rank.get("status")
    return tuple(name for name in names if status.get(name)) if isinstance(status, dict) else ()


def communicator_state(communicator: Any) -> tuple[str, ...]:
    """Return what is wrong with a communicator, in the words of the tool's text; nothing where nothing is."""
    ranks, missing = ranks_of(communicator, "ranks"), ranks_of(communicator, "missing_ranks")
    lost = communicator.get("missing_ranks_count") if isinstance(communicator, dict) else None
    found = {
        "MISMATCH": len({repr(sorted(counts_of(rank).items(), key=repr)) for rank in ranks}) > 1,
        "INCOMPLETE": bool(missing) or (isinstance(lost, int) and lost > 0),
        "DEAD": any(flags_of(rank, ("considered_dead",)) for rank in missing),
        "ERROR": any(flags_of(rank, FAULTS) for rank in ranks),
    }
    return tuple(word for word, holds in found.items() if holds)
