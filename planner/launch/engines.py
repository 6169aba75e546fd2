"""The engines of a trial: each instance with the words that start it on every node, devices in rank order.

Rules kept: plain degrees are said by ``planner.matrix.launch``, the rest by ``planner.launch.extras``
and ``planner.launch.settings``. Devices are
numbered among the devices of their node in the order of their ids; where a node has slices, or is not whole in the
contract, a device has no number and its name for CUDA is a variable.
"""

from collections.abc import Iterator, Mapping, Sequence

from planner.launch.base import Engine, LaunchRefusedError, Start, Unsaid, settings_file
from planner.launch.extras import Extras, extras_of
from planner.launch.seating import NodeSeats, plain, seated
from planner.launch.settings import settings_words
from planner.layouts import LAYOUTS, LayoutRefusedError
from planner.layouts.base import Degrees
from planner.matrix.launch import IN_FILE, Words, engine_words, read_as_option
from planner.matrix.words import CONFIG, HEAD, Variable, Word
from planner.natural_order import natural
from planner.rankmap import degrees_of, topology_groups
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.evidence import Instance, Trial
from planner.records.matrix import Seats

__all__ = ["VISIBLE", "engines_of", "host_variable", "meanings", "port_of", "variable_name"]

VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"
MPI_START = "trtllm-serve"


def engines_of(contract: Contract, trial: Trial) -> tuple[tuple[Engine, ...], tuple[Unsaid, ...], tuple[Unsaid, ...]]:
    """Return every engine instance of a trial, what its launch does not express, and what of that stops an instance.

    Raises:
        LaunchRefusedError: the degrees are no topology of the layout, the map is not one of its ranks, or engines would
            read a name of the model as an option.
    """
    refused_name = read_as_option(contract)
    if refused_name is not None:
        raise LaunchRefusedError(refused_name)
    moe = contract.identity.model.architecture == "moe"
    try:
        groups = topology_groups(trial.topology, moe=moe)
    except LayoutRefusedError as refused:
        raise LaunchRefusedError(f"The layout refuses the degrees: {refused}") from refused
    if groups.ranks != len(trial.rank_map):
        raise LaunchRefusedError(f"expected a rank map of {groups.ranks} ranks, found {len(trial.rank_map)}")
    engines, unsaid, faults = [], [], []
    for index, instance in enumerate(trial.topology.instances):
        made, lacking = _Maker(contract, trial, index, groups.starts[index], groups.world_sizes[index]).engine(instance)
        engines.append(made)
        unsaid += lacking
        faults += [] if made.starts else lacking
    return tuple(engines), tuple(dict.fromkeys(unsaid)), tuple(dict.fromkeys(faults))


class _Maker:
    """Makes one engine; ``first`` is its first global rank, ``world`` its number of ranks."""

    def __init__(self, contract: Contract, trial: Trial, index: int, first: int, world: int) -> None:
        self.contract, self.trial, self.index, self.first, self.world = contract, trial, index, first, world
        self.layout = trial.topology.layout
        self.several = len(trial.topology.instances) > 1

    def engine(self, instance: Instance) -> tuple[Engine, list[Unsaid]]:
        role = "serve" if isinstance(instance.role, UnsetType) else instance.role
        degrees = plain(degrees_of(instance, moe=self.contract.identity.model.architecture == "moe"))
        places = self.trial.rank_map[self.first : self.first + self.world]
        nodes, faults = seated(self.layout, degrees, places, self.first)
        sliced = [node.node for node in nodes if len(node.ranks) > 1 and self._has_slices(node.devices)]
        faults += tuple(
            Unsaid(
                at=f"instance {self.index}", sentence=f"Ranks on slices of {node}: a process sees one slice at most."
            )
            for node in sliced
        )
        extras = extras_of(self.layout, self.contract, degrees, role)
        starts: tuple[Start, ...] = ()
        left: list[str] = []
        unsaid = [*faults]
        if not faults:
            starts, lacking, left = self._starts(degrees, nodes, extras)
            unsaid += [Unsaid(at=f"instance {self.index}", sentence=text) for text in (*lacking, *extras.unsaid)]
        engine = Engine(
            index=self.index,
            role=role,
            layout=self.layout,
            starts=starts,
            settings=extras.settings,
            from_one_node=self.layout == "trtllm" and len(nodes) > 1,
            left=tuple(left),
        )
        return engine, unsaid

    def _starts(
        self, degrees: Degrees, nodes: Sequence[NodeSeats], extras: Extras
    ) -> tuple[tuple[Start, ...], list[str], list[str]]:
        seats = [Seats(node=node.node, ranks=node.ranks, devices=node.devices, nics=()) for node in nodes]
        head = head_of(self.index) if self.several else HEAD
        made = engine_words(self.contract, self.layout, degrees, self.world, seats, head=head, instance=self.index)
        if made is None:
            raise LaunchRefusedError(f"No command is known that starts {LAYOUTS[self.layout].title}.")
        commands, lacking = made
        lacking = [text for text in lacking if not text.startswith(IN_FILE)]
        said, left = settings_words(self.layout, self.contract, degrees, commands[0][1])
        more: Words = [*said, *extras.words]
        more += ["--port", port_of(self.index)] if self.several else []
        starts = []
        for at, node in enumerate(nodes):
            # TensorRT-LLM has one command for all nodes: MPI starts the same words everywhere.
            words = [*self._own(commands[min(at, len(commands) - 1)][1], extras), *more]
            starts.append(
                Start(
                    node=node.node,
                    ranks=tuple(self.first + rank for rank in node.ranks),
                    devices=node.devices,
                    words=tuple(words),
                    environment={**self._visible(node), **extras.environment},
                )
            )
        return tuple(starts), lacking, left

    def _own(self, words: Words, extras: Extras) -> Iterator[Word]:
        """Yield the engine's words without those of MPI, the file of its settings by name."""
        begin = words.index(MPI_START) if MPI_START in words else 0
        file = settings_file(self.index)
        for word in words[begin:]:
            yield file if word == CONFIG else word
        if extras.settings and CONFIG not in words:
            yield from ("--config", file)

    def _has_slices(self, devices: Sequence[str]) -> bool:
        known = self.contract.identity.hardware.devices
        return any(not isinstance(known[name].slice_of, UnsetType) for name in devices)

    def _visible(self, node: NodeSeats) -> dict[str, Word]:
        known = self.contract.identity.hardware.devices
        every = sorted((name for name, device in known.items() if device.node == node.node), key=natural)
        if self._has_slices(every):
            parts: list[str | Variable] = []
            for name in node.devices:
                parts += [",", device_variable(name)] if parts else [device_variable(name)]
            return {VISIBLE: tuple(parts)}
        # By default CUDA numbers the fastest first, nvidia-smi by the bus.
        return {ORDER: "PCI_BUS_ID", VISIBLE: ",".join(str(every.index(name)) for name in node.devices)}


def variable_name(text: str) -> str:
    """Return an id as a part of a variable's name; ids that differ only in ``.``, ``_`` and ``-`` are told apart."""
    spelled = {"-": "_", ".": "_DOT_", "_": "__"}
    return "".join(spelled.get(character, character) for character in text).upper()


def device_variable(name: str) -> Variable:
    """Return what stands for the name that CUDA has for a device or slice."""
    return Variable(f"TOPOGATE_DEVICE_{variable_name(name)}")


def host_variable(node: str) -> Variable:
    """Return what stands for the host name of a node."""
    return Variable(f"TOPOGATE_HOST_{variable_name(node)}")


def head_of(index: int) -> Variable:
    """Return what stands for the address of the first node of an engine."""
    return Variable(f"TOPOGATE_HEAD_{index}")


def port_of(index: int) -> Variable:
    """Return what stands for the port that an engine listens on."""
    return Variable(f"TOPOGATE_PORT_{index}")


def meanings(contract: Contract, engines: Sequence[Engine]) -> Mapping[str, str]:
    """Return what the variables that depend on the engines stand for."""
    found: dict[str, str] = {}
    for node in contract.identity.hardware.nodes:
        found[host_variable(node).name] = f"host name of {node}"
    for device in contract.identity.hardware.devices:
        found[device_variable(device).name] = f"what CUDA calls {device}: its UUID, as nvidia-smi -L prints it"
    for engine in engines:
        found[head_of(engine.index).name] = f"address of the first node of instance {engine.index}"
        found[port_of(engine.index).name] = f"port that instance {engine.index} listens on"
    return found
