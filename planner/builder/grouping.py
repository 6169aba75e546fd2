"""Propose how runs make up trials and windows; the same files give the same proposal in any order.

Rules: runs that state their degrees make the trials; a run that does not joins by the hint of its name, by the time it
shares with another, or because there is only one trial to join; what fits none or several stays without a place. A
load makes a window of its own at the load point of the contract that it is like; two outputs of a benchmark share one.
Telemetry joins the window of its time, or the only one; server logs belong to the trial; what is about the machine
belongs to every trial. Every place says why, and a person may change it (``planner.builder.editing``). Runs that are
refused, predicted, left out or seen before get no place.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from planner.builder.facts import DEGREES, MACHINE_FORMATS, Degrees, RunFacts, facts_of, figures
from planner.builder.files import file_of, placed_runs, runs_of
from planner.builder.limits import MAX_TRIALS, free_id, numbered
from planner.builder.records import Draft, DraftTrial, DraftWindow
from planner.documents import ContractDocument
from planner.figures import grouped
from planner.identity import same
from planner.numbers import exact
from planner.records.base import UnsetType
from planner.records.contract import LoadPoint
from planner.shown import shown

__all__ = ["load_point_of", "proposed", "repeats", "why_unused"]

ALONE = "trial-1"


def proposed(
    draft: Draft, contract: ContractDocument, *, anew: bool = False, only: Container[str] | None = None
) -> Draft:
    """Return the draft with a place proposed for its runs.

    Where a person has arranged trials, only runs of no place get one, those of ``only`` where it is given, and nothing
    is moved; ``anew`` throws the arrangement away.
    """
    if draft.arranged and not anew:
        return _completed(draft, contract, only)
    return replace(draft, trials=_arranged(draft, contract), arranged=False)


def repeats(draft: Draft) -> dict[str, str]:
    """Return runs whose figures another run holds, with that run: the one of the file with fewer runs stays."""
    first: dict[Any, str] = {}
    repeated: dict[str, str] = {}
    ordered = sorted(runs_of(draft.files), key=lambda found: (len(found[1].runs), found[0]))
    for run, file, read in ordered:
        own = figures(read)
        earlier = first.setdefault((file.format, own), run) if own is not None else run
        if earlier != run:
            repeated[run] = earlier
    return repeated


def load_point_of(facts: RunFacts, contract: ContractDocument) -> str | None:
    """Return the one load point of the contract that a run's load is, None for none and for several."""
    points = contract.record.identity.workload.load_points
    fitting = [name for name, point in sorted(points.items()) if _is_like(facts, point)]
    return fitting[0] if len(fitting) == 1 else None


def _is_like(facts: RunFacts, point: LoadPoint) -> bool:
    arrival = facts.value("arrival")
    if arrival is not None and arrival.value != point.arrival:
        return False
    if point.arrival == "closed":
        return _says(facts, "concurrent_requests", point.concurrent_requests)
    rate = _says(facts, "offered_requests_per_s", point.requests_per_s)
    burst = facts.value("burstiness")
    return rate and (burst is None or isinstance(point.burstiness, UnsetType) or same(burst.value, point.burstiness))


def _says(facts: RunFacts, name: str, wanted: float | UnsetType) -> bool:
    value = facts.value(name)
    return value is not None and not isinstance(wanted, UnsetType) and same(value.value, wanted)


# Which trial


@dataclass
class _Group:
    """A trial while it is put together."""

    id: str
    degrees: Degrees | None
    loads: list[RunFacts] = field(default_factory=list)
    telemetry: list[RunFacts] = field(default_factory=list)
    servers: list[RunFacts] = field(default_factory=list)
    why: list[str] = field(default_factory=list)

    def take(self, facts: RunFacts, why: str) -> None:
        """Add a run with the reason for it."""
        {"load": self.loads, "telemetry": self.telemetry}.get(facts.part, self.servers).append(facts)
        if why not in self.why:
            self.why.append(why)

    @property
    def runs(self) -> Iterable[RunFacts]:
        """All of its runs."""
        return (*self.loads, *self.telemetry, *self.servers)


def _arranged(draft: Draft, contract: ContractDocument) -> dict[str, DraftTrial]:
    runs = _placeable(draft)
    groups = _groups(runs)
    open_runs = [facts for facts in runs if facts.part not in ("machine", "beside") and facts.degrees is None]
    # Loads first: what they share a time with has to stand before telemetry looks for it.
    for facts in sorted(open_runs, key=lambda facts: (facts.part != "load", facts.id)):
        joined = _joined(facts, groups)
        if joined is not None:
            joined[0].take(facts, joined[1])
    machine = tuple(sorted(facts.id for facts in runs if facts.part == "machine"))
    return {group.id: _trial(group, machine, contract) for group in groups if group.loads or group.servers}


def _placeable(draft: Draft) -> list[RunFacts]:
    """Return the runs that may get a place, by id."""
    without = {*repeats(draft), *draft.left_out, *(run for run, decision in draft.held.items() if not decision.use)}
    earlier = {file.before for file in draft.files.values()}
    return [
        facts_of(run, file, read)
        for run, file, read in runs_of(draft.files)
        if read.status != "refused" and run not in without and file.sha256 not in earlier
    ]


def _groups(runs: Sequence[RunFacts]) -> list[_Group]:
    """Return a group for every topology that tools state, and for every other one that a name hints at."""
    groups = _stated(runs)
    for degrees in _hinted(runs, groups):
        if len(groups) < MAX_TRIALS:
            groups.append(_Group(id=free_id(_name(degrees), [group.id for group in groups]), degrees=degrees))
    if not groups and any(facts.part in ("load", "server") for facts in runs):
        groups.append(_Group(id=ALONE, degrees=None))
    return groups


def _stated(runs: Iterable[RunFacts]) -> list[_Group]:
    stated: dict[Degrees, list[RunFacts]] = {}
    for facts in runs:
        if facts.degrees is not None and facts.part != "beside":
            stated.setdefault(facts.degrees, []).append(facts)
    groups: list[_Group] = []
    for degrees in sorted(stated)[:MAX_TRIALS]:
        group = _Group(id=free_id(_name(degrees), [group.id for group in groups]), degrees=degrees)
        for facts in stated[degrees]:
            group.take(facts, f"{_spoken(degrees)} as the tools state")
        groups.append(group)
    return groups


def _hinted(runs: Iterable[RunFacts], groups: Sequence[_Group]) -> list[Degrees]:
    """Return the topologies that only names of loads and logs say, in order."""
    hints = [facts.hints for facts in runs if facts.part != "machine" and "tp" in facts.hints]
    unknown = {tuple(found.get(name, 1) for name in DEGREES) for found in hints if not _fitting(found, groups)}
    return [(("", degrees),) for degrees in sorted(unknown)]


def _joined(facts: RunFacts, groups: Sequence[_Group]) -> tuple[_Group, str] | None:
    hinted = _fitting(facts.hints, groups) if facts.hints else []
    if len(hinted) == 1:
        said = ", ".join(f"{name} {degree}" for name, degree in sorted(facts.hints.items()))
        return hinted[0], f"the name says {said}, which has to be confirmed"
    together = [group for group in groups if any(map(facts.meets, group.runs))]
    if len(together) == 1:
        return together[0], "measured at the same time"
    as_many = [group for group in groups if facts.part == "telemetry" and _ranks(group.degrees) == facts.devices]
    if len(as_many) == 1 and facts.devices is not None:
        return as_many[0], f"{facts.devices} devices, as many as this trial has ranks"
    return (groups[0], "there is no other trial") if len(groups) == 1 else None


def _fitting(hints: Mapping[str, int], groups: Iterable[_Group]) -> list[_Group]:
    return [
        group
        for group in groups
        if group.degrees is not None
        and len(group.degrees) == 1
        and all(group.degrees[0][1][DEGREES.index(name)] == degree for name, degree in hints.items())
    ]


def _ranks(degrees: Degrees | None) -> int | None:
    """Return the ranks of degrees that multiply; expert and decode-context degrees stand inside others."""
    if degrees is None:
        return None
    return sum(tp * pp * dp * cp for _, (tp, pp, _, dp, cp, _) in degrees)


def _name(degrees: Degrees) -> str:
    named = []
    for of, values in degrees:
        parts = [f"{name}{value}" for name, value in zip(DEGREES, values, strict=True) if value > 1 or name == "tp"]
        role = of.rpartition("-")[0] or of
        named.append("-".join((*((role,) if role else ()), *parts)))
    return "_".join(named)[:48].strip("-_.") or ALONE


def _spoken(degrees: Degrees) -> str:
    return " and ".join(
        ", ".join(f"{name} {value}" for name, value in zip(DEGREES, values, strict=True) if value > 1 or name == "tp")
        + (f" for {of}" if of else "")
        for of, values in degrees
    )


# Which window


def _trial(group: _Group, machine: Sequence[str], contract: ContractDocument) -> DraftTrial:
    windows = _windows(group.loads, contract)
    whole = [facts.id for facts in group.servers]
    for facts in group.telemetry:
        own = _window_of(facts, windows)
        if own is None:
            whole.append(facts.id)
        else:
            own.runs.append(facts)
    return DraftTrial(
        windows={
            window.id: DraftWindow(
                load_point=window.load_point,
                load_point_by=UNSET,
                runs=tuple(facts.id for facts in window.runs),
                why=window.why,
            )
            for window in windows
        },
        runs=(*sorted(whole), *machine),
        why="; ".join(group.why),
    )


@dataclass
class _Window:
    id: str
    load_point: str
    runs: list[RunFacts]
    why: str


def _windows(loads: Iterable[RunFacts], contract: ContractDocument) -> list[_Window]:
    """Return a window for every load at a load point of the contract, in the order of time."""
    named = [(load_point_of(facts, contract), facts) for facts in loads]
    counted: dict[str, list[list[RunFacts]]] = {}
    for load_point, facts in sorted(named, key=lambda pair: (pair[0] or "", pair[1].order)):
        if load_point is not None:
            _count(facts, counted.setdefault(load_point, []))
    for load_point, facts in named:
        if load_point is None:
            _share(facts, [window for windows in counted.values() for window in windows])
    found: dict[str, _Window] = {}
    for load_point, windows in counted.items():
        for number, runs in enumerate(windows, 1):
            # A load point may have the name that the window of another one gets by its number.
            own = free_id(load_point if len(windows) == 1 else numbered(load_point, number), found)
            why = f"the load of {load_point}" + (", told by several files" if len(runs) > 1 else "")
            found[own] = _Window(id=own, load_point=load_point, runs=runs, why=why)
    return [*found.values()]


def _count(facts: RunFacts, windows: list[list[RunFacts]]) -> None:
    """Give a load a window of its own, unless a file of another kind counted the very same one."""
    twin = next((window for window in windows if _counts_alike(facts, window[0])), None)
    if twin is None:
        windows.append([facts])
    else:
        twin.append(facts)


def _counts_alike(one: RunFacts, other: RunFacts) -> bool:
    """Say whether two tools, or two outputs of one, counted the same requests and tokens: latencies may be rounded."""
    if one.file.format == other.file.format:
        return False
    pairs = [(one.value(name), other.value(name)) for name in _COUNTS]
    return all(mine is not None and theirs is not None and same(mine.value, theirs.value) for mine, theirs in pairs)


_COUNTS = ("completed", "input_tokens_total", "output_tokens_total")


def _share(facts: RunFacts, windows: Iterable[list[RunFacts]]) -> None:
    """Put a load that states no load point to the one that it shares its time with."""
    together = [window for window in windows if any(map(facts.meets, window))]
    if len(together) == 1:
        together[0].append(facts)


def _window_of(facts: RunFacts, windows: Sequence[_Window]) -> _Window | None:
    together = [window for window in windows if any(map(facts.meets, window.runs))]
    if len(together) == 1:
        return together[0]
    timeless = facts.interval is None and facts.local_interval is None
    return windows[0] if len(windows) == 1 and timeless else None


# What a person arranged


def _completed(draft: Draft, contract: ContractDocument, only: Container[str] | None) -> Draft:
    """Give runs of no place the one that a proposal of everything would give them."""
    placed = {run for trial in draft.trials.values() for run in placed_runs(trial)}
    fresh = {run for run, _, _ in runs_of(draft.files) if run not in placed and (only is None or run in only)}
    trials = dict(draft.trials)
    for name, ideal in _arranged(draft, contract).items():
        own = {run for run in placed_runs(ideal) if file_of(draft, run).format not in MACHINE_FORMATS}
        if own & fresh:
            home = _home(own, name, draft)
            trials[home] = _extended(trials.get(home, DraftTrial(windows={}, why=ideal.why)), ideal, fresh)
    machine = [run for run in sorted(fresh) if file_of(draft, run).format in MACHINE_FORMATS]
    placeable = {facts.id for facts in _placeable(draft)}
    for name, trial in trials.items():
        more = (run for run in machine if run in placeable and run not in trial.runs)
        trials[name] = replace(trial, runs=(*trial.runs, *more))
    return replace(draft, trials=trials)


def _home(runs: set[str], name: str, draft: Draft) -> str:
    """Return the trial that holds what a proposal puts together, however a person called it."""
    holding = sorted(own for own, trial in draft.trials.items() if runs & set(placed_runs(trial)))
    return holding[0] if holding else name


def _extended(trial: DraftTrial, ideal: DraftTrial, fresh: set[str]) -> DraftTrial:
    windows = dict(trial.windows)
    for wanted, window in ideal.windows.items():
        runs = tuple(run for run in window.runs if run in fresh)
        if runs:
            point = window.load_point or wanted
            own = wanted if wanted not in windows else free_id(point, {point, *windows})
            windows[own] = replace(window, runs=runs)
    return replace(trial, windows=windows, runs=(*trial.runs, *(run for run in ideal.runs if run in fresh)))


def why_unused(facts: RunFacts, draft: Draft, contract: ContractDocument) -> str:
    """Say why a run that nobody left out has no place."""
    later = next((file.name for file in draft.files.values() if file.before == facts.file.sha256), None)
    if later is not None:
        return f"it is the scrape before {later}, whose counters were read against it"
    if facts.part == "beside":
        return "it measured no load of a server, or predicted one: it stands beside the evidence"
    if facts.part == "load" and load_point_of(facts, contract) is None:
        asked = facts.value("concurrent_requests") or facts.value("offered_requests_per_s")
        load = "states no load" if asked is None else f"has {_plain(asked.value)} {asked.unit}"
        return f"it {load}, and no load point of the contract is like it"
    return "several trials fit, or none: move it where it belongs" if draft.trials else "there is no trial to join"


def _plain(value: object) -> str:
    return grouped(exact(value)) if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)
