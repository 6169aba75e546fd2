"""Which decompositions of the fleet are worth measuring, and why each other one is not.

Rules kept: a decomposition is listed, or counted under exactly one reason; the first that holds, in this order:

- ``devices``: it has more ranks than there are devices;
- ``worlds``: its number of ranks is none that is tried on a fleet of this size;
- ``budget``: its number of ranks has more decompositions than are tried one by one, and it is not among the plain ones;
- ``layout``: the engine refuses the degrees; ``divide``: the model does not split over them;
- ``memory``, ``kv``: the hypothesis of its residency rules it out;
- ``launch``: the launcher refuses, or never serves; ``map``: a limit on placement fails whatever is measured.

Every test is the layouts' or the gates' own. The work is bounded by ``MOST_RANKS`` for each number of ranks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from planner.contract_view import ContractView
from planner.layouts import LAYOUTS, Degrees, DivisibilityCheck, LayoutRefusedError, checks
from planner.matrix.axes import attention_ranks, decompositions, named
from planner.matrix.places import Ground, place
from planner.matrix.residency import Weighing
from planner.matrix.topologies import refused_by_map, topology_of, unmeasured
from planner.records.base import stated
from planner.records.evidence import LayoutName
from planner.records.matrix import Excluded, Reason, Residency
from planner.view import TrialView

__all__ = ["Found", "Search", "grouped_exclusions", "search", "worlds"]

ALL_WORLDS = 32
"""Fleets of up to so many devices are tried with every number of ranks."""
MOST_RANKS = 32_768
"""Ranks of all decompositions of one number of ranks that are tried; each is about ten microseconds of work."""
EXAMPLES = 6
"""Decompositions named with a reason."""
GROUPS = 8
"""Sentences of one reason; what has further ones is counted together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A decomposition that is worth measuring."""

    name: str
    degrees: Degrees
    ranks: int
    residency: Residency
    view: TrialView
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turned:
    """A decomposition that is not, and why."""

    name: str
    reason: Reason
    sentence: str


@dataclass(kw_only=True)
class Search:
    """What a search found: ``found`` in order of ranks and plainness, everything else in ``turned``."""

    found: list[Found] = field(default_factory=list)
    turned: list[Turned] = field(default_factory=list)
    untried: list[Excluded] = field(default_factory=list)

    @property
    def considered(self) -> int:
        """How many decompositions were looked at."""
        return len(self.found) + len(self.turned) + sum(group.count or 0 for group in self.untried)


def worlds(ground: Ground) -> tuple[int, ...]:
    """Return the numbers of ranks that are tried: all on a small fleet.

    On a large one: up to the devices of a node (powers of two beyond 16), then whole nodes in powers of two, and all.
    """
    if ground.devices <= ALL_WORLDS:
        return tuple(range(1, ground.devices + 1))
    inside = [world for world in range(1, ground.per_node + 1) if world <= 16 or world & (world - 1) == 0]
    nodes = [count for count in range(1, len(ground.nodes) + 1) if count & (count - 1) == 0]
    return tuple(sorted({*inside, ground.per_node, *(count * ground.per_node for count in nodes), ground.devices}))


def search(view: ContractView, layout: LayoutName, ground: Ground) -> Search:
    """Try every decomposition of every number of ranks that is tried."""
    result = Search()
    moe = view.contract.identity.model.architecture == "moe"
    tester = _Tester(view=view, layout=layout, ground=ground)
    tried = worlds(ground)
    for world in tried:
        all_of_them, there_are_more = decompositions(layout, world, moe=moe)
        left = MOST_RANKS
        for at, degrees in enumerate(all_of_them):
            if left < world:
                result.untried.append(_beyond(world, all_of_them[at:]))
                break
            outcome = tester.test(degrees, world)
            if isinstance(outcome, Found):
                result.found.append(outcome)
            else:
                result.turned.append(outcome)
            left -= world if tester.built else 0
        if there_are_more:
            result.untried.append(_uncounted(world, len(all_of_them)))
    result.untried += _never_tried(ground, tried)
    return result


def grouped_exclusions(result: Search) -> tuple[Excluded, ...]:
    """Return why decompositions are not listed, like ones together, in the order of the reasons."""
    groups: dict[tuple[Reason, str], list[str]] = {}
    for turned in result.turned:
        groups.setdefault((turned.reason, turned.sentence), []).append(turned.name)
    order: tuple[Reason, ...] = ("layout", "divide", "memory", "kv", "launch", "map")
    found: list[Excluded] = []
    for reason in order:
        same = {sentence: names for (of, sentence), names in groups.items() if of == reason}
        by_size = [sentence for _, _, sentence in sorted((-len(same[text]), at, text) for at, text in enumerate(same))]
        kept = by_size[:GROUPS] if len(same) > GROUPS + 1 else by_size
        found += [_excluded(reason, sentence, same[sentence]) for sentence in kept]
        rest = [name for sentence, names in same.items() if sentence not in kept for name in names]
        if rest:
            others = len(same) - len(kept)
            found.append(_excluded(reason, f"{others} further sentences of the same kind.", rest))
    return (*found, *result.untried)


def _excluded(reason: Reason, sentence: str, names: list[str]) -> Excluded:
    return Excluded(reason=reason, sentence=sentence, count=len(names), examples=tuple(names[:EXAMPLES]))


def _beyond(world: int, degrees: list[Degrees]) -> Excluded:
    return Excluded(
        reason="budget",
        sentence=f"{world:,} ranks have more decompositions than are tried one by one; plainer ones were.",
        count=len(degrees),
        examples=tuple(map(named, degrees[:EXAMPLES])),
    )


def _uncounted(world: int, looked_at: int) -> Excluded:
    return Excluded(
        reason="budget",
        sentence=f"{world:,} ranks have more decompositions than the {looked_at:,} that are looked at.",
        count=None,
        examples=(),
    )


def _never_tried(ground: Ground, tried: tuple[int, ...]) -> Iterator[Excluded]:
    if len(tried) < ground.devices:
        yield Excluded(
            reason="worlds",
            sentence=f"On {ground.devices:,} devices these numbers of ranks are tried: "
            f"{', '.join(f'{world:,}' for world in tried)}. Between them replicas and stages only repeat.",
            count=None,
            examples=(),
        )
    yield Excluded(
        reason="devices",
        sentence=f"More ranks than devices: there are {ground.devices:,} to plan with.",
        count=None,
        examples=(),
    )


@dataclass(kw_only=True)
class _Tester:
    """Tests one decomposition after the other; ``built`` says whether the last one cost more than arithmetic."""

    view: ContractView
    layout: LayoutName
    ground: Ground
    built: bool = False
    weighing: Weighing = field(init=False)

    def __post_init__(self) -> None:
        self.weighing = Weighing(ground=self.view, memory_bytes=self.ground.memory_bytes)

    def test(self, degrees: Degrees, world: int) -> Found | Turned:
        name = named(degrees)
        self.built = False
        failed = [check for check in self._cheap(degrees) if not check.passed]
        if failed:
            return Turned(name, "divide", _sentences(failed))
        self.built = True
        model, block = self.view.contract.identity.model, self.view.contract.identity.precision.quantisation_block
        try:
            split = LAYOUTS[self.layout].divisibility(model, degrees, stated(block))
        except LayoutRefusedError as refused:
            return Turned(name, "layout", _ended(refused.message))
        failed = [check for check in split if not check.passed]
        if failed:
            return Turned(name, "divide", _sentences(failed))
        residency, ruled_out = self.weighing.weigh(self.layout, degrees, world)
        if ruled_out is not None:
            return Turned(name, ruled_out.reason, ruled_out.sentence)
        return self._placed(name, degrees, world, residency, tuple(_notices(split)))

    def _cheap(self, degrees: Degrees) -> Iterator[DivisibilityCheck]:
        """Yield the tests that need no group; they are the layouts' own."""
        model = self.view.contract.identity.model
        yield _heads(model.attention_heads, attention_ranks(self.layout, degrees))
        yield _layers(self.layout, model.layers, degrees.pp)

    def _placed(
        self, name: str, degrees: Degrees, world: int, residency: Residency, notices: tuple[str, ...]
    ) -> Found | Turned:
        try:
            placed = place(self.layout, degrees, world, self.ground)
        except LayoutRefusedError as refused:
            return Turned(name, "launch", _ended(refused.message))
        topology = topology_of(self.layout, degrees, world)
        view = unmeasured(self.view, name, topology, placed.rank_map)
        refused_map = refused_by_map(view)
        if refused_map is not None:
            return Turned(name, "map", f"{refused_map[0]} fails whatever is measured.")
        built = view.topology_groups.notices
        every = tuple(dict.fromkeys((*notices, *built, *placed.notices)))
        return Found(name=name, degrees=degrees, ranks=world, residency=residency, view=view, notices=every)


@lru_cache(maxsize=4096)
def _heads(heads: int, ranks: int) -> DivisibilityCheck:
    return checks.attention_heads(heads, ranks)


@lru_cache(maxsize=4096)
def _layers(layout: LayoutName, layers: int, stages: int) -> DivisibilityCheck:
    degrees = Degrees(pp=stages)
    return checks.layers(layers, stages, LAYOUTS[layout].layer_split(degrees))


def _sentences(failed: Iterable[DivisibilityCheck]) -> str:
    return " ".join(dict.fromkeys(_ended(check.sentence) for check in failed))


def _notices(split: Iterable[DivisibilityCheck]) -> Iterator[str]:
    for check in split:
        if check.notice:
            yield f"{check.sentence}: {check.notice}"


def _ended(sentence: str) -> str:
    """Return a sentence with a capital and a full stop."""
    return sentence[:1].upper() + sentence[1:].rstrip(".") + "."
