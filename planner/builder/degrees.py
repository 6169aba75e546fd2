"""The engine instances of a trial: degrees as tools state them, completed by what a person answered.

Rules kept: a degree that a file states is not overruled by an answer, only by a settlement of that very field; the
world size is what the engine reported, so a product of degrees is only proposed. An answer may have more instances
than the files tell of (replicas behind one address).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from planner.builder.pointing import most_exact
from planner.builder.records import Draft
from planner.builder.resolving import Found, Resolved, resolved
from planner.layouts import LayoutRefusedError
from planner.pointers import joined, steps
from planner.rankmap import topology_groups
from planner.records.evidence import Instance, LayoutName, Topology, ValueSource

__all__ = ["NEEDED", "Stated", "instances_of", "proposed_instances", "stated_instances"]

Json = Any
NEEDED = ("tp", "pp", "ep", "dp", "world_size")


def instances_of(
    draft: Draft, trial: str, fields: Mapping[str, Sequence[Found]]
) -> tuple[list[Json] | None, dict[str, ValueSource]]:
    """Return the instances with the sources of their members; None while one lacks a degree."""
    at = joined(("trials", trial, "topology", "instances"))
    answered = most_exact(draft.answers, at)
    given = answered[1].value if answered is not None else []
    stated = stated_instances(draft, trial, fields)
    instances: list[Json] = []
    sources: dict[str, ValueSource] = {}
    for number in range(max(len(stated), len(given))):
        own = dict(given[number]) if number < len(given) and isinstance(given[number], dict) else {}
        if answered is not None:
            sources |= {f"{at}/{number}/{name}": ValueSource(answered_by=answered[1].by) for name in own}
        for name, (_, what) in stated[number].items() if number < len(stated) else ():
            if what.value is not UNSET and what.source is not None:
                own[name] = what.value
                sources[f"{at}/{number}/{name}"] = what.source
        instances.append(own)
    complete = bool(instances) and all(name in own for own in instances for name in NEEDED)
    return (instances, sources) if complete else (None, {})


Stated = dict[str, tuple[Sequence[Found], Resolved]]
"""Of one instance, by degree: what files say and what of it counts."""


def stated_instances(draft: Draft, trial: str, fields: Mapping[str, Sequence[Found]]) -> list[Stated]:
    """Return what files state of every instance, those that fill the cache before those that use it."""
    by_instance: dict[str, dict[str, Sequence[Found]]] = {}
    at = ("trials", trial, "topology", "instances")
    for to, found in fields.items():
        path = steps(to)
        if path[:4] == at and len(path) == 6:
            by_instance.setdefault(path[4], {})[path[5]] = found
    named = [of for of in by_instance if of] or list(by_instance)
    ordered = sorted(named, key=lambda of: (not of.startswith("prefill"), of))
    return [
        {
            name: (found, resolved(draft, joined((*at, str(number), name)), found))
            for name, found in sorted(by_instance[of].items())
        }
        for number, of in enumerate(ordered)
    ]


def proposed_instances(stated: Sequence[Stated], layout: object, *, moe: bool) -> list[Json]:
    """Return instances to confirm: what files state, 1 for every other degree, and the product as world size."""
    proposal = []
    for one in stated or [{}]:
        own: dict[str, Json] = {name: what.value for name, (_, what) in one.items() if what.value is not UNSET}
        own = {**dict.fromkeys(NEEDED[:-1], 1), **own}
        own.setdefault("world_size", _world(own, layout, moe=moe))
        proposal.append(own)
    return proposal


def _world(own: Mapping[str, Json], layout: object, *, moe: bool) -> int:
    try:
        instance = msgspec.convert({**own, "world_size": 1}, Instance)
        named: LayoutName = msgspec.convert(layout, LayoutName)
        return topology_groups(Topology(layout=named, instances=(instance,)), moe=moe).ranks
    except (msgspec.ValidationError, LayoutRefusedError):
        return int(own["tp"]) * int(own["pp"])
