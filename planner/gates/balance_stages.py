"""Balance of pipeline stages: how far the slowest is above the mean, and how long the others idle.

Rules kept: a stage of every pipeline and phase is judged by itself; a missing stage is never left out; the first and
last stage carry embedding and head, so they are not excused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from planner.compare import Comparator, Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.wording import apart, ms, no_window, share, unjudged, why
from planner.numbers import exact
from planner.readings import Reading, Sample, Unfit, WindowView, number
from planner.records.base import UNSET, Id, Share, UnsetType
from planner.records.evidence import Phase, StageTimes
from planner.view import TrialView

FAMILY = "balance"


class StageBalanceLimit(Limit, frozen=True, kw_only=True):
    """A floor for mean / slowest of the stages' busy times, or a ceiling for the idle share of any stage."""

    one_of: ClassVar[tuple[str, ...]] = ("min_balance", "max_idle_share")

    load_point: Id
    phase: Phase | UnsetType = UNSET
    min_balance: Share | UnsetType = UNSET
    max_idle_share: Share | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the busy times, where a pipeline has stages; traces of an instrumented window do."""
        return (Ask(metric="stages.busy_ms", load_point=self.load_point, conditional=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Busy times of one pipeline in ms, and its cycle."""

    busy: tuple[Fraction, ...]
    cycle: Fraction

    @property
    def slowest(self) -> int:
        """The stage that is busy longest, the first of equals."""
        return max(range(len(self.busy)), key=lambda stage: (self.busy[stage], -stage))

    @property
    def idlest(self) -> int:
        """The stage that idles longest, the first of equals."""
        return min(range(len(self.busy)), key=lambda stage: (self.busy[stage], stage))

    @property
    def mean(self) -> Fraction:
        """The mean busy time."""
        return sum(self.busy, Fraction(0)) / len(self.busy)


@gate(
    "stage_balance",
    family=FAMILY,
    title="No pipeline stage holds the others back",
    limit=StageBalanceLimit,
    reads=("stages.busy_ms", "stages.cycle_ms"),
    unit="share",
    needs=("groups", "devices"),
    hint="Move layers off the slowest stage; the first and last also carry embedding and head.",
)
def stage_balance(view: TrialView, limit: StageBalanceLimit) -> Finding:
    """Mean over slowest of the stages' busy times reaches the floor, or the idle share of the idlest stage
    (1 - busy / cycle) stays under the ceiling, for every pipeline of more than one stage, in every phase recorded or
    in the one declared. Without a recorded cycle the slowest stage sets it."""
    owed = [index for index, instance in enumerate(view.trial.topology.instances) if instance.pp > 1]
    if not owed:
        return not_applicable("No pipeline has more than one stage.")
    windows = view.traced(limit.load_point, "stages", "busy_ms")
    samples = tuple(sample for window in windows for index in owed for sample in _samples(view, window, limit, index))
    by_idle = limit.given == "max_idle_share"
    comparator: Comparator = "<=" if by_idle else ">="
    most = exact(getattr(limit, limit.given))
    reading = Reading(samples=samples, worst_is="highest" if by_idle else "lowest")
    result = compare(reading if samples else view.qualified(reading, limit.load_point), comparator, most)
    finding = compared(result, _sentence(windows, result, limit, most), limit_field=limit.given)
    return replace(finding, comparator=comparator)


def _samples(view: TrialView, window: WindowView, limit: StageBalanceLimit, index: int) -> Iterator[Sample]:
    """Yield a sample of every recorded phase of one instance, or one that says what is missing."""
    of_instance = [(name, stages) for name, stages in sorted(_stages(window).items()) if _instance(stages) == index]
    wanted = [
        (name, stages)
        for name, stages in of_instance
        if isinstance(limit.phase, UnsetType) or _phase(stages) == limit.phase
    ]
    if not wanted:
        note = f"Only {_phase(of_instance[0][1])} is recorded." if of_instance else ""
        where = (("window", window.id), ("instance", str(index)))
        missing = (f"{window.at}/stages",)
        yield Sample(value=None, low=None, high=None, where=where, missing=missing, notes=(note,) if note else ())
    stages_owed = view.trial.topology.instances[index].pp
    for name, stages in wanted:
        yield _sample(window, name, stages, stages_owed, by_idle=limit.given == "max_idle_share")


def _stages(window: WindowView) -> dict[str, StageTimes]:
    return {} if isinstance(window.record.stages, UnsetType) else window.record.stages


def _instance(stages: StageTimes) -> int:
    return 0 if isinstance(stages.instance, UnsetType) else stages.instance


def _phase(stages: StageTimes) -> Phase:
    return "mixed" if isinstance(stages.phase, UnsetType) else stages.phase


def _sample(window: WindowView, name: str, stages: StageTimes, owed: int, *, by_idle: bool) -> Sample:
    at = f"{window.at}/stages/{name}"
    where = (("window", window.id), ("stages", name))
    absent = tuple(f"{at}/busy_ms/{stage}" for stage, value in enumerate(stages.busy_ms) if value is None)
    if absent or len(stages.busy_ms) < owed:
        notes = () if len(stages.busy_ms) == owed else (f"{len(stages.busy_ms)} of {owed} stages are recorded.",)
        return Sample(value=None, low=None, high=None, where=where, missing=absent or (f"{at}/busy_ms",), notes=notes)
    unfit, cycle = _unfit(at, stages, owed), _cycle(stages)
    if unfit or cycle is None:
        return Sample(value=None, low=None, high=None, where=where, unfit=unfit)
    stage = cycle.idlest if by_idle else cycle.slowest
    value = 1 - cycle.busy[stage] / cycle.cycle if by_idle else cycle.mean / cycle.busy[stage]
    return Sample(
        value=value, low=value, high=value, where=(*where, ("stage", str(stage))), read=(f"{at}/busy_ms/{stage}",)
    )


def _unfit(at: str, stages: StageTimes, owed: int) -> tuple[Unfit, ...]:
    """Say why busy times of every stage, and the cycle beside them, cannot be judged; nothing where they can."""
    busy, cycle = [number(value) or Fraction(0) for value in stages.busy_ms], number(stages.cycle_ms)
    slowest = max(busy)
    if len(busy) > owed:
        sentence = f"busy_ms has {len(busy)} stages: the pipeline has {owed}."
    elif slowest == 0:
        sentence = "busy_ms is 0 for every stage: no balance follows from it."
    elif cycle is not None and cycle < slowest:
        found, least = apart(ms, cycle, slowest, 2)
        busiest = f"stage {busy.index(slowest)} is busy for {least}"
        sentence = f"cycle_ms is {found}, {busiest}: a cycle is no shorter than its slowest stage."
        return (Unfit(at=(f"{at}/cycle_ms", f"{at}/busy_ms/{busy.index(slowest)}"), sentence=sentence),)
    else:
        return ()
    return (Unfit(at=(f"{at}/busy_ms",), sentence=sentence),)


def _cycle(stages: StageTimes) -> Cycle | None:
    """Return busy times and cycle; None where one is missing, or where they contradict each other."""
    busy = [value for value in map(number, stages.busy_ms) if value is not None]
    if not busy or len(busy) < len(stages.busy_ms) or max(busy) == 0:
        return None
    recorded = number(stages.cycle_ms)
    cycle = max(busy) if recorded is None else recorded
    return Cycle(busy=tuple(busy), cycle=cycle) if cycle >= max(busy) else None


def _sentence(windows: Sequence[WindowView], result: Comparison, limit: StageBalanceLimit, most: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    window = next(window for window in windows if window.id == place["window"])
    cycle = _cycle(_stages(window)[place["stages"]]) if "stage" in place else None
    if cycle is None or decides.value is None:
        said = unjudged(decides, "Stage times", f"in window {place['window']}", "are")
        return said if decides.unfit else f"{said}{why(result)}"
    found, allowed = apart(share, decides.value, most, 3)
    slowest = f"Stage {cycle.slowest} is slowest with {ms(cycle.busy[cycle.slowest])}, mean {ms(cycle.mean)}"
    if limit.given == "max_idle_share":
        idles = f"Stage {cycle.idlest} idles {found} of the cycle in window {place['window']}"
        return f"{idles}; at most {allowed}. {slowest}."
    idles = f"Stage {cycle.idlest} idles {share(1 - cycle.busy[cycle.idlest] / cycle.cycle)}"
    return f"{slowest}: balance {found} in window {place['window']}; at least {allowed}. {idles}."
