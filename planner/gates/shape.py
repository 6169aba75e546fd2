"""Shape: do the degrees give these ranks, does the model split over them, does every rank have a device?

Rules kept: a rank count is compared with two other statements (the engine's world size and the map's length), never
with itself; nodes need not be full; spares are listed, not counted.
"""

from collections import Counter
from fractions import Fraction

from planner.gates.base import Finding, Standing, gate
from planner.gates.wording import capital, counted
from planner.layouts import LAYOUTS, LayoutRefusedError
from planner.rankmap import degrees_of
from planner.records.base import UnsetType
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
    """Every rank sits on exactly one device that the contract has, on that device's node; no device is used twice;
    NICs exist and stand on the rank's node. Nodes need not be full."""
    uses = Counter(view.rank_device)
    problems = [problem for rank in range(view.ranks) for problem in _misplaced(view, rank, uses)]
    if not problems:
        idle = len(view.site.hardware.devices) - view.ranks - len(view.site.spares - set(view.rank_device))
        return Finding(
            outcome="PASS",
            sentence=f"{counted(view.ranks, 'rank')} on {counted(view.ranks, 'device')} of "
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


def _misplaced(view: TrialView, rank: int, uses: Counter[str]) -> list[tuple[int, str, str]]:
    """List (rank, field, sentence) of what is wrong with one place."""
    place, hardware = view.trial.rank_map[rank], view.contract.identity.hardware
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
    if uses[place.device] > 1:
        sharing = [str(other) for other, used in enumerate(view.rank_device) if used == place.device]
        problems.append((rank, "device", f"Ranks {', '.join(sharing)} share device {place.device}."))
    if not isinstance(place.nic, UnsetType):
        node = view.site.nics.get(place.nic)
        if node is None:
            problems.append((rank, "nic", f"Rank {rank} uses NIC {place.nic}, which the contract does not have."))
        elif node != place.node:
            problems.append((rank, "nic", f"Rank {rank} on {place.node} uses NIC {place.nic} of {node}."))
    return problems
