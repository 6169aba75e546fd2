"""Prefill and decode pools: a map of each, and the hand-off between them against its route. Pure.

Rules kept: figures are those of ``planner.pools``; a window that does not say what is needed says what is missing.
"""

from dataclasses import dataclass, replace

from planner.pools import HandoffPath, HandoffUse, Pool, Pools, pools
from planner.site import Site
from planner.view import TrialView
from reviews.web.dense_places import DensePlaces, dense_places
from reviews.web.dense_rows import DenseMap, DenseView, dense_map
from reviews.web.formats import count, percent, quantity
from reviews.web.rank_facts import RankFacts

BESIDE, BELOW = 400, 980
"""Widths of a pool's map: beside the other one, or below it."""
BESIDE_UP_TO = 16
"""Devices of a pool up to which both stand side by side."""
MOST_PATHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMap:
    """One pool with its map."""

    name: str
    summary: str
    map: DenseMap


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow:
    """The hand-off in one counted window: bytes per second that are needed against the route."""

    window: str
    load_point: str
    needed: str
    route: str
    usable: str
    share: str
    width: float
    css: str
    missing: str
    unfit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRow:
    """Paths from one group to another; ``names`` stands for several that are alike."""

    names: str
    widest: str
    link: str
    bandwidth: str
    together: str
    contending: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRows:
    """Both pools and what runs between them."""

    prefill: PoolMap
    decode: PoolMap
    uses: tuple[UseRow, ...]
    paths: tuple[PathRow, ...]
    paths_note: str
    is_beside: bool


def pool_rows(view: TrialView, drawn: DenseView) -> PoolRows | None:
    """Return the section on pools; None where a trial has not both."""
    if not drawn.facts.is_placed:
        return None
    found = pools(view)
    if found is None:
        return None
    rows = path_rows(found)
    sizes = [
        sum(len(drawn.facts.site.node_devices.get(node, ())) for node in pool.nodes)
        for pool in (found.prefill, found.decode)
    ]
    width = BESIDE if max(sizes) <= BESIDE_UP_TO else BELOW
    return PoolRows(
        prefill=pool_map(drawn, found.prefill, "Prefill", width),
        decode=pool_map(drawn, found.decode, "Decode", width),
        uses=tuple(use_row(use) for use in found.uses),
        paths=rows[:MOST_PATHS],
        paths_note=f"{len(rows) - MOST_PATHS} more kinds of path" if len(rows) > MOST_PATHS else "",
        is_beside=width == BESIDE,
    )


def pool_map(drawn: DenseView, pool: Pool, name: str, width: int) -> PoolMap:
    """Draw the nodes that hold a pool; ranks of the other pool on them are held by others."""
    nodes = f"{count(len(pool.nodes), 'node')}"
    return PoolMap(
        name=name,
        summary=f"{count(len(pool.groups), 'serving group')}, {count(len(pool.ranks), 'rank')} on {nodes}",
        map=dense_map(replace(drawn, only=frozenset(pool.ranks)), pool_ground(drawn.facts, pool, width)),
    )


def pool_ground(facts: RankFacts, pool: Pool, width: int) -> DensePlaces:
    """Place the nodes of a pool alone."""
    hardware = facts.site.hardware
    nodes = set(pool.nodes)
    own = type(hardware)(
        nodes={node: found for node, found in hardware.nodes.items() if node in nodes},
        devices={device: found for device, found in hardware.devices.items() if found.node in nodes},
        nics={nic: found for nic, found in hardware.nics.items() if found.node in nodes}
        if hardware.nics
        else hardware.nics,
        islands=hardware.islands,
    )
    return dense_places(Site(hardware=own, fleet=facts.site.fleet), width=width)


def use_row(use: HandoffUse) -> UseRow:
    """Write one window's hand-off; the bar is full where the usable route is used up."""
    share = None if use.share is None else float(use.share)
    css = "unk" if share is None else "fail" if share > 1 else "pass"
    return UseRow(
        window=use.window,
        load_point=use.load_point,
        needed=quantity(None if use.needed is None else float(use.needed), "bytes/s"),
        route=quantity(None if use.route is None else float(use.route), "bytes/s"),
        usable=quantity(None if use.usable is None else float(use.usable), "bytes/s"),
        share="not known" if share is None else percent(share, signed=False),
        width=0.0 if share is None else round(min(1.0, share) * 100, 1),
        css=css,
        missing=", ".join(use.missing),
        unfit=" ".join(use.unfit),
    )


def path_rows(found: Pools) -> tuple[PathRow, ...]:
    """Put paths together that are alike but for their links' names."""
    alike: dict[tuple[object, ...], list[HandoffPath]] = {}
    for path in found.paths:
        key = (path.widest, path.link_class, path.bytes_per_s_one_way, path.declared_bytes_per_s, path.contending)
        alike.setdefault(key, []).append(path)
    return tuple([path_row(paths) for paths in alike.values()])


def path_row(paths: list[HandoffPath]) -> PathRow:
    """Write paths that are alike."""
    path = paths[0]
    name = f"G{path.sender} → G{path.receiver}"
    link = path.link if len(paths) == 1 and path.link else path.link_class
    undeclared = f" ({', '.join(path.undeclared)} not declared)" if path.undeclared else ""
    return PathRow(
        names=name if len(paths) == 1 else f"{count(len(paths), 'path')}, for example {name}",
        widest=f"{path.widest.replace('_', ' ')}{undeclared}",
        link=link or "none declared",
        bandwidth=quantity(path.bytes_per_s_one_way, "bytes/s"),
        together=quantity(path.declared_bytes_per_s, "bytes/s"),
        contending=count(path.contending, "path") if path.contending else "none",
    )
