"""What an engine layout is: degrees in; world size, process groups, placement or the engine's own refusal out.

Rules kept: a layout is pure and linear in the number of ranks; it never repairs degrees, it refuses them and names
the constraint; an accepted but dangerous configuration is accepted with a notice. Ranks here are local to one
engine instance (from 0); ``planner.rankmap`` makes them global. The rules and their sources stand in
``docs/reference/layouts.md``.

Not handled: whether a placement is good. No engine refuses a tensor group that crosses a node; that is a gate.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Literal

from planner.errors import PlannerError
from planner.records.contract import Model
from planner.shown import shown

Group = tuple[int, ...]
Groups = tuple[Group, ...]
Extra = int | bool | str | None
LayerSplit = Callable[[int, int], tuple[int, ...]]
"""Layers and stages in, layers of each stage out."""

ExpertPlacement = Callable[[int, int], Groups]
"""Experts of a layer and expert-parallel ranks in, the experts of each rank out."""

Role = Literal["tensor", "pipeline", "context", "expert", "data", "other"]

MAX_RANKS = 65_536
"""Ranks of one instance. The largest inference deployments known are two orders smaller; a typing error is not."""

ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "tp": "tensor",
        "attn_tp": "tensor",
        "moe_tp": "tensor",
        "etp": "tensor",
        "pp": "pipeline",
        "cp": "context",
        "attn_cp": "context",
        "pcp": "context",
        "dcp": "context",
        "ep": "expert",
        "moe_ep": "expert",
        "eplb": "expert",
        "moe_cluster": "expert",
        "dp": "data",
        "attn_dp": "data",
        "moe_dp": "data",
        "edp": "data",
    }
)
"""What a group kind does, for every kind that any layout or engine names; kinds not listed are "other"."""

TENSOR_LIKE = frozenset({"tp", "attn_tp", "moe_tp", "etp", "dcp", "pcp"})
"""Kinds whose traffic is per layer and per token, so that they belong inside one island."""

REQUEST_PATH = frozenset(kind for kind, role in ROLES.items() if role != "data") - {"eplb"}
"""Kinds that run in the path of every request. Data groups join only where a layout says they run in lock-step."""


class LayoutRefusedError(PlannerError):
    """The engine, or this project, does not accept the degrees; ``constraint`` is stable, ``message`` for people.

    ``built`` is what the engine had put together when it failed, where it fails that late.
    """

    def __init__(self, constraint: str, message: str, built: "InstanceGroups | None" = None) -> None:
        super().__init__(message)
        self.constraint = constraint
        self.message = message
        self.built = built


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """Degrees of one engine instance; ``extra`` holds those that only one engine has."""

    tp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    cp: int = 1
    dcp: int = 1
    extra: Mapping[str, Extra] = field(default_factory=lambda: MappingProxyType({}))
    moe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGroups:
    """The ranks of one instance and every process group on them.

    ``groups`` maps a kind, by the engine's own name, to groups of local ranks; order inside a group matters, order
    of groups does not. ``engines`` > 1 says that the instance is that many independent engines of equal world, rank
    blocks one after the other. ``sizes`` are degrees that the engine derives (``attn_tp``, ``moe_tp``, ...).
    """

    world_size: int
    groups: Mapping[str, Groups]
    tensor_like: frozenset[str]
    joins: frozenset[str]
    notices: tuple[str, ...] = ()
    engines: int = 1
    sizes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How an instance is started.

    Without ``nnodes`` an engine that asks for it takes 1; without ``gpus_per_node`` its own default holds, or one node.
    """

    nnodes: int | None = None
    gpus_per_node: int | None = None
    orchestrator: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """Where an engine's launcher puts its ranks: one mapping per process, keys in the engine's own words.

    ``dangers`` are what the launcher accepts and should not; ``refused`` names why such a launch never serves although
    the engine raises nothing.
    """

    seats: tuple[Mapping[str, int], ...]
    notices: tuple[str, ...] = ()
    dangers: tuple[str, ...] = ()
    refused: LayoutRefusedError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DivisibilityCheck:
    """One test of a model against degrees; ``notice`` says what an accepted split still costs.

    ``danger`` says that the engine takes the split without an error although shares are uneven or work is lost.
    """

    name: str
    passed: bool
    sentence: str
    notice: str | None = None
    danger: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shards:
    """Over how many ranks of an instance an engine splits each dimension of a model.

    ``attention`` is for heads, ``dense`` for feed-forward widths and the vocabulary, ``shared`` for the width of shared
    experts, ``expert_width`` for the width of a routed expert, ``expert_ranks`` for the number of routed experts.
    ``kv_copies_of_mla`` is how often latent attention is held. ``attention_data`` is the degree of attention data
    parallelism, ``schedulers`` how many queues share the requests. ``kv_rounded_up`` says that a rank's share of
    key-value heads is rounded up.
    """

    attention: int
    dense: int
    shared: int
    expert_width: int
    expert_ranks: int
    kv_copies_of_mla: int
    schedulers: int
    attention_data: int = 1
    kv_rounded_up: bool = False


Divisibility = Callable[[Model, Degrees, int | None], tuple[DivisibilityCheck, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One engine's way from degrees to groups.

    ``build`` raises ``LayoutRefusedError``. ``divisibility`` takes the model, the degrees and the block of the
    quantisation format in elements (None: no block). ``seats`` raises ``LayoutRefusedError`` where the launcher
    refuses. ``shards`` takes the degrees and the sizes that ``build`` found, ``layer_split`` gives the split of layers
    over stages. All of them expect degrees that ``build`` accepts. ``residual_apart`` says that a stage passes on
    hidden states and residual as two arrays.
    """

    id: str
    title: str
    statement: str
    build: Callable[[Degrees], InstanceGroups]
    divisibility: Divisibility
    seats: Callable[[Degrees, Launch], Seats]
    shards: Callable[[Degrees, Mapping[str, int]], Shards]
    layer_split: Callable[[Degrees], LayerSplit]
    place_experts: ExpertPlacement
    residual_apart: bool = False


def check_count(name: str, value: object, *, least: int = 1) -> int:
    """Return ``value`` if it is a whole number from ``least`` to ``MAX_RANKS``.

    Raises:
        LayoutRefusedError: it is not; ``constraint`` is ``degree``, the message names the degree.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise LayoutRefusedError("degree", f"{name} is a whole number; found {shown(value)}")
    if value < least:
        raise LayoutRefusedError("degree", f"{name} is at least {least}; found {shown(value)}")
    if value > MAX_RANKS:
        raise LayoutRefusedError("degree", f"{name} is at most {MAX_RANKS}; found {shown(value)}")
    return value


def check_world(factors: Mapping[str, int]) -> int:
    """Return the product of degrees.

    Raises:
        LayoutRefusedError: a degree is out of range (``degree``) or the product is (``rank_limit``).
    """
    world = prod(check_count(name, value) for name, value in factors.items())
    if world > MAX_RANKS:
        shown = " x ".join(f"{name} {value}" for name, value in factors.items())
        raise LayoutRefusedError("rank_limit", f"{shown} is {world} ranks; at most {MAX_RANKS} are accepted")
    return world


def check_extra(degrees: Degrees, known: Iterable[str], layout: str) -> None:
    """Refuse engine degrees that the layout does not know: ignoring one would give other groups than the engine.

    Raises:
        LayoutRefusedError: there are some (``unknown_degree``).
    """
    unknown = sorted(set(degrees.extra) - set(known))
    if unknown:
        raise LayoutRefusedError(
            "unknown_degree", f"{layout} has no degree {', '.join(shown(name) for name in unknown)}"
        )


def extra_count(degrees: Degrees, name: str, default: int = 1, *, least: int = 1) -> int:
    """Return a whole number of ``extra``, or ``default`` where it is absent or null.

    Raises:
        LayoutRefusedError: as ``check_count`` does.
    """
    value = degrees.extra.get(name)
    return default if value is None else check_count(name, value, least=least)


def extra_flag(degrees: Degrees, name: str, *, default: bool = False) -> bool:
    """Return a switch of ``extra``, or ``default`` where it is absent or null.

    Raises:
        LayoutRefusedError: it is neither true nor false (``degree``).
    """
    value = degrees.extra.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise LayoutRefusedError("degree", f"{name} is true or false; found {shown(value)}")
    return value


def extra_text(degrees: Degrees, name: str, default: str) -> str:
    """Return a word of ``extra``, or ``default`` where it is absent or null.

    Raises:
        LayoutRefusedError: it is no text (``degree``).
    """
    value = degrees.extra.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise LayoutRefusedError("degree", f"{name} is text; found {shown(value)}")
    return value


def grid(shape: Sequence[int], axes: Sequence[int]) -> Groups:
    """Split the ranks of a row-major grid (last axis fastest) into groups along ``axes``.

    Inside a group the last of ``axes`` runs fastest, whatever its place in the grid. Linear in the ranks.
    """
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    inside = _offsets([(shape[axis], strides[axis]) for axis in axes])
    starts = _offsets([(shape[axis], strides[axis]) for axis in range(len(shape)) if axis not in axes])
    return tuple([tuple([start + step for step in inside]) for start in starts])


def chunks(groups: Groups, size: int) -> Groups:
    """Cut every group into consecutive groups of ``size``."""
    return tuple(group[at : at + size] for group in groups for at in range(0, len(group), size))


def singles(world: int) -> Groups:
    """One group per rank."""
    return tuple([(rank,) for rank in range(world)])


def seats_by_block(world: int, launch: Launch) -> Seats:
    """Fill nodes in order with ``gpus_per_node`` ranks each (torchrun, MPI); without that number, one node."""
    per_node = launch.gpus_per_node or world
    return Seats(
        seats=tuple([{"rank": rank, "node": rank // per_node, "device": rank % per_node} for rank in range(world)]),
        dangers=short_of_nodes(world, per_node, launch),
    )


def never_launched(missing: Sequence[int], beyond: Sequence[int] = ()) -> LayoutRefusedError | None:
    """Say which ranks no node starts, and which are started beyond the world: the engine waits without an error."""
    found = []
    if missing:
        found.append(f"ranks {list(missing)} are launched on no node")
    if beyond:
        found.append(f"extra ranks {list(beyond)} >= world size are launched")
    if not found:
        return None
    return LayoutRefusedError("launch", f"no error is raised, but launch never completes: {'; '.join(found)}")


def short_of_nodes(world: int, per_node: int, launch: Launch) -> tuple[str, ...]:
    """Say when the nodes that are given do not hold the ranks."""
    nodes = -(-world // per_node)
    if launch.nnodes is None or nodes <= launch.nnodes:
        return ()
    return (f"{world} ranks need {nodes} nodes of {per_node} devices; {launch.nnodes} given",)


def _offsets(steps: Iterable[tuple[int, int]]) -> list[int]:
    offsets = [0]
    for count, stride in steps:
        offsets = [base + at * stride for base in offsets for at in range(count)]
    return offsets
