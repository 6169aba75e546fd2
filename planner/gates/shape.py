"""Shape: do the degrees give these ranks, does the model split over them, does every rank have a device?

Rules kept: a rank count is compared with two other statements (the engine's world size and the map's length), never
with itself; nodes need not be full; spares are listed, not counted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import repeat

from planner.gates.base import Finding, Standing, gate
from planner.gates.wording import capital, counted
from planner.layouts import LAYOUTS, LayoutRefusedError
from planner.rankmap import degrees_of
from planner.records.base import UNSET, UnsetType
from planner.records.contract import Hardware
from planner.view import TrialView

FAMILY = "shape"


@gate(
    "rank_count",
    family=FAMILY,
    title="Degrees, world size and placed ranks agree",
    unit="ranks",
    comparator="==",
    grounds="groups",
    of_placement=True,
    hint="Correct the degrees or the map; engines whose expert degree multiplies no ranks have their own layout.",
)
def rank_count(view: TrialView, standing: Standing) -> Finding:
    """The layout's product equals the world size that each engine instance reported, and the ranks of all instances
    are the ranks placed. A degree that the layout does not produce fails."""
    groups = view.groups
    if isinstance(groups, LayoutRefusedError):
        return Finding(
            outcome="FAIL",
            sentence=f"The layout {view.trial.topology.layout} refuses these degrees: {groups.message}.",
            measured_at=(f"{view.at}/topology",),
            notes=(groups.constraint,),
        )
    placed = Fraction(view.ranks)
    for index, (instance, product) in enumerate(zip(view.trial.topology.instances, groups.world_sizes, strict=True)):
        if instance.world_size != product:
            return Finding(
                outcome="FAIL",
                sentence=f"Instance {index} reports a world of {counted(instance.world_size, 'rank')}; "
                f"its degrees give {product:,}.",
                measured=Fraction(instance.world_size),
                limit=Fraction(product),
                worst=(("instance", str(index)),),
                measured_at=(f"{view.at}/topology/instances/{index}/world_size",),
            )
    agree = placed == groups.ranks
    return Finding(
        outcome="PASS" if agree else "FAIL",
        sentence=f"{counted(view.ranks, 'rank')} placed; the degrees give {groups.ranks:,}.",
        measured=placed,
        limit=Fraction(groups.ranks),
        measured_at=(f"{view.at}/rank_map",),
        notes=(*groups.notices, *groups.differences),
    )


@gate(
    "model_divisibility",
    family=FAMILY,
    title="The model splits over the degrees",
    needs=("groups",),
    of_placement=True,
    hint="Choose degrees that divide heads, layers, experts and quantisation blocks.",
)
def model_divisibility(view: TrialView, standing: Standing) -> Finding:
    """Each tensor splits by the degree that really shards it: attention heads, KV heads (or whole copies), layers,
    experts, and the width of quantisation blocks. Every test that fails is named."""
    layout, identity = LAYOUTS[view.trial.topology.layout], view.contract.identity
    moe = identity.model.architecture == "moe"
    block = identity.precision.quantisation_block
    checks = [
        (index, check)
        for index, instance in enumerate(view.trial.topology.instances)
        for check in layout.divisibility(
            identity.model, degrees_of(instance, moe=moe), None if isinstance(block, UnsetType) else block
        )
    ]
    failed = [(index, check) for index, check in checks if not check.passed]
    sentences = tuple(dict.fromkeys(check.sentence for _, check in failed or checks))
    return Finding(
        outcome="FAIL" if failed else "PASS",
        sentence=". ".join(capital(sentence) for sentence in sentences) + "." if sentences else "Nothing to split.",
        worst=(("instance", str(failed[0][0])), ("test", failed[0][1].name)) if failed else (),
        measured_at=(f"{view.at}/topology/instances",),
        notes=tuple(dict.fromkeys(check.notice for _, check in checks if check.notice)),
        limit_at="/identity/model",
    )


@gate(
    "placement",
    family=FAMILY,
    title="Every rank has one device of its own",
    unit="ranks",
    comparator="==",
    grounds="devices",
    of_placement=True,
    hint="Place every rank on one existing device, and no two ranks on one.",
)
def placement(view: TrialView, standing: Standing) -> Finding:
    """Every rank sits on exactly one device that the contract has, on that device's node; no device is used twice,
    but by pools that it is declared to be shared with; no group has two slices of one accelerator; NICs exist and stand
    on the rank's node. Nodes need not be full."""
    uses = Counter(view.rank_device)
    hardware, nics = view.site.hardware, view.site.nics
    problems = [problem for rank in range(view.ranks) for problem in _misplaced(view, rank, uses, hardware, nics)]
    problems += _siblings(view)
    if not problems:
        idle = len(view.site.hardware.devices) - len(uses) - len(view.site.spares - set(view.rank_device))
        return Finding(
            outcome="PASS",
            sentence=f"{counted(view.ranks, 'rank')} on {counted(len(uses), 'device')} of "
            f"{counted(len(view.ranks_per_node), 'node')}.",
            measured=Fraction(view.ranks),
            limit=Fraction(view.ranks),
            measured_at=(f"{view.at}/rank_map",),
            notes=(f"{counted(idle, 'device')} idle, {len(view.site.spares):,} spare.",) if idle > 0 else (),
        )
    ranks = sorted({rank for rank, _, _ in problems})
    return Finding(
        outcome="FAIL",
        sentence=" ".join(dict.fromkeys(sentence for _, _, sentence in problems)),
        measured=Fraction(view.ranks - len(ranks)),
        limit=Fraction(view.ranks),
        worst=(("rank", str(ranks[0])),),
        measured_at=tuple(f"{view.at}/rank_map/{rank}/{field}" for rank, field, _ in problems),
        limit_at="/identity/hardware/devices",
    )


def _may_share(view: TrialView, device: str) -> bool:
    """Say whether a device is declared to be shared by all pools that have a rank on it, one each."""
    declared = view.site.hardware.devices[device].shared_with if device in view.site.hardware.devices else UNSET
    roles = [role for role, own in zip(_roles(view), view.rank_device, strict=False) if own == device]
    return not isinstance(declared, UnsetType) and len(set(roles)) == len(roles) and set(roles) <= set(declared)


def _roles(view: TrialView) -> Iterator[str]:
    """Yield the role of the engine instance of every rank, in rank order."""
    for instance in view.trial.topology.instances:
        yield from repeat("serve" if isinstance(instance.role, UnsetType) else instance.role, instance.world_size)


def _siblings(view: TrialView) -> Iterator[tuple[int, str, str]]:
    """Yield ranks of one group on slices of one accelerator: its communicator refuses the same accelerator twice."""
    sliced = view.site.slices
    slices = {rank: sliced[name] for rank, name in enumerate(view.rank_device) if name in sliced} if sliced else {}
    if len(set(slices.values())) == len(slices) or isinstance(view.groups, LayoutRefusedError):
        return
    # Data replicas that share no requests share no communicator either.
    for kind in sorted(view.groups.joins & view.groups.groups.keys()):
        for group in view.groups.groups[kind]:
            seen: dict[tuple[str, str], int] = {}
            for rank in group:
                first = seen.setdefault(slices[rank], rank) if rank in slices else rank
                if first != rank:
                    whole = slices[rank][1]
                    sentence = f"Ranks {first} and {rank} of one {kind} group are on slices of one device, {whole}."
                    yield rank, "device", sentence


def _misplaced(
    view: TrialView, rank: int, uses: Counter[str], hardware: Hardware, nics: Mapping[str, str]
) -> list[tuple[int, str, str]]:
    """List (rank, field, sentence) of what is wrong with one place; ``nics`` has the node of each."""
    place = view.trial.rank_map[rank]
    problems = []
    device = hardware.devices.get(place.device)
    if place.rank != rank:
        problems.append((rank, "rank", f"Place {rank} of the map says rank {place.rank}."))
    if device is None:
        problems.append((rank, "device", f"Rank {rank} is on {place.device}, which the contract does not have."))
    elif device.node != place.node:
        problems.append(
            (rank, "node", f"Rank {rank} is on {place.node}; its device {place.device} stands on {device.node}.")
        )
    if uses[place.device] > 1 and not _may_share(view, place.device):
        sharing = [str(other) for other, used in enumerate(view.rank_device) if used == place.device]
        problems.append((rank, "device", f"Ranks {', '.join(sharing)} share device {place.device}."))
    if not isinstance(place.nic, UnsetType):
        node = nics.get(place.nic)
        if node is None:
            problems.append((rank, "nic", f"Rank {rank} uses NIC {place.nic}, which the contract does not have."))
        elif node != place.node:
            problems.append((rank, "nic", f"Rank {rank} on {place.node} uses NIC {place.nic} of {node}."))
    return problems
