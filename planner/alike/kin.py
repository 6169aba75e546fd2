"""Trials alike: what one of them showed of all, and how each of the others is judged by its numbers.

Rules kept: trials are kin where they are placed alike, ran one identity, and their windows have one form. Of one of
them the gates say everything (``planner.evaluate``); what they say of the others is the same where it does not follow
from a number, and is read off the numbers where it does. Whatever this cannot vouch for, an identity that may not
hold or a number that is out of the ordinary, is left to the gates. Not handled: finding the kin of a trial
(``planner.alike.verdicts``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from msgspec import Struct

from planner.alike.form import Pair, Row, UnlikeError, form_of
from planner.alike.identities import Test, tests_of
from planner.alike.limits import ALWAYS_SAME, Found, Likeness, Rows, Rule, rule_of
from planner.alike.values import UNUSABLE, FrontierFigures, KeyValue, frontier_figures, key_value_of
from planner.evaluate import ALWAYS, Called, Verdict, state_of
from planner.gates.base import Finding, Quantity
from planner.gates.base import Verdict as Outcome
from planner.order import Order
from planner.records.base import UNSET
from planner.records.evidence import Trial
from planner.records.plan import FrontierPoint, State, Value
from planner.times import repeats
from planner.view import TrialView

__all__ = ["Figure", "Glance", "Kin", "figures_of", "kin_of"]

Standing = tuple[State, tuple[str, ...], tuple[str, ...]]
"""State, failing and unknown gates."""
Judged = tuple["Glance", FrontierPoint]


class Figure(Struct, frozen=True, gc=False):
    """What a limit says in figures."""

    outcome: Outcome
    measured: Quantity
    limit: Quantity
    margin: Quantity


class Glance(Struct, frozen=True, kw_only=True, gc=False):
    """A trial judged by its numbers: all that ``planner.evaluate.Verdict`` decides.

    ``found`` are the limits that differ between kin, in the order of ``Kin.rules``: figures, or what a gate said that
    was asked.
    """

    kin: "Kin"
    content_id: str
    found: tuple[Found | Finding, ...]
    state: State
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    values: tuple[Pair | None, ...]

    @property
    def keys(self) -> dict[str, Value]:
        """The value of every selection key."""
        values = zip(self.kin.keys, self.values, strict=True)
        return {key.label: key.written(value, self.content_id) for key, value in values}

    @property
    def missing_keys(self) -> tuple[str, ...]:
        """The keys without a value."""
        return self.kin.missing_keys

    @property
    def topology(self) -> str:
        """The name made of degrees."""
        return self.kin.likeness.view.placed.name

    @property
    def figures(self) -> dict[str, dict[str, Figure]]:
        """What every limit of every gate that speaks says: gate id -> limit id -> figure."""
        figures = {gate: dict(limits) for gate, limits in self.kin.same.items()}
        for rule, found in zip(self.kin.rules, self.found, strict=True):
            figures[rule.gate][rule.limit_id] = rule.figure(found)
        return figures


def figures_of(verdict: Verdict | Glance) -> dict[str, dict[str, Figure]]:
    """Return what every limit of every gate that speaks says of a trial."""
    if isinstance(verdict, Glance):
        return verdict.figures
    return {
        gate: {name: _figure(finding) for name, finding in limits.items()} for gate, limits in verdict.findings.items()
    }


def _figure(finding: Finding) -> Figure:
    return Figure(finding.outcome, finding.measured, finding.limit, finding.margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class KinRule:
    """One limit that differs between kin: ``rule`` reads it off the numbers; without one its gate is asked."""

    called: Called
    limit_id: str
    rule: Rule | None = None
    limit: Fraction | None = None

    @property
    def gate(self) -> str:
        """The id of the gate."""
        return self.called.gate.id

    def ask(self, view: TrialView) -> Finding:
        """Return what the gate itself says."""
        return self.called.gate.rule(view, self.called.limits[self.limit_id])

    def figure(self, found: Found | Finding) -> Figure:
        """Write what was found as the gate does."""
        if isinstance(found, Finding):
            return _figure(found)
        outcome, numerator, denominator, room = found
        margin = None if self.limit is None else Fraction(room, denominator * self.limit.denominator)
        return Figure(outcome, Fraction(numerator, denominator), self.limit, margin)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kin:
    """Trials alike. ``same`` is what gates say of all of them, ``rules`` what differs: those that are asked last.

    ``repeated`` are the windows of each load point, where the contract wants measurements repeated.
    """

    likeness: Likeness
    tests: tuple[tuple[int, Test], ...]
    repeated: tuple[tuple[int, ...], ...]
    same: Mapping[str, Mapping[str, Figure]]
    rules: tuple[KinRule, ...]
    keys: tuple[KeyValue, ...]
    missing_keys: tuple[str, ...]
    frontier: FrontierFigures
    speaking: tuple[str, ...]
    standings: dict[tuple[Outcome, ...], Standing] = field(default_factory=dict)

    def read(self, trial: Trial) -> tuple[Row, ...] | None:
        """Return the numbers of a trial's windows; None where it is no kin."""
        if trial.failures is not UNSET:
            return None
        rows = []
        for form in self.likeness.forms:
            row = form.read(trial.windows[form.window_id])
            if row is None:
                return None
            rows.append(row)
        return tuple(rows)

    def judged(self, view: Callable[[], TrialView], trial_id: str, content_id: str, rows: Rows) -> Judged | None:
        """Judge a trial by its numbers; None where they do not settle it. ``view`` makes its view, to ask gates."""
        if not self._is_ordinary(rows):
            return None
        found = self._found(view, rows)
        values = tuple([key.read(rows) for key in self.keys])
        if found is None or UNUSABLE in values:
            return None
        outcomes = tuple([one.outcome if isinstance(one, Finding) else one[0] for one in found])
        try:
            state, failing, unknown = self.standings[outcomes]
        except KeyError:
            state, failing, unknown = self.standings[outcomes] = self._standing(outcomes)
        point = self.frontier.point(trial_id, state, rows)
        if point is None:
            return None
        glance = Glance(
            kin=self,
            content_id=content_id,
            found=found,
            state=state,
            failing=failing,
            unknown=unknown,
            values=values,
        )
        return glance, point

    def _is_ordinary(self, rows: Rows) -> bool:
        """Say whether every identity surely holds, tokens came at all, and measurements were repeated as wanted."""
        for at, holds in self.tests:
            if not holds(rows[at]):
                return False
        least = self.likeness.view.min_repeats
        return all(repeats((rows[at].start, rows[at].end) for at in places) >= least for places in self.repeated)

    def _found(self, view: Callable[[], TrialView], rows: Rows) -> tuple[Found | Finding, ...] | None:
        found: list[Found | Finding] = []
        asked: TrialView | None = None
        for rule in self.rules:
            if rule.rule is None:
                asked = asked or self._checked(view())
                finding = rule.ask(asked)
                if finding.spreads_to and finding.outcome == "UNKNOWN":
                    return None
                found.append(finding)
                continue
            one = rule.rule(rows)
            if one is None:
                return None
            found.append(one)
        return tuple(found)

    def _checked(self, view: TrialView) -> TrialView:
        """Return a view that has its identities from its kin: the same ones were evaluated, and hold."""
        checks = self.likeness.view.checks
        return replace(view, checked={name: (window, checks[name]) for name, window in view.trial.windows.items()})

    def _standing(self, outcomes: tuple[Outcome, ...]) -> Standing:
        said = {gate: {figure.outcome for figure in limits.values()} for gate, limits in self.same.items()}
        for rule, outcome in zip(self.rules, outcomes, strict=True):
            said[rule.gate].add(outcome)
        failing = tuple(gate for gate in self.speaking if "FAIL" in said[gate])
        unknown = tuple(gate for gate in self.speaking if "UNKNOWN" in said[gate] and gate not in failing)
        return state_of(failing, unknown, self.missing_keys), failing, unknown


def kin_of(view: TrialView, verdict: Verdict, order: Order) -> Kin:
    """Return the kin of a trial that the gates have judged.

    Raises:
        UnlikeError: what holds for this trial need not hold for others of its form.
    """
    if not _is_sound(view, verdict):
        raise UnlikeError
    forms = tuple(form_of(name, window, view.ranks) for name, window in sorted(view.trial.windows.items()))
    likeness = Likeness(view=view, forms=forms)
    tests = [(at, test) for at, form in enumerate(forms) for test in tests_of(form, view.facts(form.window))]
    same: dict[str, dict[str, Figure]] = {gate: {} for gate in verdict.docket.speaking}
    rules: list[KinRule] = []
    for called in (*verdict.docket.grounds, *verdict.docket.others):
        for limit_id in called.limits:
            rule = _rule(likeness, called, limit_id)
            if rule is None:
                same[called.gate.id][limit_id] = _figure(verdict.findings[called.gate.id][limit_id])
            else:
                rules.append(rule)
    points = dict.fromkeys(form.window.load_point for form in forms)
    return Kin(
        likeness=likeness,
        tests=tuple(tests),
        repeated=tuple(likeness.at(point) for point in points) if view.min_repeats > 1 else (),
        same=same,
        rules=tuple(sorted(rules, key=lambda rule: rule.rule is None)),
        keys=tuple(key_value_of(likeness, key) for key in order.keys),
        missing_keys=verdict.missing_keys,
        frontier=frontier_figures(likeness, order),
        speaking=verdict.docket.speaking,
    )


def _is_sound(view: TrialView, verdict: Verdict) -> bool:
    """Say whether no gate puts in doubt what others say, and no injection replaces arithmetic."""
    findings = [finding for limits in verdict.findings.values() for finding in limits.values()]
    checks = [check for found in view.checks.values() for check in found]
    grounds = [verdict.findings[called.gate.id][ALWAYS].outcome for called in verdict.docket.grounds]
    return (
        view.trial.failures is UNSET
        and "FAIL" not in grounds
        and all(check.holds for check in checks)
        and not any(finding.spreads_to and finding.outcome == "UNKNOWN" for finding in findings)
    )


def _rule(likeness: Likeness, called: Called, limit_id: str) -> KinRule | None:
    """Return how a limit is judged; None for one that says the same of all trials alike."""
    limit = called.limits[limit_id]
    if called.of_placement or called.gate.id in ALWAYS_SAME:
        return None
    try:
        built = rule_of(likeness, called.gate.id, limit)
    except UnlikeError:
        return KinRule(called=called, limit_id=limit_id)
    return None if built is None else KinRule(called=called, limit_id=limit_id, rule=built[0], limit=built[1])
