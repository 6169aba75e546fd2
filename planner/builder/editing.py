"""Change how a draft is arranged: every change gives a new draft, and what cannot be done is refused with the reason.

Rules kept: nothing is lost, a run that leaves a place is listed as unused; a run is in one place unless it is copied
(the topology of a machine belongs to several trials); a person's first change ends the proposals for what is placed.
Not handled: what a person answers (``planner.builder.answering``).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from planner.builder.files import file_id, run_id, run_of
from planner.builder.grouping import proposed
from planner.builder.limits import MAX_TRIALS, MAX_WINDOWS, check, check_files, free_id, refuse
from planner.builder.records import Draft, DraftFile, DraftTrial, DraftWindow, HeldDecision, LeftOut
from planner.documents import ContractDocument
from planner.pointers import child, is_below
from planner.records.base import Id, Prose
from planner.shown import shown

__all__ = [
    "Added",
    "add_files",
    "decide_held",
    "leave_out",
    "merge_trials",
    "move_run",
    "new_trial",
    "new_window",
    "remove_file",
    "remove_trial",
    "remove_window",
    "rename_trial",
    "rename_window",
    "set_load_point",
    "split_trial",
    "take_back",
]


@dataclass(frozen=True, slots=True)
class Added:
    """A draft with files added; ``again`` are ids of files that it held already."""

    draft: Draft
    again: tuple[str, ...]


def add_files(draft: Draft, contract: ContractDocument, files: Iterable[DraftFile]) -> Added:
    """Add files and propose a place for their runs; the same bytes again change nothing.

    Raises:
        DocumentRefusedError: more than a draft holds, or two files with the same short id.
    """
    known, again = dict(draft.files), []
    for file in files:
        own = file_id(file.sha256)
        if own in known and known[own].sha256 != file.sha256:
            raise refuse("builder/file_id", "/files", "a file whose digest begins otherwise", shown(file.sha256))
        if own in known:
            again.append(own)
        known.setdefault(own, file)
    if len(known) == len(draft.files):
        return Added(draft, tuple(again))
    runs = [run for file in known.values() for run in file.runs]
    check_files(len(known), len(runs), sum(len(run.values) for run in runs))
    fresh = {
        run_id(own, number)
        for own, file in known.items()
        if own not in draft.files
        for number in range(1, len(file.runs) + 1)
    }
    extended = replace(_next(draft), files=dict(sorted(known.items())))
    return Added(proposed(extended, contract, only=fresh), tuple(again))


def remove_file(draft: Draft, contract: ContractDocument, file: str) -> Draft:
    """Take a file out, with the places of its runs and what was decided about them."""
    if file not in draft.files:
        raise refuse("builder/file", "/files", "a file of the draft", shown(file))

    def kept(run: str) -> bool:
        return run.partition(".")[0] != file

    rest = replace(
        _next(draft),
        files={name: held for name, held in draft.files.items() if name != file},
        trials=_all_without(draft, lambda run: not kept(run)),
        held={run: decided for run, decided in draft.held.items() if kept(run)},
        left_out={run: out for run, out in draft.left_out.items() if kept(run)},
        settled={at: how for at, how in draft.settled.items() if how.run is UNSET or kept(str(how.run))},
    )
    return proposed(rest, contract, only=())


def _all_without(draft: Draft, gone: Callable[[str], bool]) -> dict[str, DraftTrial]:
    return {name: _without(trial, gone) for name, trial in draft.trials.items()}


def _without(trial: DraftTrial, gone: Callable[[str], bool]) -> DraftTrial:
    """Return the trial without some runs, and without the windows that nothing is left of."""
    windows = {
        name: replace(window, runs=tuple(run for run in window.runs if not gone(run)))
        for name, window in trial.windows.items()
    }
    kept = {name: window for name, window in windows.items() if window.runs or not trial.windows[name].runs}
    return replace(trial, runs=tuple(run for run in trial.runs if not gone(run)), windows=kept)


# Trials


def new_trial(draft: Draft, trial: str) -> Draft:
    """Add an empty trial."""
    check(("/trials", trial, Id))
    _check_free(draft, trial)
    return _arranged(draft, {**draft.trials, trial: DraftTrial(windows={})})


def rename_trial(draft: Draft, old: str, new: str) -> Draft:
    """Give a trial another id; what was answered for it goes along."""
    own = _trial(draft, old)
    check(("/trials", new, Id))
    _check_free(draft, new)
    trials = {new if name == old else name: own if name == old else trial for name, trial in draft.trials.items()}
    moved = _repointed(draft, {child("/trials", old): child("/trials", new), _identity(old): _identity(new)})
    return _arranged(moved, trials)


def split_trial(draft: Draft, trial: str, windows: Sequence[str], new: str) -> Draft:
    """Move windows into a new trial; runs of the whole trial belong to both until they are moved."""
    own = _trial(draft, trial)
    for window in windows:
        _window(draft, trial, window)
    check(("/trials", new, Id))
    _check_free(draft, new)
    moved = {name: window for name, window in own.windows.items() if name in windows}
    stays = {name: window for name, window in own.windows.items() if name not in windows}
    trials = {**draft.trials, trial: replace(own, windows=stays), new: DraftTrial(windows=moved, runs=own.runs)}
    at, to = child("/trials", trial), child("/trials", new)
    renamed = {f"{at}/windows/{window}": f"{to}/windows/{window}" for window in moved}
    return _arranged(_repointed(draft, renamed), trials)


def merge_trials(draft: Draft, into: str, other: str) -> Draft:
    """Move everything of one trial into another; windows of the same name get a number."""
    own, second = _trial(draft, into), _trial(draft, other)
    if into == other:
        raise refuse("builder/trial", child("/trials", other), "another trial", shown(other))
    windows, renamed = dict(own.windows), {}
    for name, window in second.windows.items():
        free = free_id(name, windows)
        windows[free] = window
        renamed[f"{child('/trials', other)}/windows/{name}"] = f"{child('/trials', into)}/windows/{free}"
    runs = tuple(dict.fromkeys((*own.runs, *second.runs)))
    trials = {name: trial for name, trial in draft.trials.items() if name != other}
    merged = _forgotten(_repointed(draft, renamed), child("/trials", other), _identity(other))
    return _arranged(merged, {**trials, into: replace(own, windows=windows, runs=runs)})


def remove_trial(draft: Draft, trial: str) -> Draft:
    """Take a trial away with what was answered for it; its runs are unused then."""
    _trial(draft, trial)
    trials = {name: own for name, own in draft.trials.items() if name != trial}
    return _arranged(_forgotten(draft, child("/trials", trial), _identity(trial)), trials)


# Windows


def new_window(draft: Draft, contract: ContractDocument, trial: str, window: str, load_point: str, *, by: str) -> Draft:
    """Add an empty window at a load point of the contract."""
    own = _trial(draft, trial)
    check((f"{child('/trials', trial)}/windows", window, Id), ("/by", by, Id))
    _check_load_point(contract, trial, window, load_point)
    if window in own.windows:
        raise refuse("builder/window", f"{child('/trials', trial)}/windows", "an id that is free", shown(window))
    return _with_window(draft, trial, window, DraftWindow(load_point=load_point, load_point_by=by))


def rename_window(draft: Draft, trial: str, old: str, new: str) -> Draft:
    """Give a window another id; what was answered for it goes along."""
    own, _ = _trial(draft, trial), _window(draft, trial, old)
    at = f"{child('/trials', trial)}/windows"
    check((at, new, Id))
    if new in own.windows:
        raise refuse("builder/window", at, "an id that is free", shown(new))
    windows = {new if name == old else name: window for name, window in own.windows.items()}
    moved = _repointed(draft, {child(at, old): child(at, new)})
    return _arranged(moved, {**draft.trials, trial: replace(own, windows=windows)})


def set_load_point(
    draft: Draft,
    contract: ContractDocument,
    trial: str,
    window: str,
    load_point: str,
    *,
    by: str,
    because: str | None = None,
) -> Draft:
    """Say at which load point of the contract a window was measured, with a reason where there is one."""
    own = _window(draft, trial, window)
    check(("/by", by, Id))
    _check_load_point(contract, trial, window, load_point)
    reason = UNSET if because is None else because
    said = replace(own, load_point=load_point, load_point_by=by, load_point_because=reason, why="")
    return _with_window(draft, trial, window, said)


def remove_window(draft: Draft, trial: str, window: str) -> Draft:
    """Take a window away with what was answered for it; its runs are unused then."""
    own, _ = _trial(draft, trial), _window(draft, trial, window)
    windows = {name: held for name, held in own.windows.items() if name != window}
    forgotten = _forgotten(draft, f"{child('/trials', trial)}/windows/{window}")
    return _arranged(forgotten, {**draft.trials, trial: replace(own, windows=windows)})


# Runs


def move_run(draft: Draft, run: str, *, trial: str, window: str | None = None, copy: bool = False) -> Draft:
    """Put a run into a window, or with None to the whole trial; ``copy`` leaves it where else it stands.

    A run that was left out is used again.
    """
    run_of(draft, run)
    own = _trial(draft, trial)
    if window is not None:
        _window(draft, trial, window)
    trials = draft.trials if copy else _all_without(draft, run.__eq__)
    rest = trials[trial]
    if window is None:
        rest = replace(rest, runs=tuple(dict.fromkeys((*rest.runs, run))))
    else:
        # A window that held this run alone is gone from the rest, and is its place all the same.
        held = rest.windows.get(window, own.windows[window])
        changed = replace(held, runs=tuple(dict.fromkeys((*held.runs, run))), why="")
        rest = replace(rest, windows={**rest.windows, window: changed})
    used = replace(draft, left_out={name: out for name, out in draft.left_out.items() if name != run})
    return _arranged(used, {**trials, trial: rest})


def leave_out(draft: Draft, run: str, *, by: str, because: str) -> Draft:
    """Leave a run out of every trial, with the reason."""
    run_of(draft, run)
    check(("/by", by, Id), ("/because", because, Prose))
    out = {**draft.left_out, run: LeftOut(by=by, because=because)}
    return replace(_next(draft), trials=_all_without(draft, run.__eq__), left_out=out)


def take_back(draft: Draft, contract: ContractDocument, run: str) -> Draft:
    """Use a run again that was left out; it gets the place that is proposed for it."""
    if run not in draft.left_out:
        raise refuse("builder/run", "/left_out", "a run that was left out", shown(run))
    rest = {name: out for name, out in draft.left_out.items() if name != run}
    return proposed(replace(_next(draft), left_out=rest), contract, only=(run,))


def decide_held(draft: Draft, run: str, *, use: bool, by: str, because: str) -> Draft:
    """Decide about a run that its importer held; one that is not to be used leaves its place."""
    read = run_of(draft, run)
    check(("/use", use, bool), ("/by", by, Id), ("/because", because, Prose))
    if read.status != "held":
        raise refuse("builder/held", "/held", "a run that waits for a person", f"one that is {read.status}")
    decision = HeldDecision(use=use, by=by, because=because)
    trials = draft.trials if use else _all_without(draft, run.__eq__)
    return replace(_next(draft), trials=trials, held={**draft.held, run: decision})


# What all of them do


def _next(draft: Draft) -> Draft:
    return replace(draft, revision=draft.revision + 1)


def _arranged(draft: Draft, trials: dict[str, DraftTrial]) -> Draft:
    """Return the draft with the trials as a person wants them.

    Raises:
        DocumentRefusedError: more than a draft holds, and more than before: files may propose more, to be taken apart.
    """
    for what, most, held, found in (
        ("trials", MAX_TRIALS, len(draft.trials), len(trials)),
        ("windows", MAX_WINDOWS, _windows(draft.trials), _windows(trials)),
    ):
        if found > max(most, held):
            raise refuse("builder/limit", "/trials", f"at most {most:,} {what} in a draft", f"{found:,}")
    return replace(_next(draft), trials=trials, arranged=True)


def _windows(trials: Mapping[str, DraftTrial]) -> int:
    return sum(len(trial.windows) for trial in trials.values())


def _with_window(draft: Draft, trial: str, window: str, held: DraftWindow) -> Draft:
    own = draft.trials[trial]
    return _arranged(draft, {**draft.trials, trial: replace(own, windows={**own.windows, window: held})})


def _trial(draft: Draft, trial: str) -> DraftTrial:
    if trial not in draft.trials:
        raise refuse("builder/trial", "/trials", "a trial of the draft", shown(trial))
    return draft.trials[trial]


def _window(draft: Draft, trial: str, window: str) -> DraftWindow:
    own = _trial(draft, trial)
    if window not in own.windows:
        raise refuse("builder/window", f"{child('/trials', trial)}/windows", "a window of the trial", shown(window))
    return own.windows[window]


def _check_free(draft: Draft, trial: str) -> None:
    if trial in draft.trials:
        raise refuse("builder/trial", "/trials", "an id that is free", shown(trial))


def _check_load_point(contract: ContractDocument, trial: str, window: str, load_point: str) -> None:
    known = contract.record.identity.workload.load_points
    if load_point not in known:
        at = f"{child('/trials', trial)}/windows/{window}/load_point"
        raise refuse(
            "builder/load_point", at, f"a load point of the contract: {', '.join(sorted(known))}", shown(load_point)
        )


def _identity(trial: str) -> str:
    return child("/identities", trial)


def _repointed(draft: Draft, renamed: dict[str, str]) -> Draft:
    """Return the draft with answers and settlements below the old pointers below the new ones."""

    def moved(at: str) -> str:
        for old, new in renamed.items():
            if is_below(at, old):
                return new + at.removeprefix(old)
        return at

    return replace(
        draft,
        answers={moved(at): answer for at, answer in draft.answers.items()},
        settled={moved(at): how for at, how in draft.settled.items()},
    )


def _forgotten(draft: Draft, *below: str) -> Draft:
    return replace(
        draft,
        answers={at: answer for at, answer in draft.answers.items() if not is_below(at, *below)},
        settled={at: how for at, how in draft.settled.items() if not is_below(at, *below)},
    )
