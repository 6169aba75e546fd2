"""What to run on every candidate: load points, cache states, traces, soak, faults, quality.

Rules kept: a run is required where a limit, a selection key or ``evidence_required`` reads it; others are listed as
optional. What only traces show has a run of its own, because tracing slows a run. How long and how often a run is made
is ``planner.matrix.windows``'.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from planner.contract_view import ContractView
from planner.docket import owed_evidence
from planner.layouts import Degrees
from planner.matrix.caches import cache_states, expected_hits
from planner.matrix.clients import Load, commands_of
from planner.matrix.faults import asked_faults, steps_of
from planner.matrix.topologies import topology_of, unmeasured
from planner.matrix.windows import WindowNeeds
from planner.natural_order import NaturalKey, natural
from planner.numbers import exact, plain
from planner.order import order_expand
from planner.records.base import UnsetType, stated
from planner.records.evidence import LayoutName
from planner.records.matrix import CacheState, InjectionSteps, Run, RunKind

__all__ = ["TRACED_METRICS", "Reads", "left_out", "reads_of", "runs_of"]

FIRST = ("single", "saturated")
MOST_POINTS = 24
"""Load points that runs are planned for."""
MOST_FAULTS = 24
SELECTION, REQUIRED = "selection", "evidence_required"

TRACED_SECTIONS = frozenset({"collectives", "experts", "stages", "handoff"})
TRACED_METRICS = frozenset(
    f"per_rank.{name}"
    for name in (
        "step_ms",
        "collective_ms",
        "collective_wait_ms",
        "collective_move_ms",
        "collective_exposed_ms",
        "arrival_lag_ms",
        "slowest_sample_share",
    )
)
"""What only traces show; tracing slows a run, so it has a window of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """One metric that something reads at a load point: the limit ``limit_id`` of a gate, an entry of
    ``evidence_required``, or a key of ``selection``."""

    metric: str
    load_point: str
    fields: tuple[str, ...]
    gate: str
    limit_id: str
    level: str = "required"

    @property
    def origin(self) -> str:
        """What reads it, in a few words."""
        if self.gate == SELECTION:
            return SELECTION
        return f"{self.gate}.{self.limit_id}" if self.gate == REQUIRED else f"gates.{self.gate}.{self.limit_id}"

    @property
    def traced(self) -> bool:
        """Say whether only a trace shows it."""
        return self.metric in TRACED_METRICS or self.metric.partition(".")[0] in TRACED_SECTIONS


def reads_of(view: ContractView) -> tuple[Reads, ...]:
    """Return everything that limits, selection keys and ``evidence_required`` read."""
    asking = unmeasured(view, "planned", topology_of("closed", Degrees(), 1), ())
    owed = owed_evidence(asking, order_expand(view.contract).keys)
    found = [
        Reads(
            metric=entry.ask.metric,
            load_point=entry.ask.load_point,
            fields=entry.ask.fields,
            gate=gate,
            limit_id=limit_id,
        )
        for entry in owed
        for gate, limit_id in (_origin(entry.origin),)
    ]
    for name, entry in sorted((stated(view.contract.evidence_required) or {}).items()):
        found += [
            Reads(metric=entry.metric, load_point=point, fields=(), gate=REQUIRED, limit_id=name, level=entry.level)
            for point in entry.load_points
        ]
    return tuple(found)


def _origin(pointer: str) -> tuple[str, str]:
    """Return the gate and the limit of ``/gates/<gate>/<limit>``; a selection key has no limit."""
    _, section, *rest = pointer.split("/")
    return (rest[0], rest[1]) if section == "gates" else (SELECTION, "")


def runs_of(view: ContractView, layout: LayoutName, reads: tuple[Reads, ...]) -> dict[str, Run]:
    """Return the runs by id, in the order in which they are made."""
    planner = _Planner(view=view, layout=layout, reads=reads)
    return dict(planner.all())


def left_out(view: ContractView, runs: Mapping[str, Run]) -> tuple[str, ...]:
    """Say which load points no run is planned for."""
    planned = {run.load_point for run in runs.values()}
    rest = [name for name in sorted(view.workload.load_points, key=_point_key) if name not in planned]
    if not rest:
        return ()
    return (f"{len(rest):,} of {len(view.workload.load_points):,} load points have no run here, first {rest[0]}.",)


@dataclass(frozen=True, kw_only=True)
class _Planner:
    view: ContractView
    layout: LayoutName
    reads: tuple[Reads, ...]

    def all(self) -> Iterator[tuple[str, Run]]:
        points = self.points
        for name in points:
            for state in cache_states(self.view.contract):
                yield f"{name}/{state}" if state in ("warm", "cold") else name, self._load(name, state)
        for name in points:
            yield from self._traced(name)
        for name in points:
            yield from self._soaked(name)
        yield from self._faults()
        yield from self._quality()

    @property
    def points(self) -> list[str]:
        """The load points that runs are planned for: all, or of very many those that are read, then the first."""
        read = {each.load_point for each in self.reads}
        every = sorted(self.view.workload.load_points, key=lambda name: (name not in read, *_point_key(name)))
        return sorted(every[:MOST_POINTS], key=_point_key)

    @property
    def _state(self) -> CacheState:
        """The state of the cache that the contract serves with."""
        return cache_states(self.view.contract)[0]

    def _needs(self, name: str) -> WindowNeeds:
        return WindowNeeds(view=self.view, load_point=name)

    def _load(self, name: str, state: CacheState) -> Run:
        because = self._because(name, traced=False)
        own = state == self._state
        said = because if because else ("No limit, key or entry of evidence reads it.",)
        if not own:
            said = ("What requests meet when a replica has lost its cache; no gate reads it.",)
        return self._run(name, state, repeats=self._needs(name).repeats, required=own and bool(because), because=said)

    def _run(
        self,
        name: str,
        state: CacheState,
        *,
        repeats: int,
        required: bool,
        because: tuple[str, ...],
        kind: RunKind = "load",
        min_s: Fraction | None = None,
        injection: InjectionSteps | None = None,
    ) -> Run:
        needs = self._needs(name)
        least = needs.min_s if min_s is None else min_s
        requests = needs.requests(least)
        commands, unsaid = commands_of(
            Load(
                contract=self.view.contract,
                layout=self.layout,
                point=needs.point,
                cache=state,
                hits=expected_hits(self.view, name),
                requests=requests,
                warmup_requests=needs.warmup_requests,
                min_s=least,
                tails=needs.tails,
            )
        )
        seconds = needs.seconds(requests, least)
        return Run(
            kind=kind,
            load_point=name,
            cache=state,
            repeats=repeats,
            requests=requests,
            warmup_requests=needs.warmup_requests,
            min_s=None if least is None else plain(least),
            seconds=None if seconds is None else plain(seconds * repeats),
            required=required,
            because=because,
            clients=commands,
            unsaid=unsaid,
            injection=injection,
        )

    def _traced(self, name: str) -> Iterator[tuple[str, Run]]:
        because = self._because(name, traced=True)
        required = any(read.level == "required" for read in self._at(name) if read.traced)
        if because:
            yield (
                f"{name}/trace",
                self._run(name, self._state, kind="instrumented", repeats=1, required=required, because=because),
            )

    def _soaked(self, name: str) -> Iterator[tuple[str, Run]]:
        limits = self.view.limits
        asked = {
            f"gates.steady_state.{limit_id}": exact(limit.min_soak_s)
            for limit_id, limit in limits.get("steady_state", {}).items()
            if limit.load_point == name and not isinstance(limit.min_soak_s, UnsetType)
        }
        watched = [
            f"gates.errors.{limit_id}"
            for limit_id, limit in limits.get("errors", {}).items()
            if limit.load_point == name and any(_incident(ask.metric) for ask in limit.asks())
        ]
        if asked or watched:
            because = (*asked, *watched)
            if not asked:
                because = (*because, "The contract states no length; hangs have shown after 20 minutes to 2 hours.")
            length = max(asked.values(), default=None)
            run = self._run(name, self._state, kind="soak", repeats=1, required=True, because=because, min_s=length)
            yield f"{name}/soak", run

    def _faults(self) -> Iterator[tuple[str, Run]]:
        known = [fault for fault in asked_faults(self.view) if fault.load_point in self.view.workload.load_points]
        for fault in known[:MOST_FAULTS]:
            name = "/".join(("fault", fault.kind, *((fault.domain_kind,) if fault.domain_kind else ())))
            yield (
                f"{name}/{fault.load_point}",
                self._run(
                    fault.load_point,
                    self._state,
                    kind="injection",
                    repeats=1,
                    required=fault.required,
                    because=fault.because,
                    injection=steps_of(self.view, fault),
                ),
            )

    def _quality(self) -> Iterator[tuple[str, Run]]:
        named: dict[str, list[str]] = {}
        for limit_id, limit in self.view.limits.get("quality", {}).items():
            named.setdefault(limit.benchmark, []).append(f"gates.quality.{limit_id}")
        for benchmark, because in named.items():
            yield (
                f"quality/{benchmark}",
                Run(
                    kind="quality",
                    load_point="",
                    cache=self._state,
                    repeats=1,
                    requests=0,
                    warmup_requests=0,
                    min_s=None,
                    seconds=None,
                    required=True,
                    because=(*because, "A score counts for the topology that it was measured on, and for no other."),
                    clients={},
                    unsaid={"": (f"{benchmark} is run by your own harness, on the running engine.",)},
                    quality=benchmark,
                ),
            )

    def _at(self, name: str) -> list[Reads]:
        return [read for read in self.reads if read.load_point == name]

    def _because(self, name: str, *, traced: bool) -> tuple[str, ...]:
        return tuple(dict.fromkeys(read.origin for read in self._at(name) if read.traced is traced))


def _incident(metric: str) -> bool:
    return metric.startswith("incidents.")


def _point_key(name: str) -> tuple[int, NaturalKey]:
    return (FIRST.index(name) if name in FIRST else len(FIRST), natural(name))
