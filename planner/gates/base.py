"""What a gate is: one pure function from a view of one trial to one finding per limit.

Rules kept: a gate never raises on evidence that intake accepted and never guesses: what is missing is UNKNOWN and
names the field; what is there and gives no value is UNKNOWN too, and says what it holds. It reads one trial and the
contract, never another trial, so adding a trial changes no other verdict (spec 2.0, rule 7). It knows no other gate:
what follows from another gate's outcome (UNKNOWN spreading, undefined ranks) is said here as data (``needs``,
``grounds``, ``spreads_to``) and done in ``planner.evaluate``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

from msgspec import Struct

from planner.compare import Comparison
from planner.records.base import UNSET, Prose, Record
from planner.records.evidence import Phase
from planner.view import TrialView

Verdict = Literal["PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"]
Comparator = Literal["<=", ">=", "==", None]
Quantity = int | float | str | Fraction | None
Ground = Literal["groups", "devices"]
"""What other gates stand on: process groups of known ranks, and a device for every rank."""

EVERY_LOAD_POINT = ("*",)
WHOLE_TRIAL = ""
"""The load point of evidence that stands on the trial and not in a window."""


class Ask(Struct, frozen=True, kw_only=True, gc=False):
    """Evidence that a limit reads: ``metric`` (``<section>.<field>``) in every counted window at ``load_point``.

    ``fields`` are the members of the metric that must be there (``n`` and ``p95`` of ``load.ttft_ms``). ``phase``
    and ``link_class`` narrow link metrics. ``conditional`` evidence is owed only by some topologies or may
    stand in instrumented windows: the rule itself looks for it and names what is missing, and telemetry does not.
    """

    metric: str
    load_point: str
    fields: tuple[str, ...] = ()
    phase: Phase | None = None
    link_class: str | None = None
    conditional: bool = False


class Owed(Struct, frozen=True, kw_only=True, gc=False):
    """An ask with the contract's pointer that it comes from."""

    ask: Ask
    origin: str


class Limit(Record, frozen=True, kw_only=True):
    """Base of the record that types a gate's limits in the contract.

    ``one_of`` names fields of which a limit gives exactly one; intake refuses none and several.
    """

    one_of: ClassVar[tuple[str, ...]] = ()

    because: Prose

    @property
    def given(self) -> str:
        """The field of ``one_of`` that this limit gives; empty while intake has not refused a limit without any."""
        for name in self.one_of:
            if getattr(self, name) is not UNSET:
                return name
        return ""

    def asks(self) -> tuple[Ask, ...]:
        """List the evidence that this limit reads; none means that it reads no measurement."""
        return ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """What an always-on gate gets in place of a limit: all evidence that limits and selection keys read."""

    owed: tuple[Owed, ...] = ()

    @cached_property
    def load_points(self) -> tuple[str, ...]:
        """The load points read, once each, in order."""
        return tuple(dict.fromkeys(owed.ask.load_point for owed in self.owed))

    @cached_property
    def traced(self) -> tuple[str, ...]:
        """The load points where evidence may stand in instrumented or soak windows, once each, in order."""
        return tuple(dict.fromkeys(owed.ask.load_point for owed in self.owed if owed.ask.conditional))


Sentence = str | Callable[[], str]
"""A sentence, or how to write it: most findings are compared and sorted long before one is read."""


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """What a gate found for one limit of one trial; most fields are those of ``LimitOutcome``.

    ``limit_field`` is the member of the limit that decided, ``limit_at`` a whole pointer where it stands elsewhere.
    ``unit`` and ``comparator`` replace the gate's own where a gate has limits of several kinds. ``spreads_to`` names
    the load points whose measurements this UNKNOWN makes UNKNOWN.
    """

    outcome: Verdict
    sentence: Sentence
    measured: Quantity = None
    limit: Quantity = None
    margin: Quantity = None
    worst: tuple[tuple[str, str], ...] = ()
    measured_at: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    would: Literal["PASS", "FAIL", None] = None
    unit: str | None = None
    comparator: Comparator = None
    limit_field: str | None = None
    limit_at: str | None = None
    spreads_to: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentence, written."""
        return self.sentence if isinstance(self.sentence, str) else self.sentence()


Rule = Callable[[TrialView, Any], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate as pages, command line, schema and docs list it.

    ``limit`` is the record of its limits, or None for a gate that is always on. ``reads`` names the evidence
    fields it may read (``<section>.<field>``); a limit says by ``asks`` which of them it does read.
    ``needs`` is what must be defined before the rule makes sense, ``grounds`` what a FAIL of it leaves undefined; such
    a gate reads the placement alone.
    ``of_placement`` says that the rule reads topology, rank map and contract alone (``planner.placed``), so that
    trials placed alike share its findings; or it tells by a limit whether the rule does. ``of_identity`` says that it
    reads what ran (``TrialView.identity``) beside these, and nothing else.
    ``hint`` names likely responses to a FAIL; it is shown as a hint and decides nothing.
    """

    id: str
    family: str
    title: str
    rule: Rule
    limit: type[Limit] | None
    reads: tuple[str, ...]
    unit: str | None
    comparator: Comparator
    needs: tuple[Ground, ...]
    grounds: Ground | None
    of_placement: bool | Callable[[Any], bool]
    of_identity: bool
    hint: str | None

    @property
    def doc(self) -> str:
        """The rule in words."""
        return " ".join((self.rule.__doc__ or "").split())


def gate(
    id: str,
    *,
    family: str,
    title: str,
    limit: type[Limit] | None = None,
    reads: tuple[str, ...] = (),
    unit: str | None = None,
    comparator: Comparator = None,
    needs: tuple[Ground, ...] = (),
    grounds: Ground | None = None,
    of_placement: bool | Callable[[Any], bool] = False,
    of_identity: bool = False,
    hint: str | None = None,
) -> Callable[[Rule], Gate]:
    """Make a gate of a rule. The rule gets (view, limit), or (view, ``Standing``) where the gate is always on."""

    def wrap(rule: Rule) -> Gate:
        return Gate(
            id=id,
            family=family,
            title=title,
            rule=rule,
            limit=limit,
            reads=reads,
            unit=unit,
            comparator=comparator,
            needs=needs,
            grounds=grounds,
            of_placement=of_placement,
            of_identity=of_identity,
            hint=hint,
        )

    return wrap


def compared(
    comparison: Comparison,
    sentence: Sentence,
    *,
    limit_field: str | None = None,
    notes: Iterable[str] = (),
    unit: str | None = None,
    comparator: Comparator = None,
) -> Finding:
    """Make the finding of a comparison; ``sentence`` is what the gate says about it."""
    decides = comparison.decides
    read = decides.read if decides else ()
    return Finding(
        outcome=comparison.outcome,
        sentence=sentence,
        measured=decides.value if decides else None,
        limit=comparison.limit,
        margin=comparison.margin,
        worst=decides.where if decides else (),
        measured_at=tuple(dict.fromkeys((*read, *comparison.unfit))) if comparison.unfit else read,
        missing=comparison.missing,
        notes=tuple(dict.fromkeys((*notes, *comparison.notes))) if notes or comparison.notes else (),
        would=comparison.would,
        unit=unit,
        comparator=comparator,
        limit_field=limit_field,
    )


def unknown(
    sentence: str,
    *,
    missing: tuple[str, ...] = (),
    limit: Quantity = None,
    notes: tuple[str, ...] = (),
    measured_at: tuple[str, ...] = (),
) -> Finding:
    """Make a finding of evidence that is not there, or at ``measured_at`` not so that it can be judged."""
    return Finding(
        outcome="UNKNOWN", sentence=sentence, missing=missing, limit=limit, notes=notes, measured_at=measured_at
    )


def not_applicable(sentence: str) -> Finding:
    """Make a finding of a rule that this topology does not meet at all."""
    return Finding(outcome="NOT_APPLICABLE", sentence=sentence)
