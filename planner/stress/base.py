"""What an injection is: one pure function from a trial to a changed copy of its evidence, or to why there is none.

Rules kept (spec 2.4, domain rules 6): sizes come from the contract or a default, never from a limit; what is changed
keeps the identities that true figures keep, or ``consistency`` would catch every fault and hide the holes; the trial
that is given is never changed. Not handled here: judging the copy (``planner.stress.matrix``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from planner.gates.base import Ground
from planner.numbers import exact
from planner.records.evidence import Trial
from planner.records.plan import Candidate, OrderKey, Outcome, Value
from planner.records.stress import FaultSizes
from planner.view import TrialView

__all__ = ["Case", "Fault", "Injected", "Injection", "NotInjectable", "injection", "one_target", "size", "written"]

Limited = tuple[str, str]
"""A gate's id and a limit's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One trial as it was judged, and what is to be done to a copy of it."""

    view: TrialView
    before: Candidate
    sizes: FaultSizes
    order: tuple[OrderKey, ...]
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """The changed copy. ``changed`` points at what was changed, as in the evidence.

    ``baseline`` replaces outcome and reading before the fault, for a gate that always reckons with the fault;
    ``beside`` are limits of the gates aimed at that speak of another fault.
    """

    trial: Trial
    changed: tuple[str, ...]
    baseline: Mapping[Limited, tuple[Outcome, Value]] = field(default_factory=dict)
    beside: frozenset[Limited] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotInjectable:
    """Why the trial's evidence does not take the fault, in one sentence."""

    sentence: str


Fault = Injected | NotInjectable
Rule = Callable[[Case], Fault]
Targets = Callable[[TrialView, tuple[OrderKey, ...]], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """A fault as command line, page and docs list it.

    ``fault`` says in words what is changed, with the names of fault sizes in braces and ``{target}``. ``gates`` are
    those it is aimed at; their families are the intended ones. ``needs`` is what has to be defined, as for gates.
    ``targets`` lists what it is done to, one after the other; the contract decides, never a trial.
    """

    id: str
    title: str
    fault: str
    gates: tuple[str, ...]
    rule: Rule
    needs: tuple[Ground, ...]
    targets: Targets

    @property
    def doc(self) -> str:
        """The change in words."""
        return " ".join((self.rule.__doc__ or "").split())


def one_target(view: TrialView, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
    """Return the one target of an injection that has no more."""
    return ("",)


def injection(
    id: str,
    *,
    title: str,
    fault: str,
    gates: tuple[str, ...],
    needs: tuple[Ground, ...] = (),
    targets: Targets = one_target,
) -> Callable[[Rule], Injection]:
    """Make an injection of a rule."""

    def wrap(rule: Rule) -> Injection:
        return Injection(id=id, title=title, fault=fault, gates=gates, rule=rule, needs=needs, targets=targets)

    return wrap


def size(value: int | float) -> Fraction:
    """Return a fault size exactly."""
    return exact(value)


def written(value: Fraction) -> int | float:
    """Write a number into evidence: an integer, else the double nearest to it.

    Raises:
        OverflowError: no double is that large.
    """
    return value.numerator if value.denominator == 1 else float(value)
