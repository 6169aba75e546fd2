"""Service: is the output right on this topology, and does the deployment stay up?

Rules kept: a score of another topology or another identity says nothing of this trial; a score counts with its
number of items and its interval; incidents are read in counted and in soak windows, and nobody having looked is not
the same as none having happened.
"""

from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from planner.compare import Comparator, Comparison, compare
from planner.figures import grouped
from planner.gates.base import WHOLE_TRIAL, Ask, Finding, Limit, compared, gate
from planner.gates.wording import apart, count, counted, no_window, share, unjudged, why
from planner.numbers import exact
from planner.rankmap import derived_name
from planner.readings import Reading, Sample, WindowView, number, zero
from planner.records.base import UNSET, Count, Id, Number, Share, Text, UnsetType
from planner.records.evidence import Quality
from planner.request_shares import request_share
from planner.shown import shown
from planner.view import TrialView

FAMILY = "service"
SHARES = {"max_failed_share": "failed", "max_retried_share": "retried"}
HAPPENED = {"failed": "failed", "retried": "were retried"}
PREEMPTIONS = "max_preemptions_per_1000_requests"
INCIDENTS = {
    "max_collective_timeouts": ("collective_timeouts", "collective timeout"),
    "max_hangs": ("hangs", "hang"),
    "max_restarts": ("restarts", "restart"),
    "max_device_errors": ("device_errors", "device error"),
    "max_throttling": ("throttling", "throttling event"),
    "max_corrupted_outputs": ("corrupted_outputs", "corrupted output"),
}


class QualityLimit(Limit, frozen=True, kw_only=True):
    """A floor for the score on a benchmark, or a ceiling for its drop below the reference's score."""

    one_of: ClassVar[tuple[str, ...]] = ("min_score", "max_drop")

    benchmark: Text
    min_score: Number | UnsetType = UNSET
    max_drop: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for a score of this topology, which stands on the trial."""
        return (Ask(metric="quality.score", load_point=WHOLE_TRIAL, conditional=True),)


class ErrorsLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for one thing that goes wrong; ``max_failed_share`` and the like are shares of requests sent."""

    one_of: ClassVar[tuple[str, ...]] = (*SHARES, PREEMPTIONS, *INCIDENTS)

    load_point: Id
    max_failed_share: Share | UnsetType = UNSET
    max_retried_share: Share | UnsetType = UNSET
    max_preemptions_per_1000_requests: Number | UnsetType = UNSET
    max_collective_timeouts: Count | UnsetType = UNSET
    max_hangs: Count | UnsetType = UNSET
    max_restarts: Count | UnsetType = UNSET
    max_device_errors: Count | UnsetType = UNSET
    max_throttling: Count | UnsetType = UNSET
    max_corrupted_outputs: Count | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the requests; incidents stand in soak windows too, and the rule itself looks for them."""
        field = self.given
        if field in SHARES:
            return (Ask(metric="load.requests", load_point=self.load_point, fields=("sent", SHARES[field])),)
        if field == PREEMPTIONS:
            return (
                Ask(metric="load.preemptions", load_point=self.load_point),
                Ask(metric="load.requests", load_point=self.load_point, fields=("completed",)),
            )
        return (Ask(metric=f"incidents.{INCIDENTS[field][0]}", load_point=self.load_point, conditional=True),)


@gate(
    "quality",
    family=FAMILY,
    title="The output is as good as the reference",
    limit=QualityLimit,
    reads=("quality.score",),
    unit="score",
    hint="Look for a kernel or a split that changes the numbers: results must not depend on the topology.",
)
def quality(view: TrialView, limit: QualityLimit) -> Finding:
    """Every score on the benchmark that was measured on this topology, with what the trial ran, reaches the floor,
    or is at most max_drop below the reference's. A score of another topology or identity, or one without the number
    of items and an interval, answers nothing."""
    entries = {} if isinstance(view.trial.quality, UnsetType) else view.trial.quality
    scores = {name: entry for name, entry in sorted(entries.items()) if entry.benchmark == limit.benchmark}
    own = {name: entry for name, entry in scores.items() if not _foreign(view, entry)}
    field = limit.given
    comparator: Comparator = ">=" if field == "min_score" else "<="
    samples = tuple(_score(view, name, entry, field) for name, entry in own.items())
    missing = () if samples else (f"{view.at}/quality",)
    notes = tuple(_foreign(view, entry) for entry in scores.values() if entry not in own.values())
    reading = Reading(
        samples=samples, worst_is="lowest" if field == "min_score" else "highest", missing=missing, notes=notes
    )
    bound = exact(getattr(limit, field))
    result = compare(reading, comparator, bound)
    finding = compared(result, _quality_sentence(view, limit, result, field, bound), limit_field=field)
    return replace(finding, comparator=comparator)


def _foreign(view: TrialView, entry: Quality) -> str:
    """Say why a score is not this trial's; empty where it is."""
    own = derived_name(view.trial.topology)
    score = "A score" if entry.score is None else f"{grouped(exact(entry.score), 4)}"
    if entry.topology != own:
        return f"{score} was measured on {shown(entry.topology)}, not on {own}."
    if entry.identity_id != view.trial.identity_id:
        return f"{score} was measured with identity {entry.identity_id}, not {view.trial.identity_id}."
    return ""


def _score(view: TrialView, name: str, entry: Quality, field: str) -> Sample:
    at = f"{view.at}/quality/{name}"
    score, reference = number(entry.score), number(entry.reference_score)
    owed = {
        "score": score is not None,
        "n": number(entry.n) is not None,
        "interval": not isinstance(entry.interval, UnsetType),
        "reference_score": reference is not None or field == "min_score",
    }
    lacking = [what for what, found in owed.items() if not found]
    doubts = [f"Its {what} is not recorded." for what in lacking] or _score_doubts(entry)
    drop = None if score is None or reference is None else reference - score
    value = score if field == "min_score" else drop
    usable = None if doubts else value
    return Sample(
        value=value,
        low=usable,
        high=usable,
        where=(("quality", name),),
        read=(f"{at}/score",),
        missing=tuple(f"{at}/{what}" for what in lacking),
        notes=tuple(doubts),
    )


def _score_doubts(entry: Quality) -> list[str]:
    """Say why a score whose fields are all there cannot be true."""
    doubts = [] if entry.n else ["It is over 0 items."]
    score, interval = number(entry.score), entry.interval
    if score is not None and not isinstance(interval, UnsetType):
        low, high = exact(interval.low), exact(interval.high)
        if not low <= score <= high:
            doubts.append(f"Its interval, {grouped(low, 4)} to {grouped(high, 4)}, does not hold it.")
    return doubts


def _quality_sentence(view: TrialView, limit: QualityLimit, result: Comparison, field: str, bound: Fraction) -> str:
    decides, own = result.decides, derived_name(view.trial.topology)
    if decides is None or decides.value is None:
        reason = "".join(f" {note}" for note in result.notes[:1])
        return f"No usable score on {shown(limit.benchmark)} is recorded for {own}.{reason}"
    found, allowed = apart(grouped, decides.value, bound, 4)
    if field == "min_score":
        return f"{own} scores {found} on {shown(limit.benchmark)}; at least {allowed}.{why(result)}"
    return f"{own} scores {found} below the reference on {shown(limit.benchmark)}; at most {allowed}.{why(result)}"


@gate(
    "errors",
    family=FAMILY,
    title="Little goes wrong under load",
    limit=ErrorsLimit,
    reads=("load.requests", "load.preemptions", *(f"incidents.{kind}" for kind, _ in INCIDENTS.values())),
    comparator="<=",
    hint="Read the diagnostics around the first incident before measuring again.",
)
def errors(view: TrialView, limit: ErrorsLimit) -> Finding:
    """The share of requests that failed or were retried, preemptions per 1,000 completed requests, or the number of
    incidents of a kind, is at most the ceiling in every counted window; incidents count in soak windows too. A window
    in which nobody looked for the incident is UNKNOWN."""
    field = limit.given
    most = exact(getattr(limit, field))
    reading = view.qualified(_errors(view, limit, field), limit.load_point)
    result = compare(reading, "<=", most)
    finding = compared(result, _errors_sentence(result, limit, field, most), limit_field=field)
    return replace(finding, unit="share" if field in SHARES else "ratio" if field == PREEMPTIONS else "incidents")


def _errors(view: TrialView, limit: ErrorsLimit, field: str) -> Reading:
    windows = view.windows(limit.load_point)
    if field in SHARES:
        return request_share(windows, SHARES[field], worst_is="highest")
    if field == PREEMPTIONS:
        return Reading(samples=tuple(map(_preemptions, windows)), worst_is="highest")
    watched = sorted((*windows, *view.stretches(limit.load_point, "soak")), key=lambda window: window.id)
    return Reading(samples=tuple(_incidents(window, field) for window in watched), worst_is="highest")


def _preemptions(window: WindowView) -> Sample:
    load = window.record.load
    preempted = None if isinstance(load, UnsetType) else number(load.preemptions)
    requests = UNSET if isinstance(load, UnsetType) else load.requests
    completed = None if isinstance(requests, UnsetType) else number(requests.completed)
    fields = {"/load/preemptions": preempted, "/load/requests/completed": completed}
    missing = tuple(window.at + at for at, value in fields.items() if value is None)
    value = None if preempted is None or not completed else preempted / completed * 1000
    return Sample(
        value=value,
        low=value,
        high=value,
        where=(("window", window.id),),
        read=() if missing else tuple(window.at + at for at in fields),
        missing=missing,
        doubts=window.doubts(fields),
        unfit=zero(window.at, "/load/requests/completed", no="rate per request") if completed == 0 else (),
    )


def _incidents(window: WindowView, field: str) -> Sample:
    kind = INCIDENTS[field][0]
    records = {} if isinstance(window.record.incidents, UnsetType) else window.record.incidents
    found = next((entry for name, entry in records.items() if name == kind), None)
    value = None if found is None else number(found.count)
    first = None if found is None else number(found.first_after_s)
    at = f"{window.at}/incidents/{kind}"
    return Sample(
        value=value,
        low=value,
        high=value,
        where=(("window", window.id),),
        read=() if value is None else (f"{at}/count",),
        missing=(at,) if value is None else (),
        notes=() if not value or first is None else (f"First after {count(first)} s of {window.id}.",),
    )


def _errors_sentence(result: Comparison, limit: ErrorsLimit, field: str, most: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    where = f"at {limit.load_point} in window {decides.place['window']}"
    if field in SHARES:
        if decides.value is None:
            return unjudged(decides, f"Requests sent and {SHARES[field]}", where, "are")
        found, allowed = apart(share, decides.value, most, 3)
        return f"{found} of the requests {HAPPENED[SHARES[field]]} {where}; at most {allowed}.{why(result)}"
    if field == PREEMPTIONS:
        if decides.value is None:
            return unjudged(decides, "Preemptions", where, "are")
        found, allowed = apart(grouped, decides.value, most, 2)
        return f"{found} preemptions per 1,000 requests {where}; at most {allowed}.{why(result)}"
    kind, noun = INCIDENTS[field]
    if decides.value is None:
        return f"Nobody looked for {kind.replace('_', ' ')} {where}."
    first = f" {decides.notes[0]}" if decides.notes else ""
    return f"{counted(int(decides.value), noun)} {where}; at most {count(most)}.{first}"
