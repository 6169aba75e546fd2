"""One trial and its identity as far as files and answers go: a tree of the document, and where every value comes from.

Rules kept: a field has the one value that counts (``planner.builder.resolving``) or none; arrays have a place for
every rank, and what nobody measured is null. What the layout gives (ranks of a serving group) names the degrees that
it follows from. How a metric was sampled is said once for all ranks: the fewest samples, the longest interval.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET

from planner.builder.degrees import instances_of, stated_instances
from planner.builder.facts import facts_of
from planner.builder.files import file_of, run_of
from planner.builder.naming import Names, topology_from
from planner.builder.placing import ALL, Placing, drop_second_method, first_placing, second_placing
from planner.builder.pointing import ANY, most_exact
from planner.builder.records import Draft
from planner.builder.resolving import Found, Resolved, apart, resolved, source_of
from planner.builder.shapes import DRAFT_FIELDS
from planner.documents import ContractDocument
from planner.identity import contract_leaves
from planner.pointers import joined, place_of, steps
from planner.records.evidence import ValueSource

__all__ = ["TrialTree", "trial_tree"]

Json = Any
Path = tuple[str, ...]


@dataclass
class TrialTree:
    """One trial while it is put together; every pointer is one of the document, with the trial's id in it.

    ``values`` are the fields that have a value, ``conflicts`` those on which sources differ, and whether it is settled.
    ``overlapping`` are fields that stand inside another field's value, ``resolved`` counts what was looked at of each.
    """

    id: str
    placing: Placing
    names: Names
    fields: dict[str, list[Found]] = field(default_factory=dict)
    resolved: dict[str, int] = field(default_factory=dict)
    values: dict[str, Resolved] = field(default_factory=dict)
    conflicts: dict[str, bool] = field(default_factory=dict)
    sources: dict[str, ValueSource] = field(default_factory=dict)
    overlapping: list[str] = field(default_factory=list)
    identity: dict[str, Json] = field(default_factory=dict)
    trial: dict[str, Json] = field(default_factory=dict)

    def has(self, to: str) -> bool:
        """Say whether a field has a value, by itself or inside a larger one."""
        path = steps(to)
        return any(joined(path[:length]) in self.values for length in range(len(path), 1, -1))

    def settle(self, draft: Draft, to: str, found: list[Found]) -> Resolved:
        """Resolve a field and keep what came of it."""
        self.fields[to] = found
        what = resolved(draft, to, found)
        if what.conflict:
            self.conflicts[to] = what.settled
        if what.value is not UNSET:
            self.values[to] = what
        return what


def trial_tree(draft: Draft, contract: ContractDocument, name: str) -> TrialTree:
    """Return a trial of the draft as far as it goes."""
    leaves = tuple(contract_leaves(contract.record.identity))
    placing = first_placing(draft, name, leaves)
    drop_second_method(placing)
    own = TrialTree(id=name, placing=placing, names=_nameless())
    _resolve(own, draft, frozenset(leaves))
    own.names = _names(own, draft, contract)
    second_placing(draft, placing, own.names)
    _resolve(own, draft, frozenset(leaves))
    _answered(own, draft, leaves)
    _written(own, draft)
    return own


def _nameless() -> Names:
    return Names(topology=None, rank_device=None, devices={}, links={}, moe=False)


def _names(own: TrialTree, draft: Draft, contract: ContractDocument) -> Names:
    at = joined(("trials", own.id))
    layout = own.values.get(f"{at}/topology/layout") or resolved(draft, f"{at}/topology/layout", ())
    for number, stated in enumerate(stated_instances(draft, own.id, own.placing.found)):
        for member, (found, what) in stated.items():
            to = f"{at}/topology/instances/{number}/{member}"
            own.fields[to] = list(found)
            if what.conflict:
                own.conflicts[to] = what.settled
    instances, sources = instances_of(draft, own.id, own.placing.found)
    own.sources |= sources
    if instances is not None:
        own.values[f"{at}/topology/instances"] = Resolved(value=instances)
    topology = topology_from({"layout": layout.value, "instances": instances or []})
    rank_map = resolved(draft, f"{at}/rank_map", ()).value
    return Names(
        topology=topology if instances else None,
        rank_device=_devices(rank_map),
        devices=_mapping(draft, f"{at}/device_names"),
        links=_mapping(draft, f"{at}/link_names"),
        moe=contract.record.identity.model.architecture == "moe",
    )


def _devices(rank_map: Json) -> tuple[str, ...] | None:
    if not isinstance(rank_map, list | tuple):
        return None
    return tuple(str(place.get("device", "")) if isinstance(place, dict) else "" for place in rank_map)


def _mapping(draft: Draft, to: str) -> Mapping[str, str]:
    answered = most_exact(draft.answers, to)
    value = None if answered is None else answered[1].value
    return value if isinstance(value, dict) else {}


def _resolve(own: TrialTree, draft: Draft, leaves: frozenset[Path]) -> None:
    """Resolve every field that files say something of, but for degrees, which make up instances."""
    for to, found in sorted(own.placing.found.items()):
        # What was placed before the ranks were known is resolved already.
        if own.resolved.get(to) == len(found):
            continue
        own.resolved[to] = len(found)
        path = steps(to)
        if path[2:4] == ("topology", "instances") or ALL in path:
            continue
        if path[0] == "identities" and path[2:] not in leaves and apart(found):
            # The contract does not bind it, so it is no reason to keep a person from going on.
            for one in found if to not in own.fields else ():
                own.placing.leave(one, "files say different things of it, and the contract does not bind it")
            own.fields[to] = []
        else:
            own.settle(draft, to, _times(draft, path, _sampled(path, found)))
    _expand(own, draft)


def _times(draft: Draft, path: Path, found: list[Found]) -> list[Found]:
    """Keep of start and end what loads say: telemetry runs before and after."""
    if path[4:] not in (("start",), ("end",)):
        return found
    return [one for one in found if _part(draft, one.run) == "load"]


def _part(draft: Draft, run: str) -> str:
    return facts_of(run, file_of(draft, run), run_of(draft, run)).part


def _sampled(path: Path, found: list[Found]) -> list[Found]:
    """Keep one value a run of how a metric was sampled: that of the rank that was sampled worst."""
    if path[4:5] != ("per_rank",) or path[-1] not in ("samples", "sample_interval_s"):
        return found
    worst: dict[str, Found] = {}
    for one in found:
        kept = worst.get(one.run)
        less = kept is not None and (one.value < kept.value if path[-1] == "samples" else one.value > kept.value)
        if kept is None or less:
            worst[one.run] = one
    return list(worst.values())


def _expand(own: TrialTree, draft: Draft) -> None:
    """Write out what a file of collectives says once for all sizes."""
    shared = [(to, path) for to in own.placing.found if ALL in (path := steps(to))]
    entries = _entries(own) if shared else {}
    for to, path in sorted(shared):
        at = path.index(ALL)
        section, run, rest = path[:at], path[at + 1], path[at + 2 :]
        for entry in sorted(entries.get((section, run), ())):
            own.settle(draft, joined((*section, entry, *rest)), own.placing.found[to])


def _entries(own: TrialTree) -> dict[tuple[Path, str], set[str]]:
    """Return the collectives that every run says something of, by the section of a window that they stand in."""
    entries: dict[tuple[Path, str], set[str]] = {}
    for to, found in own.placing.found.items():
        path = steps(to)
        if path[4:5] == ("collectives",) and ALL not in path:
            for one in found:
                entries.setdefault((path[:5], one.run), set()).add(path[5])
    return entries


def _answered(own: TrialTree, draft: Draft, leaves: Sequence[Path]) -> None:
    """Add what a person said of fields that no file says anything of."""
    for to in sorted({*_fields_answered(own.id, draft, leaves)}):
        if to not in own.fields and steps(to)[2] not in DRAFT_FIELDS and not to.endswith("/topology/instances"):
            own.settle(draft, to, [])


def _fields_answered(trial: str, draft: Draft, leaves: Sequence[Path]) -> Iterator[str]:
    windows = draft.trials[trial].windows
    said: Iterable[str] = (*draft.answers, *(at for at, how in draft.settled.items() if how.value is not UNSET))
    for at in said:
        path = steps(at)
        if path[0] not in ("trials", "identities") or len(path) < 3 or path[1] not in (trial, ANY):
            continue
        if path[0] == "identities" and ANY in path[2:]:
            alike = (leaf for leaf in leaves if (leaf[:2], leaf[3:]) == (path[2:4], path[5:]))
            yield from (joined((path[0], trial, *leaf)) for leaf in alike)
        elif path[2] != "windows" or path[0] == "identities":
            yield joined((path[0], trial, *path[2:]))
        elif len(path) > 4:
            named = windows if path[3] == ANY else [path[3]] if path[3] in windows else ()
            yield from (joined((path[0], trial, "windows", window, *path[4:])) for window in named)


# The tree


def _written(own: TrialTree, draft: Draft) -> None:
    """Write every value where it belongs, then what the builder adds: places of ranks, load points, groups."""
    root: dict[str, Json] = {"identities": {own.id: own.identity}, "trials": {own.id: own.trial}}
    own.trial["identity_id"] = own.id
    windows = {name: _window(held.load_point) for name, held in draft.trials[own.id].windows.items()}
    own.trial["windows"] = windows
    for to, what in sorted(own.values.items(), key=lambda pair: (pair[0].count("/"), pair[0])):
        if what.value is UNSET or steps(to)[2:3] == ("same_run",):
            continue
        if not _put(root, steps(to), msgspec.to_builtins(what.value)):
            own.overlapping.append(to)
        elif what.source is not None:
            own.sources[to] = what.source
    for name, window in windows.items():
        _arrays(own, joined(("trials", own.id, "windows", name)), window)
        _groups(own, joined(("trials", own.id, "windows", name)), window)
    _load_points(own, draft)


def _window(load_point: str | None) -> dict[str, Json]:
    return {} if load_point is None else {"load_point": load_point}


def _put(root: Json, path: Path, value: Json) -> bool:
    """Put a value into a tree; False where another value stands in the way."""
    here = root
    for step in path[:-1]:
        if isinstance(here, list) and (place := place_of(step, len(here))) is not None:
            here = here[place]
        elif isinstance(here, dict):
            here = here.setdefault(step, {})
        else:
            return False
    if isinstance(here, list) and (place := place_of(path[-1], len(here))) is not None:
        here[place] = value
        return True
    if not isinstance(here, dict) or (path[-1] in here and here[path[-1]] != value):
        return False
    here[path[-1]] = value
    return True


def _arrays(own: TrialTree, at: str, window: dict[str, Json]) -> None:
    """Make arrays of what was measured by rank: null where nobody did."""
    for name, metric in (window.get("per_rank") or {}).items():
        values = metric.get("values") if isinstance(metric, dict) else None
        if not isinstance(values, dict):
            continue
        length = max(own.names.ranks or 0, *(int(rank) + 1 for rank in values))
        metric["values"] = [values.get(str(rank)) for rank in range(length)]
        devices = {one.read.of for rank in values for one in own.fields[f"{at}/per_rank/{name}/values/{rank}"]}
        if devices and all(of.startswith(("gpu", "node-", "device")) for of in devices):
            metric.setdefault("scope", "device")
            own.sources[f"{at}/per_rank/{name}/scope"] = ValueSource(derived_from=(f"{at}/per_rank/{name}/values",))


def _groups(own: TrialTree, at: str, window: dict[str, Json]) -> None:
    """Say which ranks a serving group has, as the layout gives them."""
    for name, replica in (window.get("replicas") or {}).items():
        group = place_of(name.removeprefix("replica-"), len(own.names.serving))
        if group is not None and isinstance(replica, dict) and "ranks" not in replica:
            replica["ranks"] = list(own.names.serving[group])
            topology = joined(("trials", own.id, "topology"))
            own.sources[f"{at}/replicas/{name}/ranks"] = ValueSource(derived_from=(topology,))


def _load_points(own: TrialTree, draft: Draft) -> None:
    """Say where the load point of a window comes from: a person, or the load that a run states."""
    for name, window in draft.trials[own.id].windows.items():
        to = joined(("trials", own.id, "windows", name, "load_point"))
        if window.load_point is None:
            continue
        if window.load_point_by is not UNSET:
            own.sources[to] = ValueSource(answered_by=window.load_point_by)
            continue
        for run in window.runs:
            facts = facts_of(run, file_of(draft, run), run_of(draft, run))
            load = facts.value("concurrent_requests") or facts.value("offered_requests_per_s")
            if load is not None:
                one = Found(run=run, format=facts.file.format, read=load, value=load.value)
                own.sources[to] = source_of(one)
                break
