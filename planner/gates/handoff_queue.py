"""What the queue of transfers says of the hand-off; a hint that decides nothing."""

from fractions import Fraction

from planner.gates.evidence_steady import GROWTH
from planner.readings import WindowView, number
from planner.records.base import UnsetType

__all__ = ["queue_hint"]

IDLE = Fraction(10, 100)
"""Share of its time that a decode pool may idle while transfers wait before the hand-off is what holds it up."""


def queue_hint(window: WindowView) -> str | None:
    """Say that transfers pile up in front of an idle decode pool; None where they do not, or nobody looked."""
    handoff = window.record.handoff
    if isinstance(handoff, UnsetType):
        return None
    first, last = number(handoff.queued_first_third_mean), number(handoff.queued_last_third_mean)
    idle = number(handoff.decode_idle_share)
    if first is None or last is None or idle is None or last <= first * GROWTH or idle < IDLE:
        return None
    return f"Transfers pile up in window {window.id} while the decode pool idles: look at the hand-off."
