"""Evidence: is it about this identity, recent, complete, steady, and can its figures all be true?

Rules kept: unknown or missing never matches; a choice that differs fails, an environment that differs is UNKNOWN,
because evidence from another environment says nothing about this one; telemetry and consistency never fail a trial.
What UNKNOWN here does to the gates that read measurements happens in ``planner.evaluate`` and ``planner.readings``.
"""

from datetime import datetime
from fractions import Fraction
from functools import partial

from planner.compare import compare
from planner.consistency import broken_of
from planner.gates.base import EVERY_LOAD_POINT, Ask, Finding, Limit, Standing, compared, gate
from planner.gates.owed import advised, required
from planner.gates.wording import apart, counted, named, no_window, share, unjudged, why
from planner.identity import Difference
from planner.numbers import exact
from planner.presence import Presence, Wants, presences
from planner.readings import WindowView, number
from planner.records.base import Id, Share, UnsetType
from planner.request_shares import request_share
from planner.shown import shown
from planner.times import parsed_time
from planner.view import TrialView

FAMILY = "evidence"


@gate(
    "identity",
    family=FAMILY,
    title="What ran is what the contract names",
    unit="leaves",
    comparator="==",
    of_identity=True,
    hint="Measure again with the contract's stack and hardware, or revise the contract.",
)
def identity(view: TrialView, standing: Standing) -> Finding:
    """Every leaf of the contract's identity is recorded for the trial, and those of stack, hardware and telemetry
    are equal. A missing or unknown leaf, or a different environment, is UNKNOWN: the evidence is for another build."""
    found, at = view.identity, f"/identities/{view.trial.identity_id}"
    unknown = found.unknown
    faults = [*map(_difference, found.environment), *map(_absence, unknown)]
    notes = (
        (f"{counted(found.only_observed, 'leaf', 'leaves')} only the trial has, not bound.",)
        if found.only_observed
        else ()
    )
    return Finding(
        outcome="UNKNOWN" if faults else "PASS",
        sentence=named(faults) or f"All {found.compared:,} bound leaves are recorded and match.",
        measured=exact(found.compared - len(faults)),
        limit=exact(found.compared),
        measured_at=tuple([f"{at}{difference.at}" for difference in found.environment]),
        missing=tuple([f"{at}{leaf}" for leaf in unknown]),
        notes=notes,
        limit_at="/identity",
        spreads_to=EVERY_LOAD_POINT if faults else (),
    )


@gate(
    "equal_service",
    family=FAMILY,
    title="The trial gives the service that the contract compares",
    unit="leaves",
    comparator="==",
    of_identity=True,
    hint="Measure again with the contract's model, precision and workload.",
)
def equal_service(view: TrialView, standing: Standing) -> Finding:
    """Every recorded choice (model, precision, workload, and the contract's choice_keys) is the contract's, and the
    ranks placed are its accelerator_count where it sets one. Compared with the contract, never with other trials."""
    found, at = view.identity, f"/identities/{view.trial.identity_id}"
    wanted = view.comparison.accelerator_count
    faults = [_difference(difference) for difference in found.choices]
    if not isinstance(wanted, UnsetType) and view.ranks != wanted:
        faults.append(f"{counted(view.ranks, 'rank')} placed; the contract compares {wanted:,}.")
    missing = found.unknown_choices
    agreed = "Model, precision, workload and what else must be equal are the contract's."
    return Finding(
        outcome="FAIL" if faults else "UNKNOWN" if missing else "PASS",
        sentence=named(faults or [_absence(leaf) for leaf in missing]) or agreed,
        worst=(("leaf", found.choices[0].at),) if found.choices else (),
        measured_at=tuple(f"{at}{difference.at}" for difference in found.choices),
        missing=tuple(f"{at}{leaf}" for leaf in missing),
        limit_at="/identity" if found.choices or isinstance(wanted, UnsetType) else "/comparison/accelerator_count",
    )


def _difference(difference: Difference) -> str:
    return f"{difference.at} is {shown(difference.found)}; the contract says {shown(difference.expected)}."


def _absence(leaf: str) -> str:
    return f"{leaf} is not known."


@gate(
    "freshness",
    family=FAMILY,
    title="The evidence is recent enough",
    unit="s",
    comparator="<=",
    hint="Measure again.",
)
def freshness(view: TrialView, standing: Standing) -> Finding:
    """The oldest window read ended at most max_evidence_age_s before the as-of time. A window that ended after it,
    or whose time has no zone, is UNKNOWN; without a declared maximum only these are tested. Read are the counted
    windows of every limit, selection key and entry of evidence_required, and the instrumented and soak windows of
    those that look there."""
    windows = windows_read(view, standing)
    if not view.counted:
        return Finding(
            outcome="UNKNOWN",
            sentence="No counted window.",
            missing=(f"{view.at}/windows",),
            spreads_to=EVERY_LOAD_POINT,
        )
    odd: list[WindowView] = []
    oldest: tuple[datetime, WindowView] | None = None
    for window in windows:
        end = parsed_time(window.record.end)
        if end is None or end > view.as_of:
            odd.append(window)
        if end is not None and (oldest is None or end < oldest[0]):
            oldest = end, window
    return _aged(view, oldest, odd)


def windows_read(view: TrialView, standing: Standing) -> list[WindowView]:
    """Return the windows that something reads; all counted ones where nothing reads any."""
    required = view.contract.evidence_required
    asked = () if isinstance(required, UnsetType) else [at for each in required.values() for at in each.load_points]
    read = view.windows_read(standing.load_points, (*standing.traced, *asked))
    return read or [window for windows in view.counted.values() for window in windows]


def _aged(view: TrialView, oldest: tuple[datetime, WindowView] | None, odd: list[WindowView]) -> Finding:
    validity = view.contract.validity
    most = None if isinstance(validity, UnsetType) else number(validity.max_evidence_age_s)
    age = None if oldest is None else Fraction(int((view.as_of - oldest[0]).total_seconds()))
    stale = most is not None and age is not None and age > most
    decides = odd[0] if odd and not stale else oldest[1] if oldest else odd[0]
    return Finding(
        outcome="FAIL" if stale else "UNKNOWN" if odd else "PASS",
        sentence=partial(_age, age, most, odd, stale=stale),
        measured=age,
        limit=most,
        margin=None if most is None or age is None else most - age,
        worst=(("window", decides.id),),
        measured_at=(f"{decides.at}/end",),
        missing=tuple(f"{window.at}/end" for window in odd),
        limit_at=None if most is None else "/validity/max_evidence_age_s",
        spreads_to=tuple(dict.fromkeys(window.record.load_point for window in odd)),
    )


def _age(age: Fraction | None, most: Fraction | None, odd: list[WindowView], *, stale: bool) -> str:
    oddity = [_oddity(odd[0])] if odd else []
    if odd and not stale:
        return oddity[0]
    limit = "no maximum declared" if most is None else f"at most {int(most):,} s"
    return " ".join([f"The oldest window ended {int(age or 0):,} s before the as-of time; {limit}.", *oddity])


def _oddity(window: WindowView) -> str:
    end = window.record.end
    if not end.endswith("Z"):
        return f"Window {window.id} ends {end}, which names no zone; a time ends in Z."
    oddity = "which no calendar has" if parsed_time(end) is None else "after the as-of time"
    return f"Window {window.id} ends {end}, {oddity}."


@gate("telemetry", family=FAMILY, title="Every reading that decides is recorded", unit="readings", comparator="==")
def telemetry(view: TrialView, standing: Standing) -> Finding:
    """Everything that declared limits, selection keys and evidence_required read is recorded for every rank and
    every counted window of its load point, at the scope, samples and interval asked for. Advisory evidence that is
    missing is shown and changes nothing. Never FAILs."""
    contract, kept = view.contract, view.ground.kept
    declared = contract.evidence_required
    wants, shown_only = kept.once(
        ("wants", standing), lambda: (Wants(required(contract, standing.owed)), Wants(advised(contract)))
    )
    found = presences(view, wants)
    unseen = [each for each in presences(view, shown_only) if each.gaps] if shown_only.all else []
    lacking = [each for each in found if each.gaps]
    readings = sum([each.readings for each in found])

    def say() -> Finding:
        notes = tuple(dict.fromkeys([f"Advisory: {_lacking(each)}" for each in unseen]))
        if readings == 0:
            nothing = "No limit or selection key reads a measurement."
            return Finding(outcome="NOT_APPLICABLE", sentence=nothing, notes=notes)
        return Finding(
            outcome="UNKNOWN" if lacking else "PASS",
            sentence=named([_lacking(each) for each in lacking]) or f"All {readings:,} required readings are recorded.",
            measured=exact(len(found) - len(lacking)),
            limit=exact(len(found)),
            missing=tuple(dict.fromkeys([gap for each in lacking for gap in each.gaps])),
            notes=notes,
            limit_at="/gates" if isinstance(declared, UnsetType) or not declared else "/evidence_required",
        )

    # Of trials that lack nothing the same is said.
    return say() if lacking or unseen else kept.once(("all there", standing, readings), say)


def _lacking(found: Presence) -> str:
    return (
        f"{found.want.metric} at {found.want.load_point} is not recorded as asked ({counted(len(found.gaps), 'gap')})."
    )


@gate("consistency", family=FAMILY, title="The figures can all be true", unit="identities", comparator="==")
def consistency(view: TrialView, standing: Standing) -> Finding:
    """Identities that true figures of one window keep: Little's law, token form, percentile order, totals and rates,
    per-rank arrays, KV caches, bytes handed over, tokens of experts, energy, link bytes, durations and counts. Each is
    evaluated where all its fields are recorded. A breach makes the fields it names UNKNOWN, and what reads them; it
    fails no service gate."""
    checks = sum(map(len, view.checks.values()))
    broken = [(window, check) for window, found in view.checks.items() for check in broken_of(found)]
    if not checks:
        return Finding(outcome="NOT_APPLICABLE", sentence="No identity has all its fields recorded.")
    fields = tuple(
        dict.fromkeys(f"{view.at}/windows/{window}{field}" for window, check in broken for field in check.fields)
    )

    def say() -> Finding:
        evaluated = counted(checks, "identity", "identities")
        holds = f"{evaluated} over {counted(len(view.checks), 'counted window')} hold."
        return Finding(
            outcome="UNKNOWN" if broken else "PASS",
            sentence=named([f"Window {window}: {check.sentence}" for window, check in broken]) or holds,
            measured=exact(checks - len(broken)),
            limit=exact(checks),
            worst=(("window", broken[0][0]), ("identity", broken[0][1].id)) if broken else (),
            measured_at=fields,
            missing=fields,
            notes=(f"{evaluated} evaluated.",),
        )

    # Of trials in which all of them hold the same is said.
    return say() if broken else view.ground.kept.once(("all hold", checks, len(view.checks)), say)


class CompletenessLimit(Limit, frozen=True, kw_only=True):
    """A floor for the share of requests that completed at a load point."""

    load_point: Id
    min_completed_share: Share

    def asks(self) -> tuple[Ask, ...]:
        """Ask for what was sent and what completed."""
        return (Ask(metric="load.requests", load_point=self.load_point, fields=("sent", "completed")),)


@gate(
    "completeness",
    family=FAMILY,
    title="Requests complete",
    limit=CompletenessLimit,
    reads=("load.requests",),
    unit="share",
    comparator=">=",
    hint="Admission control in front of the replicas, or more of them: refused work is not served work.",
)
def completeness(view: TrialView, limit: CompletenessLimit) -> Finding:
    """Completed requests over those sent, without those cut off by the end of a time-boxed run, reach the floor in
    the worst counted window. Refused, failed and timed-out requests count against; cut-off ones only as far as they
    can have been in flight, and only where the tool says so."""
    shares = request_share(view.windows(limit.load_point), "completed", worst_is="lowest")
    reading = view.qualified(shares, limit.load_point)
    floor = exact(limit.min_completed_share)
    result = compare(reading, ">=", floor)
    decides = result.decides
    if decides is None:
        sentence = no_window(limit.load_point)
    elif decides.value is None:
        sentence = unjudged(decides, "Requests sent and completed", f"in window {decides.place['window']}", "are")
    else:
        found, least = apart(share, decides.value, floor, 3)
        where = f"at {limit.load_point} in window {decides.place['window']}"
        sentence = f"{found} of the requests completed {where}; at least {least}.{why(result)}"
    return compared(result, sentence, limit_field="min_completed_share")
