"""Two maps side by side on one ground: two candidates, or one of two revisions. What moved, changed, crosses anew.

Rules kept: differences are those of ``planner.map_diff``; devices stand in the same place on both sides, also where
each contract has some that the other has not; what differs in identity is said, because it makes figures incomparable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.map_diff import MapDiff, MovedRank, NewCrossing, PlacedMap, map_diff
from planner.rankmap import derived_name
from planner.records.base import UnsetType
from planner.records.contract import Hardware
from planner.records.evidence import Placement
from planner.site import Site
from reviews.selectors.maps import MapSource
from reviews.web.csv_text import Value
from reviews.web.dense_places import DensePlaces, dense_places, is_small
from reviews.web.dense_rows import DenseMap, DenseView, dense_map
from reviews.web.formats import count, listed
from reviews.web.links import Query
from reviews.web.map_groups import members_short
from reviews.web.map_loss import LossFacts, loss_facts
from reviews.web.map_page import candidate_word, loss_choices, source_note, trial_options
from reviews.web.map_rows import far_groups
from reviews.web.rank_facts import RankFacts, carried_by, facts_of_view
from reviews.web.words import Word

KEPT = ("revision", "trial", "with_revision", "with", "colour", "lost")
WIDTH = 640
MOST_ROWS = 24
SECTIONS = ("model", "precision", "workload", "stack", "hardware")
MOVED_HEADER = ("rank", "what", "node_before", "device_before", "nic_before", "node_after", "device_after", "nic_after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two maps."""

    title: str
    trial: str
    revision: int
    word: Word | None
    note: str
    facts: RankFacts
    map: DenseMap
    legend: list[tuple[str, str]]
    loss: LossFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing with its value on both sides; ``differs`` where they are not the same."""

    name: str
    before: str
    after: str
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRow:
    """A rank that stands elsewhere."""

    rank: int
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """What changed for the groups of a kind, with an example."""

    role: str
    name: str
    text: str
    example: str


def placed(facts: RankFacts) -> PlacedMap | None:
    """Return what can be compared; None where ranks and degrees do not fit together."""
    if facts.groups is None or not facts.is_placed:
        return None
    return PlacedMap(groups=facts.groups, places=facts.places, site=facts.site)


def difference(before: RankFacts, after: RankFacts) -> MapDiff | None:
    """Compare two maps; None where one of them can not be."""
    sides = placed(before), placed(after)
    return map_diff(sides[0], sides[1]) if sides[0] and sides[1] else None


def compare_context(before: MapSource, after: MapSource, query: Query) -> dict[str, Any]:
    """Return everything below the head of the page."""
    facts = facts_of_view(before.view), facts_of_view(after.view)
    found = difference(*facts)
    grounds, apart = shared_ground(facts[0].site, facts[1].site)
    marked = strong(found, facts, query)
    sides = [
        side(source, own, ground, query, marked)
        for source, own, ground in zip((before, after), facts, grounds, strict=True)
    ]
    kinds = {kind.id: kind for kind in (*facts[1].kinds, *facts[0].kinds)}
    colour = facts[0].kind(query.get("colour"))
    lost = facts[0].lost(query.get("lost")) or facts[1].lost(query.get("lost")) if query.get("lost") else None
    return {
        "sides": sides,
        "lost": lost,
        "kinds": [
            (kind, query.link("maps", colour=kind.id), kind.id == (colour.id if colour else ""))
            for kind in kinds.values()
        ],
        **loss_choices(facts[0], lost, query, "maps"),
        "lost_hidden": query.hidden("lost"),
        "identity": identity_differences(before, after),
        "apart": apart,
        "are_first": not is_small(grounds[0]),
        "found": found,
        "reason": reason(found, facts),
        "rows": rows(facts, found),
        "moved": [moved_row(row) for row in found.moved[:MOST_ROWS]] if found else [],
        "moved_more": max(0, len(found.moved) - MOST_ROWS) if found else 0,
        "changes": change_rows(found, facts) if found else [],
        "came": crossing_changes(found.crossings, facts[1]) if found else [],
        "ended": crossing_changes(found.ended, facts[0]) if found else [],
        "choices": [
            choices(source, query, names)
            for source, names in ((before, ("trial", "revision")), (after, ("with", "with_revision")))
        ],
        "pick_hidden": query.hidden(*KEPT[:4]),
        "swapped": swapped(query, before, after),
    }


def swapped(query: Query, before: MapSource, after: MapSource) -> str:
    """Return the address with both sides exchanged."""
    changes: dict[str, str | int | None] = {
        "trial": after.trial_id,
        "revision": after.page.shown.number,
        "with": before.trial_id,
        "with_revision": before.page.shown.number,
    }
    return query.link("maps", **changes)


def choices(source: MapSource, query: Query, names: tuple[str, str]) -> dict[str, Any]:
    """Return what one side may show instead."""
    return {
        "trial_name": names[0],
        "revision_name": names[1],
        "trials": trial_options(source.page.plan(), source.trial_ids, source.trial_id),
        "revisions": [(row.number, row.number == source.page.shown.number) for row in source.page.revisions],
    }


def side(source: MapSource, facts: RankFacts, ground: DensePlaces, query: Query, marked: frozenset[int] | None) -> Side:
    """Make one side."""
    lost = facts.lost(query.get("lost")) if query.get("lost") else None
    plan = source.page.plan()
    candidate = plan.candidates.get(source.trial_id) if plan else None
    view = DenseView(
        facts=facts,
        colour=facts.kind(query.get("colour")),
        selected=None,
        lost=lost,
        marked=marked,
        joins=joins_of(facts, ground),
    )
    return Side(
        title=derived_name(source.trial.topology),
        trial=source.trial_id,
        revision=source.page.shown.number,
        word=candidate_word(plan, source.trial_id),
        note=source_note(facts),
        facts=facts,
        map=dense_map(view, ground),
        legend=crossing_legend(facts),
        loss=loss_facts(facts, lost, source.view, candidate) if lost else None,
    )


def joins_of(facts: RankFacts, ground: DensePlaces) -> dict[str, tuple[int, ...]]:
    """Return the ranks whose nodes lines join: of all groups that leave their node, in a large fleet of the first."""
    found = {}
    for kind in facts.kinds:
        far = far_groups(facts, kind)
        shown = far if is_small(ground) else far[:1]
        if shown:
            found[kind.id] = tuple(dict.fromkeys(rank for group in shown for rank in group))
    return found


def crossing_legend(facts: RankFacts) -> list[tuple[str, str]]:
    """Return (role, text) of every kind that leaves its node."""
    return [
        (kind.role, f"{kind.name.lower()}, {count(len(far), 'group')} between nodes: {carried_by(facts, kind)}")
        for kind in facts.kinds
        if (far := far_groups(facts, kind))
    ]


def strong(found: MapDiff | None, facts: tuple[RankFacts, RankFacts], query: Query) -> frozenset[int] | None:
    """Return the ranks to draw strong: those that moved, and those whose group of the shown kind changed."""
    if found is None or found.same:
        return None
    ranks = {row.rank for row in found.moved}
    kind = facts[0].kind(query.get("colour")) or facts[1].kind(query.get("colour"))
    for change in found.groups:
        if kind is not None and change.kind == kind.id:
            ranks |= {rank for group in (*change.only_before, *change.only_after) for rank in group}
    return frozenset(ranks)


def shared_ground(before: Site, after: Site) -> tuple[tuple[DensePlaces, DensePlaces], str]:
    """Place the hardware of both contracts once; apart, with the reason, where one device is on two nodes."""
    if before.hardware == after.hardware and before.fleet.failure_domains == after.fleet.failure_domains:
        ground = dense_places(before, width=WIDTH)
        return (ground, ground), ""
    moved = [
        name
        for name, device in before.hardware.devices.items()
        if name in after.hardware.devices and after.hardware.devices[name].node != device.node
    ]
    if moved:
        grounds = dense_places(before, width=WIDTH), dense_places(after, width=WIDTH)
        return grounds, f"Device {moved[0]} is on another node in each contract, so places differ."
    hardware = Hardware(
        nodes={**before.hardware.nodes, **after.hardware.nodes},
        devices={**before.hardware.devices, **after.hardware.devices},
        nics={**declared(before.hardware.nics), **declared(after.hardware.nics)},
        islands={**declared(before.hardware.islands), **declared(after.hardware.islands)},
    )
    ground = dense_places(Site(hardware=hardware, fleet=after.fleet), width=WIDTH)
    return (ground, ground), ""


def declared(found: Any) -> Mapping[str, Any]:
    """Return a section of the hardware; an absent one is empty."""
    return {} if isinstance(found, UnsetType) else found


def identity_differences(before: MapSource, after: MapSource) -> str:
    """Name the sections of identity in which two contracts differ."""
    identities = [msgspec.to_builtins(source.contract.identity) for source in (before, after)]
    differing = [name for name in SECTIONS if identities[0].get(name) != identities[1].get(name)]
    return listed(differing)


def reason(found: MapDiff | None, facts: tuple[RankFacts, RankFacts]) -> str:
    """Say in one line what makes the maps differ: the first crossing that came, and the first that ended."""
    if found is None:
        broken = next((own for own in facts if not own.is_placed), facts[0])
        return broken.refusal or "Ranks and degrees of one of the maps do not fit together, so groups are not compared."
    if found.same:
        return "Both maps are the same: no rank moved, no group changed."
    said = [
        crossing_text(next((one for one in crossings if one.boundary == "node"), crossings[0]), own, verb)
        for crossings, own, verb in ((found.crossings, facts[1], "joins"), (found.ended, facts[0], "no longer joins"))
        if crossings
    ]
    if not said:
        return f"{count(len(found.moved), 'rank')} moved; every group crosses what it did."
    others = len(found.crossings) + len(found.ended) - len(said)
    return " ".join([*said, *([f"{count(others, 'more such change')}."] if others else [])])


def crossing_text(crossing: NewCrossing, facts: RankFacts, verb: str) -> str:
    """Say which places a group joins."""
    name = next((kind.name for kind in facts.kinds if kind.id == crossing.kind), crossing.kind)
    where = sorted({place_in(crossing.boundary, facts.places[rank], facts) for rank in crossing.members})
    shown = listed(where) if len(where) <= 4 else f"{where[0]} to {where[-1]} ({len(where)} in all)"
    return f"{name} {verb} {shown}."


def plural(boundary: str) -> str:
    """Name several domains of a kind, for example ``power feeds``."""
    word = boundary.replace("_", " ")
    return f"{word}es" if word.endswith(("s", "sh", "ch", "x")) else f"{word}s"


def place_in(boundary: str, place: Placement, facts: RankFacts) -> str:
    """Name where a place stands, by the kind of boundary."""
    if boundary == "node":
        return place.node
    domains = facts.site.domains(boundary) or {}
    return next((name for name, devices in sorted(domains.items()) if place.device in devices), place.node)


def rows(facts: tuple[RankFacts, RankFacts], found: MapDiff | None) -> list[Row]:
    """Lay the figures of both maps side by side; what is equal comes last."""
    texts: list[tuple[str, list[str]]] = [
        ("Degrees", [derived_name(own.trial.topology) for own in facts]),
        ("Layout", [own.trial.topology.layout for own in facts]),
        ("Ranks", [f"{len(own.places):,}" for own in facts]),
        ("Nodes in use", [f"{len({place.node for place in own.places}):,}" for own in facts]),
        ("Serving groups", [serving_text(own) for own in facts]),
    ]
    if found:
        names = {kind.id: kind.name for own in facts for kind in own.kinds}
        for (kind, boundary), numbers in found.counts.items():
            texts.append(
                (f"{names.get(kind, kind)} groups across {plural(boundary)}", [f"{number:,}" for number in numbers])
            )
    made = [Row(name=name, before=one, after=other, differs=one != other) for name, (one, other) in texts]
    return sorted(made, key=lambda row: not row.differs)


def serving_text(facts: RankFacts) -> str:
    """Count serving groups with the size of the largest."""
    if not facts.serving:
        return "not known"
    return f"{len(facts.serving):,}, the largest of {count(max(map(len, facts.serving)), 'rank')}"


def place_text(place: Placement | None) -> str:
    """Write where a rank stands."""
    if place is None:
        return "no such rank"
    nic = "" if isinstance(place.nic, UnsetType) else f", {place.nic}"
    return f"{place.node}, {place.device}{nic}"


def moved_row(moved: MovedRank) -> MovedRow:
    """Write a rank that moved."""
    return MovedRow(rank=moved.rank, before=place_text(moved.before), after=place_text(moved.after))


def change_rows(found: MapDiff, facts: tuple[RankFacts, RankFacts]) -> list[ChangeRow]:
    """Write how the groups of each kind changed."""
    kinds = {kind.id: kind for own in facts for kind in own.kinds}
    made = []
    for change in found.groups:
        kind = kinds.get(change.kind)
        if kind is None:
            continue
        examples = [
            f"{word} {members_short(groups[0])}"
            for word, groups in (("was", change.only_before), ("is", change.only_after))
            if groups
        ]
        made.append(
            ChangeRow(
                role=kind.role,
                name=kind.name,
                text=f"{count(len(change.only_before), 'group')} gone, {len(change.only_after):,} new",
                example="; ".join(examples),
            )
        )
    return made


def crossing_changes(found: Sequence[NewCrossing], facts: RankFacts) -> list[ChangeRow]:
    """Put crossings together by kind and boundary, with the first as an example."""
    kinds = {kind.id: kind for kind in facts.kinds}
    alike: dict[tuple[str, str], list[NewCrossing]] = {}
    for crossing in found:
        if crossing.kind in kinds:
            alike.setdefault((crossing.kind, crossing.boundary), []).append(crossing)
    return [
        ChangeRow(
            role=kinds[kind].role,
            name=kinds[kind].name,
            text=f"{count(len(group), 'group')} across {plural(boundary)}",
            example=f"{members_short(group[0].members)}: {crossing_text(group[0], facts, 'joins')}",
        )
        for (kind, boundary), group in alike.items()
    ]


def moved_table(found: MapDiff) -> list[list[Value]]:
    """Make the rows of the download: every rank that moved, under ``MOVED_HEADER``."""
    return [[row.rank, " ".join(row.what), *place_fields(row.before), *place_fields(row.after)] for row in found.moved]


def place_fields(place: Placement | None) -> list[Value]:
    """Write a place as three fields."""
    if place is None:
        return [None, None, None]
    return [place.node, place.device, None if isinstance(place.nic, UnsetType) else place.nic]
