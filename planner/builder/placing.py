"""Which field of the document each value of a trial's runs fills, or why it fills none yet.

Rules kept: a prediction fills nothing, a hint fills nothing but stands as a proposal; a value of a whole trial goes
into every window only where it does not change while the server runs (weights, capacity of the cache); what was seen
over some span belongs to one window. Latencies bounded by the buckets of a histogram are not put beside the
percentiles of a client: a window states one method. Not handled: what counts where sources differ
(``planner.builder.resolving``).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from planner.builder.facts import MACHINE_FORMATS
from planner.builder.files import file_of, run_of
from planner.builder.naming import Names, is_device
from planner.builder.records import Draft, DraftTrial, ReadRun
from planner.builder.resolving import Found
from planner.importers.quantities import FAMILIES
from planner.pointers import joined

__all__ = ["ALL", "Placing", "drop_second_method", "feeding", "first_placing", "second_placing"]

Path = tuple[str, ...]

CONSTANT = frozenset(
    {
        *("weights_bytes", "kv_cache_bytes", "activations_bytes", "graph_bytes"),
        *("kv_capacity_tokens", "kv_max_concurrent_requests", "kv_measured_at_context_tokens"),
    }
)
"""What an engine sets once at its start, so that it holds in every window of the trial."""

_INSTANCE = "/trials/<id>/topology/instances/<index>/"
_WINDOW = "/trials/<id>/windows/<id>/"
_PER_RANK = f"{_WINDOW}per_rank/"
_REPLICA = f"{_WINDOW}replicas/<id>/"
_COLLECTIVE = f"{_WINDOW}collectives/<id>/"
_LINK = f"{_WINDOW}links/<id>/<id>/"
_IDENTITY = "/identities/<id>/"
_DEVICE = f"{_IDENTITY}hardware/devices/<id>/"
_POINT = "/identity/workload/load_points/<id>/"
_BOUND = "/identity/"


@dataclass
class Placing:
    """What the runs of one trial say, by field; ``hints`` are of fields too, and prove nothing.

    ``devices`` and ``links`` are the foreign names that a person has to tell apart; ``measured`` are the devices among
    them that figures of ranks stand on. ``unplaced`` is (run, reason) -> names of values.
    """

    trial: str
    found: dict[str, list[Found]] = field(default_factory=dict)
    hints: dict[str, list[Found]] = field(default_factory=dict)
    unplaced: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    devices: set[str] = field(default_factory=set)
    measured: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)

    def put(self, to: str, one: Found) -> None:
        """Add what a run says of a field."""
        self.found.setdefault(to, []).append(one)

    def leave(self, one: Found, sentence: str) -> None:
        """Say why a value has no place."""
        self.unplaced.setdefault((one.run, sentence), {})[one.read.name] = None


@dataclass(frozen=True)
class _At:
    """Where a run stands: in a window, or with None in the whole trial of ``windows``."""

    trial: str
    window: str | None
    windows: tuple[str, ...]
    load_points: Mapping[str, str | None]
    leaves: frozenset[Path]
    inner: frozenset[Path]
    several: frozenset[str]


def feeding(draft: Draft, trial: DraftTrial) -> Iterator[tuple[str, str | None, ReadRun]]:
    """Yield run, window (None for the whole trial) and what was read, of runs that may fill fields."""
    places: list[tuple[str, str | None]] = [(run, None) for run in trial.runs]
    # By name, as a stored draft has them: of equal values the first one's place is the source.
    places += [(run, name) for name, window in sorted(trial.windows.items()) for run in window.runs]
    for run, window in places:
        read = run_of(draft, run)
        decision = draft.held.get(run)
        if read.status == "usable" or (read.status == "held" and decision is not None and decision.use):
            yield run, window, read


def first_placing(draft: Draft, name: str, leaves: Iterable[Path]) -> Placing:
    """Place what needs no rank: identity, topology, load, times."""
    bound = frozenset(leaves)
    inner = frozenset(path[:length] for path in bound for length in range(1, len(path)))
    return _each(draft, name, Placing(trial=name), bound, inner, _first)


def second_placing(draft: Draft, placing: Placing, names: Names) -> Placing:
    """Place what stands by rank, device, link or serving group, once those are known."""

    def place(found: Placing, at: _At, one: Found) -> None:
        _second(found, at, one, names)

    return _each(draft, placing.trial, placing, frozenset(), frozenset(), place)


_Place = Callable[[Placing, _At, Found], None]


def _each(
    draft: Draft, name: str, placing: Placing, leaves: frozenset[Path], inner: frozenset[Path], place: _Place
) -> Placing:
    trial = draft.trials[name]
    load_points = {window: held.load_point for window, held in trial.windows.items()}
    for run, window, read in feeding(draft, trial):
        at = _At(name, window, tuple(trial.windows), load_points, leaves, inner, _several(read))
        form = file_of(draft, run).format
        for value in read.values:
            if value.field is not None and value.standing != "predicted":
                place(placing, at, Found(run=run, format=form, read=value, value=value.value))
    return placing


def _several(read: ReadRun) -> frozenset[str]:
    """Return the names of values that a run has of several things."""
    things: dict[str, set[str]] = {}
    for value in read.values:
        things.setdefault(value.name, set()).add(value.of)
    return frozenset(name for name, ofs in things.items() if len(ofs) > 1)


def _by_rank(field: str) -> bool:
    return field.startswith((_PER_RANK, _REPLICA, _COLLECTIVE, _LINK, _DEVICE))


def _first(placing: Placing, at: _At, one: Found) -> None:
    pattern, value = one.read.field or "", one.read
    if _by_rank(pattern):
        if is_device(value.of) and value.standing != "hint":
            placing.devices.add(value.of)
            placing.measured |= {value.of} if pattern.startswith(_PER_RANK) else set()
        elif pattern.startswith(_LINK):
            placing.links.add(value.of)
        return
    targets = [*_targets(placing, at, one)]
    for to in targets:
        if value.standing == "hint":
            placing.hints.setdefault(to, []).append(one)
        else:
            placing.put(to, one)


def _targets(placing: Placing, at: _At, one: Found) -> Iterator[str]:
    """Yield the fields that a value fills; none where it has no place."""
    pattern = one.read.field or ""
    if pattern.startswith(_POINT):
        yield from _load_point(at, pattern.removeprefix(_POINT))
    elif pattern.startswith((_IDENTITY, _BOUND)):
        prefix = _IDENTITY if pattern.startswith(_IDENTITY) else _BOUND
        yield from _leaf(placing, at, one, tuple(pattern.removeprefix(prefix).split("/")), own=prefix == _IDENTITY)
    elif pattern.startswith(_INSTANCE):
        yield joined(("trials", at.trial, "topology", "instances", one.read.of, pattern.removeprefix(_INSTANCE)))
    elif pattern == "/trials/<id>/topology/layout":
        yield joined(("trials", at.trial, "topology", "layout"))
    elif pattern.startswith(_WINDOW):
        yield from _in_windows(placing, at, one, tuple(pattern.removeprefix(_WINDOW).split("/")))
    elif pattern.startswith("/provenance/") and at.window is not None:
        yield pattern
    else:
        asked = next((why for start, why in _ASKED.items() if pattern.startswith(start)), None)
        if asked is not None:
            placing.leave(one, asked)


_ASKED = {
    "/trials/<id>/rank_map/": "where ranks sat is asked as a whole: a trace numbers nodes and devices its own way",
    "/trials/<id>/transport/": "a path in use needs its kind and boundary, which no file states: give it as an answer",
}


def _load_point(at: _At, name: str) -> Iterator[str]:
    point = at.load_points.get(at.window or "")
    if point is not None and ("workload", "load_points", point, name) in at.leaves:
        yield joined(("identities", at.trial, "workload", "load_points", point, name))


def _leaf(placing: Placing, at: _At, one: Found, path: Path, *, own: bool) -> Iterator[str]:
    """Yield the leaf of the trial's identity; what describes the contract is taken where it binds it."""
    to = joined(("identities", at.trial, *path))
    if path in at.inner:
        placing.hints.setdefault(to, []).append(one)
    elif own or path in at.leaves:
        yield to


def _in_windows(placing: Placing, at: _At, one: Found, path: Path) -> Iterator[str]:
    window = at.window or (at.windows[0] if len(at.windows) == 1 else None)
    if one.read.name in at.several and path[-1] not in ("start", "end"):
        placing.leave(one, "the file says it of several engines, and the field is of the whole deployment")
    elif window is None:
        placing.leave(one, _MOVE)
    else:
        yield joined(("trials", at.trial, "windows", window, *path))
        if one.read.name in DEPLOYMENT_RATES:
            basis = replace(one.read, value="deployment", raw="deployment", unit="", raw_unit="")
            to = joined(("trials", at.trial, "windows", window, *path[:-1], "scope"))
            placing.put(to, Found(run=one.run, format=one.format, read=basis, value="deployment"))


DEPLOYMENT_RATES = ("output_tokens_per_s", "total_tokens_per_s", "completed_per_s")
"""Rates that are of the whole deployment by their definition; others say their basis."""


# By rank, device, link or serving group


def _second(placing: Placing, at: _At, one: Found, names: Names) -> None:
    pattern, value = one.read.field or "", one.read
    if not _by_rank(pattern) or value.standing == "hint":
        return
    if pattern.startswith(_DEVICE):
        device = names.devices.get(value.of)
        if device is not None:
            placing.put(
                joined(("identities", at.trial, "hardware", "devices", device, pattern.rpartition("/")[2])), one
            )
        elif not is_device(value.of):
            every = joined(("identities", at.trial, "hardware", "devices", ALL, pattern.rpartition("/")[2]))
            placing.hints.setdefault(every, []).append(one)
        return
    windows = (at.window,) if at.window is not None else _spread(at, one)
    if not windows:
        placing.leave(one, _MOVE if one.format not in MACHINE_FORMATS else _BESIDE)
    for window in windows:
        _in_section(placing, joined(("trials", at.trial, "windows", window)), pattern, one, names)


def _spread(at: _At, one: Found) -> tuple[str, ...]:
    """Return the windows that a value of the whole trial holds for: a test of the machine ran in none of them."""
    alone = len(at.windows) == 1 and one.format not in MACHINE_FORMATS
    return at.windows if one.read.name in CONSTANT or alone else ()


_MOVE = "it was seen over one span: move the run to the window that it belongs to"
_BESIDE = "it was measured beside the load: move the run to an instrumented window where a gate should read it"


def _in_section(placing: Placing, window: str, pattern: str, one: Found, names: Names) -> None:
    rest = pattern.removeprefix(_WINDOW).split("/")
    if pattern.startswith(_PER_RANK):
        _rank(placing, f"{window}/per_rank/{rest[1]}", rest[2:], one, names)
    elif pattern.startswith(_REPLICA):
        group = names.group_of(one.read.of)
        if group is None:
            named = one.read.of or "the engine"
            placing.leave(one, f"{named} is no one serving group of this topology")
        else:
            placing.put(f"{window}/replicas/replica-{group}/{rest[2]}", one)
    elif pattern.startswith(_COLLECTIVE):
        _collective(placing, window, rest[2:], one)
    else:
        link = names.links.get(one.read.of)
        if link is None:
            placing.leave(one, f"say which link of the contract {one.read.of} is")
        else:
            placing.put(f"{window}/links/{link}/mixed/{rest[3]}", one)


def _rank(placing: Placing, metric: str, rest: list[str], one: Found, names: Names) -> None:
    of = one.read.of
    if is_device(of) and of not in names.devices:
        placing.leave(one, f"say which device of the contract {of} is")
        return
    ranks = names.ranks_of(of)
    if rest[0] != "values":
        # How a metric was sampled holds for the ranks that it was sampled for.
        if ranks:
            placing.put(f"{metric}/{rest[0]}", one)
        return
    if not ranks and not is_device(of):
        placing.leave(one, f"{of or 'the file'} names no one rank of this topology")
    for rank in ranks:
        placing.put(f"{metric}/values/{rank}", one)


def _collective(placing: Placing, window: str, rest: list[str], one: Found) -> None:
    """Place a figure of a collective; what the file says once, such as the operation, holds for all of its sizes."""
    of = re.sub("[^a-z0-9._-]", "-", one.read.of.lower())[:64].strip("-._")
    if of:
        placing.put("/".join((window, "collectives", of, *rest)), one)
    else:
        placing.put("/".join((window, "collectives", ALL, one.run, *rest)), one)


ALL = "*"
"""Stands for every collective of one run in ``Placing.found``; ``planner.builder.trial_tree`` writes it out."""


def drop_second_method(placing: Placing) -> None:
    """Leave out latencies bounded by histogram buckets where a client measured some of the same window.

    One window states one quantile method, and an upper bound beside an exact percentile would make both one of them.
    """
    bounded: dict[str, set[str]] = {}
    for to, found in placing.found.items():
        if to.endswith("/load/quantile_method"):
            window = to.removesuffix("/load/quantile_method")
            bounded[window] = {one.run for one in found if one.value == "histogram_upper"}
    latencies: dict[str, list[str]] = {}
    for to in placing.found:
        window, below, family = to.partition("/load/")
        if below and family.partition("/")[0] in FAMILIES:
            latencies.setdefault(window, []).append(to)
    for window, runs in bounded.items():
        own = latencies.get(window, [])
        if any(one.run not in runs for to in own for one in placing.found[to]):
            _drop(placing, (*own, f"{window}/load/quantile_method"), runs)


def _drop(placing: Placing, fields: Iterable[str], runs: set[str]) -> None:
    sentence = "bounds from the server's buckets stand beside the percentiles of the client, and fill no field"
    for to in fields:
        for one in [one for one in placing.found[to] if one.run in runs]:
            placing.leave(one, sentence)
        kept = [one for one in placing.found[to] if one.run not in runs]
        if kept:
            placing.found[to] = kept
        else:
            del placing.found[to]
