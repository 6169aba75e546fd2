"""How many requests a window has, how long it lasts, how often it is repeated: what the contract's readings need.

Rules kept: a statistic needs n x (1 - q) samples beyond it (domain rules; the contract may set another number), a mean
20; a window has at least ``ROUNDS`` rounds of the requests in flight, so that filling and draining are a small part of
it. Time is reckoned from the rate that the contract gives: what is offered, or what its floor amounts to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from planner.contract_view import ContractView
from planner.numbers import exact
from planner.order import order_expand
from planner.readings import samples_needed
from planner.records.base import UnsetType, stated
from planner.records.contract import LoadPoint

__all__ = ["REPEATS", "WindowNeeds"]

ROUNDS = 10
WARMUP_ROUNDS = 2
"""Rounds of the requests in flight that are sent and not counted: caches of kernels and graphs fill in them."""
REPEATS = 2
"""Windows of a load point, where the contract asks for no more: one window shows no spread."""
TOKEN_GATES = ("itl", "all_to_all_tail")
"""Gates whose statistics are over tokens or calls, of which a window has enough."""


@dataclass(frozen=True, kw_only=True)
class WindowNeeds:
    """What a contract needs of a window at one load point."""

    view: ContractView
    load_point: str

    @property
    def point(self) -> LoadPoint:
        """The load point."""
        return self.view.workload.load_points[self.load_point]

    @property
    def repeats(self) -> int:
        """Counted windows."""
        return max(self.view.min_repeats, REPEATS)

    @property
    def warmup_requests(self) -> int:
        """Requests that are not counted."""
        return WARMUP_ROUNDS * (stated(self.point.concurrent_requests) or ROUNDS)

    @property
    def min_s(self) -> Fraction | None:
        """The least length of a window that ``steady_state`` counts."""
        lengths = [exact(limit.min_window_s) for limit in self._limits("steady_state") if _has(limit.min_window_s)]
        return max(lengths) if lengths else None

    @property
    def tails(self) -> tuple[str, ...]:
        """The percentiles that limits name, as clients write them."""
        named = [getattr(limit, "statistic", None) for gate in self.view.limits for limit in self._limits(gate)]
        return tuple(
            dict.fromkeys(name[1:].replace("_", ".") for name in named if isinstance(name, str) and name[0] == "p")
        )

    @property
    def samples(self) -> int:
        """Requests that every statistic read here needs."""
        wanted = [
            stated(entry.min_samples) or 1
            for entry in (stated(self.view.contract.evidence_required) or {}).values()
            if self.load_point in entry.load_points and entry.metric.startswith("load.")
        ]
        wanted += [samples_needed(statistic, self.view.beyond) for statistic in self._statistics()]
        return max(wanted, default=1)

    @property
    def rate(self) -> Fraction | None:
        """Requests a second that the contract gives; None where it gives none."""
        offered = stated(self.point.requests_per_s)
        if offered is not None:
            return exact(offered) or None
        floor = max((exact(limit.min_output_tokens_per_s) for limit in self._limits("throughput")), default=Fraction(0))
        length = mean_output(self.view)
        return floor / length if floor and length else None

    def requests(self, least_s: Fraction | None) -> int:
        """Return the requests of a window that lasts at least ``least_s`` at the contract's rate."""
        requests = max(self.samples, ROUNDS * (stated(self.point.concurrent_requests) or 1))
        return requests if self.rate is None or least_s is None else max(requests, -(-least_s * self.rate // 1))

    def seconds(self, requests: int, least_s: Fraction | None) -> Fraction | None:
        """Return how long a window takes at the contract's rate; None without one."""
        return None if self.rate is None else max(requests / self.rate, least_s or Fraction(0))

    def _limits(self, gate: str) -> Iterator[Any]:
        for limit in self.view.limits.get(gate, {}).values():
            if getattr(limit, "load_point", None) == self.load_point:
                yield limit

    def _statistics(self) -> Iterator[str]:
        for gate in self.view.limits:
            for limit in self._limits(gate):
                statistic = getattr(limit, "statistic", None)
                if gate not in TOKEN_GATES and isinstance(statistic, str):
                    yield statistic
        for key in order_expand(self.view.contract).keys:
            if key.load_point == self.load_point and key.statistic:
                yield key.statistic


def mean_output(view: ContractView) -> Fraction | None:
    """Return the fixed or mean output length in tokens; None where it is not stated, or 0."""
    lengths = stated(view.workload.output_tokens)
    for value in () if lengths is None else (lengths.fixed, lengths.mean):
        if not isinstance(value, UnsetType):
            return exact(value) or None
    return None


def _has(value: object) -> bool:
    return not isinstance(value, UnsetType)
