"""Hardware for a contract that is being written: nodes from files of tools or described by hand, and what to ask for.

Rules kept: files are read by ``planner.hardware`` alone; nodes of one class have the same file under other ids; a node
that is described has what was said of it and nothing else. What is missing is asked for as ``planner.hardware`` asks,
of every entry that lacks it at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from planner.contract_builder.edits import merge_into
from planner.errors import DocumentRefusedError, PlannerError, Problem
from planner.hardware import fragment, numbered_nodes, read_hardware
from planner.intake.parts import object_at

__all__ = ["HardwareRefusedError", "NodeClass", "Seen", "described_nodes", "hardware_read"]

MOST_NODES = 1024
MOST_ENTRIES = 32
"""Devices and NICs of a node that is described; a larger one is read from a file."""


class HardwareRefusedError(PlannerError):
    """Hardware was not taken; ``by_file`` holds the problems of each file, or of the description under ""."""

    def __init__(self, by_file: Mapping[str, tuple[Problem, ...]]) -> None:
        super().__init__(f"hardware of {', '.join(name or 'the description' for name in by_file)} not taken")
        self.by_file = dict(by_file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What files show: members of a contract, where each node came from, and remarks."""

    fragment: dict[str, Any]
    origins: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClass:
    """Nodes that are alike, as a person describes them; rates are in bytes per second, in one direction."""

    nodes: int
    devices: int
    type: str
    memory_bytes: int
    nics: int = 0
    link_class: str = "inter_node"
    link_rate: int | None = None
    is_island: bool = False
    island_rate: int | None = None


def hardware_read(
    tree: Mapping[str, Any], files: Sequence[tuple[str, bytes]], *, names: Sequence[str] = (), copies: int = 1
) -> Seen:
    """Read files of tools, each ``copies`` times: nodes of one class. ``names`` are ids of nodes, in their order.

    Raises:
        HardwareRefusedError: with every problem of every file; or there are too many nodes, or an id is taken.
    """
    taken = {*object_at(tree, "identity", "hardware", "nodes")}
    _check_names(names, taken, copies)
    node_ids = chain(names, numbered_nodes(taken={*taken, *names}))
    part: dict[str, Any] = {}
    origins: dict[str, str] = {}
    notes: dict[str, None] = {}
    refused: dict[str, tuple[Problem, ...]] = {}
    for name, raw in chain.from_iterable(repeat(file, copies) for file in files):
        try:
            hardware = read_hardware(raw, node_ids=node_ids)
        except DocumentRefusedError as error:
            refused[name] = error.problems
            continue
        merge_into(part, fragment(hardware))
        origins |= {f"/identity/hardware/nodes/{node.id}": f"{name} ({hardware.source})" for node in hardware.nodes}
        notes |= dict.fromkeys(f"{name}: {note.sentence}" for note in hardware.notes)
    if refused:
        raise HardwareRefusedError(refused)
    if not files:
        raise HardwareRefusedError({"": (Problem("hardware/format", "files", "a file, or its text", "nothing"),)})
    return Seen(fragment=part, origins=origins, notes=tuple(notes))


def _check_names(names: Sequence[str], taken: set[str], copies: int) -> None:
    problems = []
    if not 1 <= copies <= MOST_NODES:
        problems.append(Problem("document/range", "copies", f"1 to {MOST_NODES:,} nodes of the class", str(copies)))
    twice = sorted({name for name in names if name in taken or list(names).count(name) > 1})
    if twice:
        problems.append(Problem("document/repeated", "names", "ids that no node has yet", ", ".join(twice)))
    if problems:
        raise HardwareRefusedError({"": tuple(problems)})


def described_nodes(tree: Mapping[str, Any], described: NodeClass) -> Seen:
    """Return nodes as they were described, under ids that are not taken.

    Raises:
        HardwareRefusedError: a count is out of range.
    """
    problems = tuple(_out_of_range(described))
    if problems:
        raise HardwareRefusedError({"": problems})
    taken = object_at(tree, "identity", "hardware", "nodes")
    names = [name for name, _ in zip(numbered_nodes(taken=taken), range(described.nodes), strict=False)]
    part: dict[str, Any] = {}
    for name in names:
        merge_into(part, {"identity": {"hardware": _node(name, described)}})
    origins = {f"/identity/hardware/nodes/{name}": "described by hand" for name in names}
    return Seen(fragment=part, origins=origins, notes=())


def _out_of_range(described: NodeClass) -> Iterator[Problem]:
    for field, least, most in (("nodes", 1, MOST_NODES), ("devices", 1, MOST_ENTRIES), ("nics", 0, MOST_ENTRIES)):
        value = getattr(described, field)
        if not least <= value <= most:
            yield Problem("document/range", field, f"a whole number from {least} to {most:,}", str(value))
    if not described.type:
        yield Problem("document/missing_field", "type", "the model of accelerator", "nothing")
    if described.memory_bytes < 1:
        yield Problem("document/range", "memory_bytes", "bytes, as the driver reports", str(described.memory_bytes))


def _node(name: str, described: NodeClass) -> dict[str, Any]:
    devices = [f"{name}-gpu{place}" for place in range(described.devices)]
    nics = [f"{name}-nic{place}" for place in range(described.nics)]
    device = {"node": name, "type": described.type, "memory_bytes": described.memory_bytes}
    section: dict[str, Any] = {"nodes": {name: {}}, "devices": {entry: dict(device) for entry in devices}}
    if nics:
        section["nics"] = {entry: {"node": name, "use": "fabric"} for entry in nics}
        section["links"] = {f"{entry}-up": _link(entry, described) for entry in nics}
    if described.is_island:
        rate = {} if described.island_rate is None else {"bytes_per_s_one_way": described.island_rate}
        section["islands"] = {f"{name}-island-0": {"devices": devices, **rate}}
    return section


def _link(nic: str, described: NodeClass) -> dict[str, Any]:
    rate = {} if described.link_rate is None else {"bytes_per_s_one_way": described.link_rate}
    return {"class": described.link_class, "nic": nic, **rate}
