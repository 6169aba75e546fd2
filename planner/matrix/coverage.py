"""How much of a matrix evidence covers: trials matched to candidates, windows to runs.

Rules kept: a trial is a candidate's where layout and degrees are the same; another rank map of the same degrees is said
and covers. A run is measured where as many windows count as it asks for and everything that reads them is recorded
(``planner.presence``); with fewer, or with gaps, it is partly measured, and what lacks is named. Nothing here judges a
value, or whether the evidence is fresh or for this build: that is the plan.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec.structs import replace

from planner.documents import ContractDocument, EvidenceDocument
from planner.figures import number as plain_number
from planner.matrix.axes import canonical, named
from planner.matrix.runs import Reads
from planner.presence import Want, presence
from planner.rankmap import degrees_of, derived_name
from planner.readings import WindowView, number
from planner.records.base import UnsetType
from planner.records.evidence import LayoutName, Load, Trial
from planner.records.matrix import Candidate, Cell, Coverage, Meter, Run, State
from planner.records.plan import Bound
from planner.records.trials import Injection
from planner.times import window_seconds
from planner.view import TrialView, views

__all__ = ["covered"]

ANY_TIME = "2100-01-01T00:00:00Z"
"""Coverage does not ask how old evidence is."""
NO_HITS = Fraction(2, 100)
"""Most hits of a cold window: the tolerance of other shares."""
MOST_LACKS = 6


def covered(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    layout: LayoutName,
    candidates: Mapping[str, Candidate],
    runs: Mapping[str, Run],
    cells: tuple[Cell, ...],
    reads: tuple[Reads, ...],
) -> tuple[tuple[Cell, ...], Coverage]:
    """Return the cells with their states, and the meter."""
    seen = views(contract, evidence, ANY_TIME)
    by_name: dict[str, list[TrialView]] = {}
    unmatched: dict[str, str] = {}
    for trial_id, view in seen.items():
        name = _candidate_name(view, layout)
        if name in candidates:
            by_name.setdefault(name, []).append(view)
        else:
            unmatched[trial_id] = _stranger(view, layout)
    told = tuple(_cell(cell, runs[cell.run], by_name.get(cell.candidate, []), reads) for cell in cells)
    advised = [cell for cell in told if runs[cell.run].required and candidates[cell.candidate].worth != "optional"]
    return told, Coverage(
        evidence=Bound(content_id=evidence.content_id),
        advised=_meter(advised),
        all=_meter(told),
        unmatched=unmatched,
    )


def _candidate_name(view: TrialView, layout: LayoutName) -> str:
    """Return the name of the candidate that a trial would be; one of several instances is none."""
    topology = view.trial.topology
    if len(topology.instances) != 1 or topology.layout != layout:
        return ""
    moe = view.contract.identity.model.architecture == "moe"
    return named(canonical(layout, degrees_of(topology.instances[0], moe=moe)))


def _stranger(view: TrialView, layout: LayoutName) -> str:
    topology = view.trial.topology
    name = derived_name(topology)
    if topology.layout != layout:
        return f"{name} is of the layout {topology.layout}; candidates are of {layout}."
    if len(topology.instances) > 1:
        return f"{name} is several engine instances; candidates are one."
    return f"{name} is not among the candidates."


def _meter(cells: list[Cell] | tuple[Cell, ...]) -> Meter:
    states = [cell.state for cell in cells]
    return Meter(
        measured=states.count("measured"), partly=states.count("partly"), not_measured=states.count("not_measured")
    )


def _cell(cell: Cell, run: Run, trials: list[TrialView], reads: tuple[Reads, ...]) -> Cell:
    """Tell a cell by the trial that covers most of it."""
    answers = [(view.id, _told(view, run, reads)) for view in trials]
    told = [(_STATES.index(state), name, state, lacks) for name, (state, lacks) in answers]
    if not told:
        return replace(cell, state="not_measured", lacks=("No trial has this topology.",))
    _, _, state, lacks = min(told)
    covering = tuple(sorted(name for at, name, _, _ in told if _STATES[at] != "not_measured"))
    return replace(cell, state=state, trials=covering, lacks=lacks[:MOST_LACKS])


_STATES: tuple[State, ...] = ("measured", "partly", "not_measured")
Told = tuple[State, tuple[str, ...]]


def _told(view: TrialView, run: Run, reads: tuple[Reads, ...]) -> Told:
    if run.kind == "injection":
        return _fault(view.trial, run)
    if run.kind == "quality":
        return _quality(view.trial, run)
    if run.kind == "soak":
        return _soak(view, run)
    return _windows(view, run, reads)


def _windows(view: TrialView, run: Run, reads: tuple[Reads, ...]) -> Told:
    traced = run.kind == "instrumented"
    counted = [window for window in view.windows(run.load_point) if _in_state(window, run)]
    windows = (*counted, *view.stretches(run.load_point, "instrumented")) if traced else tuple(counted)
    if not windows:
        purpose = "instrumented" if traced else "counted"
        return "not_measured", (f"No {purpose} window at {run.load_point}{_state(run)}.",)
    lacks = [] if len(windows) >= run.repeats else [f"{len(windows)} of {run.repeats} windows."]
    wanted = [read for read in reads if read.load_point == run.load_point and read.traced is traced]
    gaps = {gap: None for read in wanted for gap in _gaps(view, read)}
    lacks += list(gaps)
    if traced and wanted and len(gaps) and not any(_recorded(window, wanted) for window in windows):
        return "not_measured", tuple(lacks)
    return ("partly", tuple(lacks)) if lacks else ("measured", ())


def _state(run: Run) -> str:
    return f" with a {run.cache} cache" if run.cache in ("warm", "cold") else ""


def _in_state(window: WindowView, run: Run) -> bool:
    """Say whether a window is one of the run's state of the cache; one that does not say may be the contract's own."""
    if run.cache not in ("warm", "cold"):
        return True
    load = Load() if isinstance(window.record.load, UnsetType) else window.record.load
    hits = number(load.cache_hit_share)
    if hits is None:
        return run.cache == "warm"
    return (hits > NO_HITS) is (run.cache == "warm")


def _gaps(view: TrialView, read: Reads) -> Iterator[str]:
    """Yield the pointers of what is read and not recorded, below the trial."""
    want = Want(metric=read.metric, load_point=read.load_point, fields=read.fields)
    section = want.section
    if section in ("window", "failures", "quality", "transport", "incidents"):
        return
    if read.metric.startswith("replicas.kv_"):
        # The rule takes this from replicas or ranks, whichever has it.
        return
    for gap in presence(view, want).gaps:
        yield gap.removeprefix(f"{view.at}/windows/")


def _recorded(window: WindowView, wanted: list[Reads]) -> bool:
    for read in wanted:
        section, _, name = read.metric.partition(".")
        found = getattr(window.record, section, None)
        if isinstance(found, dict) and (section != "per_rank" or name in found):
            return True
    return False


def _soak(view: TrialView, run: Run) -> Told:
    soaks = view.stretches(run.load_point, "soak")
    if not soaks:
        return "not_measured", (f"No soak window at {run.load_point}.",)
    longest = max(window_seconds(window.record) or Fraction(0) for window in soaks)
    least = plain_number(run.min_s) or Fraction(0)
    if longest < least:
        return "partly", (f"The longest soak is {int(longest):,} s; {int(least):,} s are asked for.",)
    return "measured", ()


def _fault(trial: Trial, run: Run) -> Told:
    steps = run.injection
    failures = {} if isinstance(trial.failures, UnsetType) else trial.failures
    same = [entry for entry in failures.values() if steps is not None and entry.kind == steps.kind]
    if not same or steps is None:
        return "not_measured", (f"No {'fault' if steps is None else steps.kind} was put in.",)
    fitting = [entry for entry in same if _fits(entry, steps.domain_kind, run.load_point)]
    if not fitting:
        where = "" if steps.domain_kind is None else f" of a {steps.domain_kind}"
        return "partly", (f"{steps.kind} was put in, but not{where} at {run.load_point}.",)
    return "measured", ()


def _fits(entry: Injection, domain_kind: str | None, load_point: str) -> bool:
    if domain_kind is not None and entry.domain_kind != domain_kind:
        return False
    return isinstance(entry.load_point, UnsetType) or entry.load_point == load_point


def _quality(trial: Trial, run: Run) -> Told:
    wanted = run.quality or ""
    scores = {} if isinstance(trial.quality, UnsetType) else trial.quality
    same = [score for score in scores.values() if score.benchmark == wanted]
    if not same:
        return "not_measured", (f"No score on {wanted}.",)
    own = derived_name(trial.topology)
    fitting = [score for score in same if score.topology == own and score.score is not None]
    if not fitting:
        return "partly", (f"The score on {wanted} is not of this topology, or is missing.",)
    return "measured", ()
