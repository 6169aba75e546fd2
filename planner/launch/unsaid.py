"""What was decided and no launch of any engine expresses: named line by line, by the pointer of the contract.

Rules kept: a thing that the contract does not state is not mentioned; what other modules express (degrees, the rank
map, settings, context length, KV block) is not here.
"""

from collections.abc import Iterator

from planner.figures import readable
from planner.launch.base import Unsaid
from planner.map_notes import map_notes
from planner.records.base import UnsetType, stated
from planner.records.contract import Contract
from planner.records.evidence import Trial

__all__ = ["unsaid_of"]

SAID_OF_KV = frozenset({"block_tokens"})


def unsaid_of(contract: Contract, trial: Trial) -> Iterator[Unsaid]:
    """Yield what nothing of a launch says, contract first, then rank map and groups."""
    yield from _identity(contract)
    yield from _operation(contract)
    yield from _map(contract, trial)


def _identity(contract: Contract) -> Iterator[Unsaid]:
    identity = contract.identity
    for adapter in stated(identity.model.adapters) or ():
        yield Unsaid(at="/identity/model/adapters", sentence=f"Adapter {adapter} is given with the path of its files.")
    precision = identity.precision
    yield Unsaid(
        at="/identity/precision",
        sentence=f"Weights {precision.weights}, activations {precision.activations}: they are those of the checkpoint, "
        "nothing here asks for them.",
    )
    for name, value in sorted((stated(identity.stack.kv) or {}).items()):
        if name not in SAID_OF_KV:
            yield Unsaid(at=f"/identity/stack/kv/{name}", sentence=f"Decided {value}; left to the engine.")
    if stated(identity.stack.router):
        yield Unsaid(at="/identity/stack/router", sentence="The router in front of the engines is not started here.")
    engine = identity.stack.engine
    yield Unsaid(
        at="/identity/stack/engine",
        sentence=f"{engine.name} {engine.version} has to be installed, with every version and digest of the stack: "
        "`topogate identity check` compares them after the launch.",
    )


def _operation(contract: Contract) -> Iterator[Unsaid]:
    memory = None if isinstance(contract.headroom, UnsetType) else stated(contract.headroom.memory)
    if memory is not None:
        share, held = stated(memory.reserved_share), stated(memory.reserved_bytes)
        kept = f"a share of {readable(share)}" if share is not None else f"{held} bytes"
        yield Unsaid(
            at="/headroom/memory",
            sentence=f"The reserve, {kept}, has no argument: engines take a share of memory to fill, cache included.",
        )
    recovery = stated(contract.recovery)
    if recovery is not None:
        yield Unsaid(
            at="/recovery",
            sentence=f"On the loss of a rank: {_words(recovery.on_rank_loss)}, requests in flight: "
            f"{_words(recovery.in_flight_requests)}, by who starts and routes.",
        )
    fleet = stated(contract.fleet)
    spares = None if fleet is None else stated(fleet.spare_devices)
    if spares:
        yield Unsaid(at="/fleet/spare_devices", sentence=f"Left alone: {', '.join(spares)}.")


def _words(name: str) -> str:
    """Return a choice of the contract as words of a sentence."""
    return name.replace("_", " ")


def _map(contract: Contract, trial: Trial) -> Iterator[Unsaid]:
    decided: dict[str, dict[str, None]] = {}
    for place in trial.rank_map:
        if not isinstance(place.nic, UnsetType):
            decided.setdefault(place.node, {})[place.nic] = None
    for node, nics in decided.items():
        yield Unsaid(
            at=node, sentence=f"Which rank uses which of {', '.join(nics)} is the collective library's choice."
        )
    if any(instance.ep > 1 for instance in trial.topology.instances):
        yield Unsaid(at="experts", sentence="Which expert sits on which rank is the engine's rule, not an argument.")
    for note in map_notes(contract, trial):
        if note.sort != "notice":
            yield Unsaid(at=note.about, sentence=f"{note.sentence[:1].upper()}{note.sentence[1:]}.".replace("..", "."))
    yield Unsaid(
        at="devices",
        sentence="Device numbers count the devices of a node in the order of their ids in the contract: compare them "
        "with nvidia-smi -L.",
    )
