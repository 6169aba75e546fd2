"""What judging every trial of one contract shares: the gates that speak, in which order they run, and what is owed.

Not handled: running them (``planner.evaluate``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.gates import GATES
from planner.gates.base import Ask, Gate, Limit, Owed, Standing
from planner.gates.slo import THROUGHPUT_READS
from planner.keys import PER_DEVICE, PER_MILLION
from planner.outcomes import Line
from planner.records.plan import GateOutcome, OrderKey
from planner.view import TrialView

__all__ = ["ALWAYS", "Called", "Docket", "docket_of", "owed_evidence"]

ALWAYS = "always"
"""What the one entry of a gate without limits is called."""
KEY_READS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    PER_DEVICE: THROUGHPUT_READS[:2],
    "output_tokens_per_s": THROUGHPUT_READS[:2],
    PER_MILLION: THROUGHPUT_READS[:2],
    "ttft": (("load.ttft_ms", ()),),
}
"""Evidence that a measured key reads: its metrics, each with the members it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A gate that says something under a contract: its limits, or what is owed where it is always on.

    ``lines`` say how each limit is written down, ``reads`` which load points it reads. ``of_placement`` says that
    trials placed alike share what it finds, ``is_shared`` that those do at least which ran one identity.
    """

    gate: Gate
    limits: dict[str, Limit | Standing]
    lines: Mapping[str, Line]
    reads: Mapping[str, frozenset[str]]
    of_placement: bool
    is_shared: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Docket:
    """What judging every trial of one contract shares: gates in the order in which they run.

    ``grounds`` are those that others stand on, ``shared`` the others of which trials share what they find, and ``own``
    those that look at every trial. ``speaking`` are all that run, in the order in which gates are listed, and ``names``
    their ids. ``silent`` is what the plan has for every gate before one speaks. ``keys`` are those of the order, each
    with its label; ``order`` is held so that nothing else gets its id.
    """

    order: tuple[OrderKey, ...]
    keys: tuple[tuple[str, OrderKey], ...]
    grounds: tuple[Called, ...]
    shared: tuple[Called, ...]
    own: tuple[Called, ...]
    speaking: tuple[Called, ...]
    names: tuple[str, ...]
    silent: Mapping[str, GateOutcome]


def docket_of(view: TrialView, order: tuple[OrderKey, ...]) -> Docket:
    """Return what judging every trial of the view's contract shares."""
    return view.ground.kept.once(("docket", id(order)), lambda: _docket(view, order))


def _docket(view: TrialView, order: tuple[OrderKey, ...]) -> Docket:
    standing = Standing(owed=tuple(owed_evidence(view, order)))
    called = [_called(view, gate, standing) for gate in GATES if gate.limit is None or view.limits.get(gate.id)]
    return Docket(
        order=order,
        keys=tuple((key.label, key) for key in order),
        grounds=tuple(entry for entry in called if entry.gate.grounds),
        shared=tuple(entry for entry in called if entry.is_shared and not entry.gate.grounds),
        own=tuple(entry for entry in called if not entry.is_shared),
        speaking=tuple(called),
        names=tuple(entry.gate.id for entry in called),
        silent={gate.id: GateOutcome(family=gate.family, outcome="NOT_DECLARED", limits={}) for gate in GATES},
    )


def _called(view: TrialView, gate: Gate, standing: Standing) -> Called:
    declared = view.limits.get(gate.id, {})
    of_placement = gate.of_placement is True or (
        callable(gate.of_placement) and all(map(gate.of_placement, declared.values()))
    )
    limits: dict[str, Limit | Standing] = {ALWAYS: standing} if gate.limit is None else dict(declared)
    return Called(
        gate=gate,
        limits=limits,
        lines={name: Line(gate, name, limit) for name, limit in limits.items()},
        reads={name: frozenset(ask.load_point for ask in limit.asks()) for name, limit in declared.items()},
        of_placement=of_placement,
        is_shared=of_placement or gate.of_identity,
    )


def owed_evidence(view: TrialView, order: tuple[OrderKey, ...]) -> Iterator[Owed]:
    """List the evidence that declared limits and selection keys read."""
    for gate in GATES:
        for name, limit in view.limits.get(gate.id, {}).items():
            for ask in limit.asks():
                yield Owed(ask=ask, origin=f"/gates/{gate.id}/{name}")
    for key in order:
        for metric, fields in KEY_READS.get(key.key, ()):
            wanted = ("n", key.statistic) if key.key == "ttft" and key.statistic else fields
            yield Owed(ask=Ask(metric=metric, load_point=key.load_point or "", fields=wanted), origin="/selection")
