"""Geometry of margin bars. The limit stands at a fixed place: room lies to its right, a shortfall to its left."""

from dataclasses import dataclass
from fractions import Fraction

from planner.numbers import exact
from planner.records.plan import Outcome, Value

LIMIT_AT = 34.0
ROOM = 66.0
"""Units to the right of the limit, for half of the limit or more."""
SHORTFALL = 33.0
"""Units to the left of it, for a quarter of the limit or more."""
LEAST = 1.2


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar in a box of 100 x 6: ``css`` is ``pass``, ``fail`` or ``unk`` (an empty dashed box)."""

    css: str
    x: float
    width: float

    @property
    def step(self) -> int:
        """The width in whole units, for bars that are drawn once and used many times."""
        return round(self.width)


def bar_of(outcome: Outcome, margin_share: Value) -> Bar | None:
    """Return the bar of an outcome; None where there is no margin to draw.

    An unknown margin is never drawn as zero: it is an empty dashed box as long as the room.
    """
    if outcome == "UNKNOWN":
        return Bar("unk", LIMIT_AT, ROOM)
    if margin_share is None or isinstance(margin_share, str) or outcome not in ("PASS", "FAIL"):
        return None
    share = exact(margin_share)
    if outcome == "FAIL":
        width = length(-share, SHORTFALL, Fraction(1, 4))
        return Bar("fail", round(LIMIT_AT - width, 1), width)
    return Bar("pass", LIMIT_AT, length(share, ROOM, Fraction(1, 2)))


def length(share: Fraction, full: float, at: Fraction) -> float:
    """Return the length for a share, ``full`` where it reaches ``at``, never too short to be seen."""
    return round(min(full, max(LEAST, full * float(share / at))), 1)
