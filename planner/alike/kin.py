"""Trials alike: what one of them shows of all, and how each is judged by its numbers.

Rules kept: trials are kin where they are placed alike, ran one identity, and their windows have one form. What does not
follow from a number gates are asked of one of them (``planner.evaluate``), as they say the same of all; what does is
read off the numbers. Whatever this cannot vouch for, an identity that may not hold or a number that is out of the
ordinary, is left to the gates. Not handled: finding the kin of a trial (``planner.alike.verdicts``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from planner.alike.form import Form, UnlikeError, form_of
from planner.alike.glances import Block, Figure, Glance, Member, figure_of
from planner.alike.identities import tests_of
from planner.alike.limits import Rule, rule_of
from planner.alike.measures import Batch, Likeness, Measure
from planner.alike.reading import Reading
from planner.alike.values import KeyValue, figure_measures, key_value_of
from planner.docket import Called, docket_of
from planner.evaluate import finding_of, state_of
from planner.gates.base import Finding
from planner.gates.base import Verdict as Outcome
from planner.order import Order
from planner.records.base import UNSET
from planner.records.plan import State
from planner.view import TrialView

__all__ = ["Kin", "kin_of"]

Standing = tuple[State, tuple[str, ...], tuple[str, ...]]
"""State, failing and unknown gates."""
Outcomes = tuple[object, ...]
"""The outcomes of all limits that differ: True and False for those that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """One limit that differs between kin: ``rule`` reads it off the numbers; without one its gate is asked."""

    called: Called
    limit_id: str
    rule: Rule | None = None

    @property
    def gate(self) -> str:
        """The id of the gate."""
        return self.called.gate.id

    def ask(self, view: TrialView) -> Finding:
        """Return what the gate itself says."""
        return self.called.gate.rule(view, self.called.limits[self.limit_id])


class Standings(dict[Outcomes, Standing]):
    """What follows from outcomes, found once for all trials that have the same.

    ``said`` are the outcomes of limits that do not differ, each with its gate; ``gates`` are those of limits that do.
    """

    def __init__(
        self, said: set[tuple[str, object]], gates: list[str], speaking: tuple[str, ...], missing_keys: tuple[str, ...]
    ) -> None:
        super().__init__()
        self.said, self.gates, self.speaking, self.missing_keys = said, gates, speaking, missing_keys

    def __missing__(self, outcomes: Outcomes) -> Standing:
        words: dict[object, Outcome] = {True: "PASS", False: "FAIL"}
        said = self.said.union(zip(self.gates, [words.get(outcome, outcome) for outcome in outcomes], strict=True))
        failing = tuple([gate for gate in self.speaking if (gate, "FAIL") in said])
        unknown = tuple([gate for gate in self.speaking if (gate, "UNKNOWN") in said and gate not in failing])
        found = self[outcomes] = state_of(failing, unknown, self.missing_keys), failing, unknown
        return found


@dataclass(slots=True, kw_only=True, eq=False)
class Kin:
    """Trials alike. ``same`` is what gates say of all of them; ``read`` are the limits that are read off the numbers,
    ``asked`` those that their gates are asked for. ``is_sound`` until numbers turn out not to settle the first of them.
    """

    likeness: Likeness
    reading: Reading
    same: Mapping[str, Mapping[str, Figure]]
    read: tuple[Differing, ...]
    asked: tuple[Differing, ...]
    keys: tuple[KeyValue, ...]
    missing_keys: tuple[str, ...]
    figures: tuple[Measure | None, ...]
    standings: Standings
    is_sound: bool = True

    def judged(self, members: Sequence[Member], batch: Batch, view_of: Callable[[str], TrialView]) -> list[Glance]:
        """Judge trials by their numbers, but for those that numbers do not settle; ``batch`` gets to know these.

        ``view_of`` makes the view of a trial, to ask gates.
        """
        block = Block(
            same=self.same,
            missing_keys=self.missing_keys,
            topology=self.likeness.view.placed.name,
            limits=tuple((each.gate, each.limit_id, each.rule.limit if each.rule else None) for each in self.read),
            answers=tuple(each.rule.answers(batch) for each in self.read if each.rule),
            keys={key.label: key.same for key in self.keys},
            read_keys=tuple((key.label, batch.of(key.measure)) for key in self.keys if key.measure is not None),
            id_keys=tuple(key.label for key in self.keys if key.is_content_id),
            figures=tuple(None if measure is None else batch.of(measure) for measure in self.figures),
            findings=self._findings(members, batch, view_of),
        )
        return self._glances(members, block, batch.odd)

    def _findings(
        self, members: Sequence[Member], batch: Batch, view_of: Callable[[str], TrialView]
    ) -> list[dict[tuple[str, str], Finding]]:
        """Ask the gates for what is not read off the numbers; a trial that they doubt as a whole is odd."""
        found: list[dict[tuple[str, str], Finding]] = [{}] * len(members)
        for at, member in enumerate(members if self.asked else ()):
            if at in batch.odd:
                continue
            view = self._checked(view_of(member.id))
            found[at] = {(each.gate, each.limit_id): each.ask(view) for each in self.asked}
            if any(finding.spreads_to and finding.outcome == "UNKNOWN" for finding in found[at].values()):
                batch.odd.add(at)
        return found

    def _checked(self, view: TrialView) -> TrialView:
        """Return a view that has its identities from its kin: the same ones are evaluated, and hold."""
        checks = self.likeness.view.checks
        return replace(view, checked={name: (view.trial.windows[name], found) for name, found in checks.items()})

    def _glances(self, members: Sequence[Member], block: Block, odd: set[int]) -> list[Glance]:
        passed = [answers.passed() for answers in block.answers]
        outcomes: list[Outcomes] = list(zip(*passed, strict=True)) if passed else [()] * len(members)
        if self.asked:
            asked = ([finding.outcome for finding in found.values()] for found in block.findings)
            outcomes = [(*read, *said) for read, said in zip(outcomes, asked, strict=True)]
        settled: Sequence[int] = range(len(members))
        if odd:
            settled = [at for at in settled if at not in odd]
            members, outcomes = [members[at] for at in settled], [outcomes[at] for at in settled]
        standings = zip(*map(self.standings.__getitem__, outcomes), strict=True)
        return list(map(Glance, repeat(block), settled, members, *standings))


def kin_of(view: TrialView, order: Order, known: Sequence[Reading]) -> Kin:
    """Return the kin of a trial, which is one of them, to be read by one of the known readings where that can be.

    Raises:
        UnlikeError: what holds for this trial need not hold for others of its form.
    """
    if view.trial.failures is not UNSET or not all(check.holds for found in view.checks.values() for check in found):
        raise UnlikeError
    reading, forms = _read_with(view, known)
    others = {name: window for name, window in view.trial.windows.items() if window.purpose != "counted"}
    likeness = Likeness(view=view, forms=forms, others=others, shared=reading.measures)
    docket = docket_of(view, order.keys)
    speaking = tuple(called.gate.id for called in docket.speaking)
    same: dict[str, dict[str, Figure]] = {gate: {} for gate in speaking}
    differing: list[Differing] = []
    for called in docket.speaking:
        for limit_id in called.limits:
            found = _differing(likeness, called, limit_id)
            if found is None:
                same[called.gate.id][limit_id] = figure_of(_sound(finding_of(view, docket, called, limit_id), called))
            else:
                differing.append(found)
    read = tuple(each for each in differing if each.rule is not None)
    asked = tuple(each for each in differing if each.rule is None)
    keys = tuple(key_value_of(likeness, key) for key in order.keys)
    missing_keys = tuple(key.label for key in keys if key.is_missing)
    said: set[tuple[str, object]] = {(gate, each.outcome) for gate, limits in same.items() for each in limits.values()}
    return Kin(
        likeness=likeness,
        reading=reading,
        same=same,
        read=read,
        asked=asked,
        keys=keys,
        missing_keys=missing_keys,
        figures=figure_measures(likeness, order),
        standings=Standings(said, [each.gate for each in (*read, *asked)], speaking, missing_keys),
    )


def _sound(finding: Finding, called: Called) -> Finding:
    """Return what a gate said, if that puts nothing in doubt that others say.

    Raises:
        UnlikeError: it does.
    """
    if (called.gate.grounds and finding.outcome == "FAIL") or (finding.spreads_to and finding.outcome == "UNKNOWN"):
        raise UnlikeError
    return finding


def _read_with(view: TrialView, known: Sequence[Reading]) -> tuple[Reading, tuple[Form, ...]]:
    """Return how trials like this one are read, and the form of each counted window.

    Raises:
        UnlikeError: a window has no form, or an identity reads what is not known.
    """
    windows = sorted(view.trial.windows.items())
    counted = [(name, window) for name, window in windows if window.purpose == "counted"]
    beside = {name: (each.purpose, each.load_point) for name, each in windows if each.purpose != "counted"}
    roots = [form.root for reading in known for form in reading.forms]
    forms = tuple(form_of(name, window, view.ranks, roots=roots) for name, window in counted)
    for reading in known:
        if reading.takes(forms, beside):
            return reading, forms
    points: dict[str, list[int]] = {}
    for at, form in enumerate(forms):
        points.setdefault(form.window.load_point, []).append(at)
    reading = Reading(
        forms=forms,
        tests=tuple((at, test) for at, form in enumerate(forms) for test in tests_of(form, view.facts(form.window))),
        beside=beside,
        repeated=tuple(map(tuple, points.values())) if view.min_repeats > 1 else (),
        min_repeats=view.min_repeats,
    )
    return reading, forms


def _differing(likeness: Likeness, called: Called, limit_id: str) -> Differing | None:
    """Return how a limit is judged; None for one that says the same of all trials alike."""
    if called.of_placement:
        return None
    try:
        rule = rule_of(likeness, called.gate.id, called.limits[limit_id])
    except UnlikeError:
        return Differing(called=called, limit_id=limit_id)
    return None if rule is None else Differing(called=called, limit_id=limit_id, rule=rule)
