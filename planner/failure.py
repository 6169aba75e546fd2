"""Failure-domain arithmetic: which serving groups one failure takes down, and what is left.

Rules kept (domain rules, section 4): a group is lost with a domain when at least one of its ranks sits there; its
other ranks stop serving with it, so they are lost too; capacity is a measured rate per group, or an equal share of a
measured total where all groups have one shape, else unknown; the worst domain of a kind decides, ties by id. All of
it is arithmetic on measured rates, never a measurement of the degraded service. Not handled: what injections measured
(``planner.gates.failure_capacity``).
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from msgspec import Struct

from planner.numbers import times


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What one domain takes down: indices of serving groups, and all ranks of those groups."""

    domain: str
    groups: tuple[int, ...]
    ranks: int


class Range(Struct, frozen=True, kw_only=True, gc=False):
    """A quantity known only to lie between two bounds, both included."""

    low: Fraction
    high: Fraction

    def scaled(self, factor: Fraction) -> "Range":
        """Multiply both bounds by a factor >= 0."""
        return Range(low=self.low * factor, high=self.high * factor)


def losses(
    groups: Sequence[Sequence[int]], rank_device: Sequence[str], domains: Mapping[str, frozenset[str]]
) -> tuple[Loss, ...]:
    """Return the loss of every domain that holds at least one rank, by domain id. Degrees may want more ranks than are
    placed: those stand nowhere."""
    groups_on: dict[str, set[int]] = {}
    for index, group in enumerate(groups):
        for rank in group:
            if rank < len(rank_device):
                groups_on.setdefault(rank_device[rank], set()).add(index)
    hit = (
        (domain, set[int]().union(*[groups_on[device] for device in devices if device in groups_on]))
        for domain, devices in sorted(domains.items())
    )
    return tuple(
        Loss(domain=domain, groups=tuple(sorted(lost)), ranks=sum([len(groups[index]) for index in lost]))
        for domain, lost in hit
        if lost
    )


def distinct(found: Iterable[Loss], beside: Callable[[Loss], Hashable] = lambda _: None) -> tuple[Loss, ...]:
    """Keep the first loss of each set of groups: domains that take down the same groups lose the same.

    ``beside`` gives what else tells two losses apart.
    """
    kept: dict[Hashable, Loss] = {}
    for loss in found:
        kept.setdefault((loss.groups, beside(loss)), loss)
    return tuple(kept.values())


def parts_lost(parts: Sequence[int], loss: Loss) -> int:
    """Add up what the lost groups have of the capacity; ``parts[g]`` are those of group g."""
    return sum([parts[group] for group in loss.groups])


def capacity_left(parts: Sequence[int], loss: Loss, part: Fraction) -> Fraction:
    """Return the capacity of the groups that survive, where ``part`` is the rate of one part."""
    return times(sum(parts) - parts_lost(parts, loss), part)


def pools_left(rates: Sequence[Fraction], shares: Sequence[Fraction]) -> Fraction:
    """Return what pools of measured rates serve after a loss: the slowest of them with the share left of each."""
    return min(rate * share for rate, share in zip(rates, shares, strict=True))


def pools_left_bounds(service: Fraction, shares_left: Iterable[Fraction]) -> Range:
    """Bound what two pools serve after a loss when only the service as a whole was measured.

    At least the service times the smaller share left of a pool; at most the service, and nothing once a pool is
    empty.
    """
    smallest = min(shares_left)
    return Range(low=service * smallest, high=service if smallest > 0 else Fraction(0))
