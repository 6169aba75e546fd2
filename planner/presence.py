"""Is the evidence there? One question for every metric that something reads, in every counted window.

Rules kept (settled question 19): presence is asked for every rank and every counted window at the load point; a
finer scope answers for a coarser one, never the reverse (rank, then device and nic, then replica, then deployment);
link metrics are owed only by links of ranks whose request-path group crosses a node. Not handled: what values say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter

from msgspec import Struct

from planner.layouts import LayoutRefusedError
from planner.numbers import exact
from planner.readings import WindowView, number
from planner.records.base import UNSET, UnsetType
from planner.records.contract import RequiredEvidence
from planner.records.evidence import LinkCounters, PerRank, Phase, Statistics, Window
from planner.view import TrialView

SCOPES: Mapping[str, int] = {"rank": 3, "device": 2, "nic": 2, "replica": 1, "deployment": 0}
"""How fine each scope is."""


class Want(Struct, frozen=True, kw_only=True, gc=False):
    """A metric wanted at a load point, with everything that makes a record of it enough.

    ``fields`` are members that must be there; none means the value itself, or any figure of a distribution.
    """

    metric: str
    load_point: str
    fields: tuple[str, ...] = ()
    phase: Phase | None = None
    link_class: str | None = None
    scope: str | None = None
    min_samples: int | None = None
    max_interval: Fraction | None = None

    @property
    def section(self) -> str:
        """The section of the window that holds the metric."""
        return _parts(self.metric)[0]

    @property
    def field(self) -> str:
        """The metric inside its section."""
        return _parts(self.metric)[1]


@lru_cache(maxsize=1024)
def _parts(metric: str) -> tuple[str, str]:
    section, _, field = metric.partition(".")
    return section, field


class Presence(Struct, frozen=True, kw_only=True, gc=False):
    """Whether one wanted metric is there. ``gaps`` are pointers of what is not; ``readings`` how many were owed."""

    want: Want
    readings: int
    gaps: tuple[str, ...]


class Wants:
    """Many wanted metrics. Those of loads and arrays of which no more is wanted are looked for at once, load point by
    load point."""

    def __init__(self, wants: Iterable[Want]) -> None:
        self.all = tuple(wants)
        self.others = tuple(want for want in self.all if not _is_plain(want))
        plain: dict[str, list[Want]] = {}
        for want in self.all:
            if _is_plain(want):
                plain.setdefault(want.load_point, []).append(want)
        self.together = tuple(_Together(load_point, alike) for load_point, alike in plain.items())


class _Together:
    """Metrics of loads and arrays that are wanted at one load point, whatever their scope and samples."""

    def __init__(self, load_point: str, wants: Sequence[Want]) -> None:
        self.load_point = load_point
        self._wants = wants
        loads = [want for want in wants if want.section == "load"]
        names = [name for want in loads for name in (*(f"{want.field}.{member}" for member in want.fields), want.field)]
        # One more, because a lone name would not give a tuple.
        self._members = attrgetter(*names, names[0]) if names else lambda load: ()
        self._arrays = tuple(want.field for want in wants if want.section == "per_rank")
        self._found: dict[int, tuple[Presence, ...]] = {}

    def found(self, view: TrialView) -> tuple[Presence, ...]:
        """Return the presence of each metric where all of them are in all windows; nothing where one is not."""
        windows = view.windows(self.load_point)
        if not windows or not all(self._is_in(window.record, view.ranks) for window in windows):
            return ()
        readings = len(windows)
        if readings not in self._found:
            self._found[readings] = tuple(Presence(want=want, readings=readings, gaps=()) for want in self._wants)
        return self._found[readings]

    def _is_in(self, window: Window, ranks: int) -> bool:
        try:
            found = self._members(window.load)
            arrays = [window.per_rank[name].values for name in self._arrays]  # type: ignore[index]  # else a TypeError
        except (AttributeError, KeyError, TypeError):
            return False
        if None in found or UNSET in found:
            return False
        return all(len(values) >= ranks and None not in values for values in arrays)


def _is_plain(want: Want) -> bool:
    if want.scope is not None or want.min_samples is not None:
        return False
    return want.section == "load" or (want.section == "per_rank" and want.max_interval is None)


def presences(view: TrialView, wants: Wants) -> list[Presence]:
    """Look for many wanted metrics, each in every counted window at its load point."""
    found: list[Presence] = []
    for together in wants.together:
        known = together.found(view)
        if not known:
            return [presence(view, want) for want in wants.all]
        found += known
    return found + [presence(view, want) for want in wants.others]


def want_required(required: RequiredEvidence) -> Iterator[Want]:
    """Yield what an entry of ``evidence_required`` wants at each of its load points."""
    interval = required.max_sample_interval_s
    for load_point in required.load_points:
        yield Want(
            metric=required.metric,
            load_point=load_point,
            phase=None if isinstance(required.phase, UnsetType) else required.phase,
            scope=required.scope_at_least,
            min_samples=None if isinstance(required.min_samples, UnsetType) else required.min_samples,
            max_interval=None if isinstance(interval, UnsetType) else exact(interval),
        )


def presence(view: TrialView, want: Want) -> Presence:
    """Look for a wanted metric in every counted window at its load point."""
    section, field = _parts(want.metric)
    traced = section in TRACED
    windows = view.traced(want.load_point, section, field) if traced else view.windows(want.load_point)
    if not windows:
        return Presence(want=want, readings=1, gaps=view.unmeasured(want.load_point))
    owed = windows if section != "links" or owing_links(view, want) else ()
    look = SECTIONS.get(section, _nowhere)
    found = [gaps for window in owed if (gaps := [*look(view, window, want)])]
    if not found:
        return Presence(want=want, readings=len(owed), gaps=())
    return Presence(want=want, readings=len(owed), gaps=tuple(dict.fromkeys(gap for gaps in found for gap in gaps)))


def _nowhere(view: TrialView, window: WindowView, want: Want) -> Iterator[str]:
    yield f"{window.at}/{want.section}/{want.field}"


def _load(view: TrialView, window: WindowView, want: Want) -> Iterator[str]:
    field = want.field
    at = f"{window.at}/load/{field}"
    value = None if isinstance(window.record.load, UnsetType) else getattr(window.record.load, field, None)
    if value is None or isinstance(value, UnsetType):
        yield from (f"{at}/{name}" for name in want.fields) if want.fields else (at,)
        return
    if not _fine(want, "deployment"):
        yield at
    for name in want.fields:
        member = getattr(value, name, None)
        if member is None or isinstance(member, UnsetType):
            yield f"{at}/{name}"
    if isinstance(value, Statistics) and want.min_samples is not None:
        samples = number(value.n)
        if samples is None or samples < want.min_samples:
            yield f"{at}/n"


def _per_rank(view: TrialView, window: WindowView, want: Want) -> Iterator[str]:
    at = f"{window.at}/per_rank/{want.field}"
    metrics = {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
    metric = metrics.get(want.field)
    if metric is None:
        yield at
        return
    if not _fine(want, "rank" if isinstance(metric.scope, UnsetType) else metric.scope):
        yield f"{at}/scope"
    yield from _sampling(at, metric, want)
    if None in metric.values:
        yield from (f"{at}/values/{rank}" for rank, value in enumerate(metric.values) if value is None)
    yield from (f"{at}/values/{rank}" for rank in range(len(metric.values), view.ranks))


def _link(view: TrialView, window: WindowView, want: Want) -> Iterator[str]:
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    for link in owing_links(view, want):
        phases = recorded.get(link, {})
        wanted: list[Phase] = [want.phase] if want.phase else sorted(phases) or ["mixed"]
        for phase in wanted:
            yield from _counters(f"{window.at}/links/{link}/{phase}", phases.get(phase), want)


def _counters(at: str, counters: LinkCounters | None, want: Want) -> Iterator[str]:
    value = None if counters is None else getattr(counters, want.field, None)
    if counters is None or value is None or isinstance(value, UnsetType):
        yield f"{at}/{want.field}"
        return
    if not _fine(want, "nic" if isinstance(counters.scope, UnsetType) else counters.scope):
        yield f"{at}/scope"
    yield from _sampling(at, counters, want)


def _replica(view: TrialView, window: WindowView, want: Want) -> Iterator[str]:
    replicas = {} if isinstance(window.record.replicas, UnsetType) else window.record.replicas
    if not replicas or not _fine(want, "replica"):
        yield f"{window.at}/replicas"
    for name, replica in sorted(replicas.items()):
        value = getattr(replica, want.field, None)
        if value is None or isinstance(value, UnsetType):
            yield f"{window.at}/replicas/{name}/{want.field}"


def _traced(view: TrialView, window: WindowView, want: Want) -> Iterator[str]:
    """Look in a section of entries, or of one record, that traces fill."""
    found = getattr(window.record, want.section)
    at = f"{window.at}/{want.section}"
    entries = found if isinstance(found, dict) else {"": found}
    if isinstance(found, UnsetType) or not entries or not _fine(want, TRACED[want.section]):
        yield f"{at}/{want.field}"
        return
    for name, entry in sorted(entries.items()):
        value = getattr(entry, want.field, None)
        if value is None or isinstance(value, UnsetType):
            yield f"{at}/{name}/{want.field}" if name else f"{at}/{want.field}"


TRACED: Mapping[str, str] = {"collectives": "replica", "stages": "replica", "experts": "rank", "handoff": "deployment"}
"""Sections that instrumented windows may answer for, each with the scope of its figures."""

SECTIONS = {"load": _load, "per_rank": _per_rank, "links": _link, "replicas": _replica} | dict.fromkeys(TRACED, _traced)
"""How each section of a window is searched for what it lacks; one that documents do not have is always a gap."""


def owing_links(view: TrialView, want: Want) -> tuple[str, ...]:
    """Return the links that owe a link metric: on NICs of ranks that cross a node, of the wanted class or of any."""
    if isinstance(view.groups, LayoutRefusedError) or view.groups.ranks != view.ranks:
        return ()
    nics = {view.trial.rank_map[rank].nic for rank in view.crossing_ranks}
    return tuple(
        sorted(
            link
            for link, record in view.site.links.items()
            if record.nic in nics
            and not isinstance(record.nic, UnsetType)
            and want.link_class in (None, record.link_class)
        )
    )


def _fine(want: Want, scope: str) -> bool:
    return want.scope is None or SCOPES[scope] >= SCOPES[want.scope]


def _sampling(at: str, metric: PerRank | LinkCounters, want: Want) -> Iterator[str]:
    if want.min_samples is None and want.max_interval is None:
        return
    samples, interval = number(metric.samples), number(metric.sample_interval_s)
    if want.min_samples is not None and (samples is None or samples < want.min_samples):
        yield f"{at}/samples"
    if want.max_interval is not None and interval is not None and interval > want.max_interval:
        yield f"{at}/sample_interval_s"
