"""Which decision of a slot counts. Pure.

Rules kept: an emergency comes before the decision that it overrides for its time; what was put into force and is stale,
expired, contested or under review again holds no more, but may still be what runs; what ended does neither.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

from reviews.policies.transitions import FINAL

Hold = Literal["in_force", "standing", "none"]
"""A decision holds; one was put into force and may still run; nothing that was put into force stands."""

IN_FORCE = ("EMERGENCY", "EFFECTIVE")
"""States in which a decision holds, in the order in which they count."""


class Deciding(Protocol):
    """A decision of a slot: its state as of now, and whether it was ever put into force."""

    @property
    def state(self) -> str:
        """A ``DecisionState`` value."""

    @property
    def is_activated(self) -> bool:
        """Whether there is an activation."""


D = TypeVar("D", bound=Deciding)


def standing_for(newest_first: Sequence[D]) -> tuple[D, Hold]:
    """Return the decision that stands for a slot, and how; ``newest_first`` are all of the slot, at least one."""
    for state in IN_FORCE:
        for decision in newest_first:
            if decision.state == state:
                return decision, "in_force"
    for decision in newest_first:
        if decision.is_activated and decision.state not in FINAL:
            return decision, "standing"
    going_on = [decision for decision in newest_first if decision.state not in FINAL]
    return (going_on or list(newest_first))[0], "none"
