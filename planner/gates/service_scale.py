"""Useful scale-out: how much faster the trial does the same work than the smallest topology measured.

Rules kept: the baseline stands in the trial's own evidence, so that adding a trial changes no other verdict; only a
baseline of the same identity compares; that a smaller topology was never tried is UNKNOWN, not a pass.
"""

from fractions import Fraction
from typing import ClassVar

from planner.compare import Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable, unknown
from planner.gates.slo import THROUGHPUT_READS
from planner.gates.wording import apart, counted, no_window, share, unjudged, why
from planner.numbers import exact
from planner.rankmap import derived_name
from planner.readings import number, zero
from planner.records.base import UNSET, Id, Number, UnsetType
from planner.records.evidence import Baseline
from planner.shown import shown
from planner.view import TrialView

FAMILY = "service"


class ScaleOutLimit(Limit, frozen=True, kw_only=True):
    """A floor for the speedup over the baseline, or for the speedup over the ratio of ranks."""

    one_of: ClassVar[tuple[str, ...]] = ("min_speedup", "min_efficiency")

    load_point: Id
    min_speedup: Number | UnsetType = UNSET
    min_efficiency: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the output rate; the baseline stands on the trial and the rule itself looks for it."""
        return tuple(
            Ask(metric=metric, load_point=self.load_point, fields=fields) for metric, fields in THROUGHPUT_READS[:2]
        )


@gate(
    "scale_out",
    family=FAMILY,
    title="More devices are worth their number",
    limit=ScaleOutLimit,
    reads=tuple(metric for metric, _ in THROUGHPUT_READS[:2]),
    unit="ratio",
    comparator=">=",
    hint="Independent replicas of the smaller topology, if its latency holds.",
)
def scale_out(view: TrialView, limit: ScaleOutLimit) -> Finding:
    """The time of the same output tokens on the baseline over that on the trial, at the same load point, reaches the
    floor; or that speedup over the ratio of their ranks does. The baseline is the smallest topology measured with the
    same identity; where a smaller one was tried and did not fit, nothing compares."""
    baseline = view.trial.baseline
    if isinstance(baseline, UnsetType):
        return unknown("No smaller topology is recorded as measured or tried.", missing=(f"{view.at}/baseline",))
    if baseline.ranks > view.ranks or (baseline.ranks == view.ranks and not baseline.fits):
        sentence = (
            f"The baseline has {counted(baseline.ranks, 'rank')}, the trial {view.ranks:,}: it is no smaller one."
        )
        return unknown(sentence, missing=(f"{view.at}/baseline/ranks",))
    if not baseline.fits:
        return not_applicable(f"A smaller topology, {shown(baseline.topology)}, was tried and does not fit.")
    if baseline.topology == derived_name(view.trial.topology):
        return not_applicable("This topology is its own baseline.")
    base = _base_rate(view, baseline, limit)
    if isinstance(base, Finding):
        return base
    field = limit.given
    ratio = Fraction(view.ranks, baseline.ranks) if field == "min_efficiency" else Fraction(1)
    reading = view.throughput(limit.load_point).map(lambda rate: rate / base / ratio, worst_is="lowest")
    floor = exact(getattr(limit, field))
    result = compare(reading, ">=", floor)
    return compared(result, _sentence(view, result, limit, baseline, floor), limit_field=field)


def _base_rate(view: TrialView, baseline: Baseline, limit: ScaleOutLimit) -> Fraction | Finding:
    """Return the baseline's output tokens per second, or why there is none that compares."""
    at = f"{view.at}/baseline"
    if baseline.identity_id != view.trial.identity_id:
        sentence = f"The baseline ran with identity {baseline.identity_id}, the trial with {view.trial.identity_id}."
        return unknown(sentence, missing=(f"{at}/identity_id",))
    loads = {} if isinstance(baseline.load, UnsetType) else baseline.load
    load = loads.get(limit.load_point)
    tokens = None if load is None else number(load.output_tokens_total)
    seconds = None if load is None else number(load.duration_s)
    if tokens and seconds:
        return tokens / seconds
    fields = {"/output_tokens_total": tokens, "/duration_s": seconds}
    below, rate = f"{at}/load/{limit.load_point}", f"The baseline's output rate at {limit.load_point}"
    missing = tuple(below + name for name, value in fields.items() if value is None)
    if missing:
        return unknown(f"{rate} is not recorded.", missing=missing)
    (unfit,) = zero(below, *(name for name, value in fields.items() if value == 0), no="speedup")
    return unknown(f"{rate} cannot be judged. {unfit.sentence}", measured_at=unfit.at)


def _sentence(view: TrialView, result: Comparison, limit: ScaleOutLimit, baseline: Baseline, floor: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    window = decides.place["window"]
    if decides.value is None:
        return unjudged(decides, f"Output rate at {limit.load_point}", f"in window {window}")
    found, least = apart(share, decides.value, floor, 3)
    what = f"{view.ranks:,} ranks against {baseline.ranks:,} of {shown(baseline.topology, quote=False)}"
    measure = "per rank " if limit.given == "min_efficiency" else ""
    return f"{what}: {found} × as fast {measure}in window {window}; at least {least}.{why(result)}"
