"""Identities that true figures of one window keep, and the figures that cannot both be true where one is broken.

Rules kept (domain rules 1a; settled questions 18 and 37): an identity is evaluated only when every field of it was
recorded and it is valid for the arrival, the definition and the lengths at hand; a breach says nothing about which
of its fields is wrong, so it puts all of them in doubt, and nothing else. Tolerances are relative and inclusive.
Not handled: what is UNKNOWN because of a breach (``planner.readings``, ``planner.evaluate``).
"""

from planner.consistency import counts, latencies, machines, samples, states
from planner.consistency.base import TOLERANCE, Check, Facts, broken_of
from planner.consistency.latencies import PER_REQUEST_DECODE

__all__ = ["IDENTITIES", "PER_REQUEST_DECODE", "TOLERANCE", "Check", "Facts", "broken_of", "checks"]

IDENTITIES = (*latencies.IDENTITIES, *counts.IDENTITIES, *samples.IDENTITIES, *machines.IDENTITIES, *states.IDENTITIES)
"""Every identity, in the order in which breaches are listed."""


def checks(facts: Facts) -> tuple[Check, ...]:
    """Evaluate every identity that the window's figures allow."""
    found: list[Check] = []
    for identity in IDENTITIES:
        found += identity(facts)
    return tuple(found)
