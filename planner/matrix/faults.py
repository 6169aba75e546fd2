"""Faults to put in on purpose, as far as the contract asks: of what, how, and when recovery counts.

Rules kept: a fault is asked for by a limit of ``recovery`` or ``failure_domain``, by the two that groups owe, by the
contract's ``recovery`` and ``needs`` sections, or by a stress size that is declared; only limits make it required.
Commands are for a person: none of them is run by the script that is printed. Where no command is known, that is said.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.contract_view import ContractView
from planner.gates.failure_recovery import FIELDS, OWED
from planner.records.base import UnsetType, stated
from planner.records.matrix import InjectionSteps
from planner.records.trials import InjectionKind

__all__ = ["Asked", "asked_faults", "steps_of"]

SATURATED = "saturated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A fault of one kind in one kind of domain at one load point; ``because`` are the contract's pointers."""

    kind: InjectionKind
    domain_kind: str | None
    load_point: str
    because: tuple[str, ...]
    required: bool


@dataclass(frozen=True, slots=True)
class How:
    """Steps and commands of a fault, and what no command does."""

    steps: tuple[str, ...]
    commands: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()


_BY_HAND = ("No command is known that does this for every engine.",)
_ALIVE = "Keep the load running through the fault, and note the time when it is put in and when it is taken out."

HOW: Mapping[InjectionKind, How] = {
    "slow_rank": How(
        ("Lower the clock of one device of a group, and put it back at the end.",),
        (
            'nvidia-smi --id="${TOPOGATE_DEVICE}" --lock-gpu-clocks="${TOPOGATE_CLOCK_MHZ},${TOPOGATE_CLOCK_MHZ}"',
            'nvidia-smi --id="${TOPOGATE_DEVICE}" --reset-gpu-clocks',
        ),
        ("By how much a clock slows a rank has to be measured on the device.",),
    ),
    "slow_link": How(
        ("Narrow one link that groups cross, and widen it again at the end.",),
        (
            'tc qdisc add dev "${TOPOGATE_INTERFACE}" root tbf rate "${TOPOGATE_RATE}" burst 1mb latency 50ms',
            'tc qdisc del dev "${TOPOGATE_INTERFACE}" root',
        ),
        ("RDMA and peer links pass the kernel's traffic control by; for them no command is known.",),
    ),
    "rank_loss": How(("Kill the process of one rank, not the server's.",), ('kill -KILL "${TOPOGATE_WORKER_PID}"',)),
    "node_loss": How(
        ("Cut the power of one node that holds ranks, without shutting it down.",),
        (),
        ("Power is cut by the node's own controller, whose credentials stay with you.",),
    ),
    "drain": How(
        ("Take the replica out of the router, wait until nothing is in flight, then stop the engine.",),
        ('kill -TERM "${TOPOGATE_ENGINE_PID}"',),
        ("How a replica leaves the router is the router's own.",),
    ),
    "cancellation": How(
        ("Cancel a share of the requests while they run.",),
        (),
        ("AIPerf does it with --request-cancellation-rate and --request-cancellation-delay; the others cannot.",),
    ),
    "overload": How(
        ("Offer 1.2 times the load that the floor is measured at.",),
    ),
    "communicator_teardown": How(("Abort one communicator while requests run.",), (), _BY_HAND),
    "model_reload": How(("Load the weights of one replica again while the others serve.",), (), _BY_HAND),
    "kv_invalidation": How(("Drop the KV cache of one replica while requests run.",), (), _BY_HAND),
    "traffic_shift": How(("Send the traffic of one replica to the others at once.",), (), _BY_HAND),
}
DOMAIN_FAULTS: Mapping[str, InjectionKind] = {"device": "rank_loss"}
"""What takes a domain away; every domain wider than a device is lost with its nodes."""


def asked_faults(view: ContractView) -> tuple[Asked, ...]:
    """Return the faults to put in, those that limits read first, each once."""
    found: dict[tuple[InjectionKind, str | None, str], Asked] = {}
    for fault in (*_by_limits(view), *_by_sections(view)):
        key = (fault.kind, fault.domain_kind, fault.load_point)
        if not fault.required and any(known[0] == fault.kind for known in found):
            continue
        known = found.get(key)
        because = fault.because if known is None else tuple(dict.fromkeys((*known.because, *fault.because)))
        required = fault.required or (known is not None and known.required)
        found[key] = Asked(
            kind=fault.kind,
            domain_kind=fault.domain_kind,
            load_point=fault.load_point,
            because=because,
            required=required,
        )
    return tuple(found.values())


def steps_of(view: ContractView, fault: Asked) -> InjectionSteps:
    """Return how a fault is put in, and the criterion of recovery."""
    how = HOW[fault.kind]
    return InjectionSteps(
        kind=fault.kind,
        domain_kind=fault.domain_kind,
        steps=(*how.steps, _ALIVE),
        commands=how.commands,
        criterion=_criterion(view, fault),
        unsaid=how.unsaid,
    )


def _by_limits(view: ContractView) -> Iterator[Asked]:
    limits = view.limits.get("recovery", {})
    spoken = {limit.injection for limit in limits.values()}
    for name, limit in limits.items():
        if isinstance(limit.not_tested_because, UnsetType):
            point = stated(limit.load_point) or _main_point(view)
            yield _asked(limit.injection, stated(limit.domain_kind), point, f"gates.recovery.{name}")
    for kind in OWED if limits else ():
        if kind not in spoken:
            yield _asked(kind, None, _main_point(view), "gates.recovery: owed by groups of more than one rank")
    for name, limit in view.limits.get("failure_domain", {}).items():
        if limit.horizon == "after_recovery":
            kind = DOMAIN_FAULTS.get(limit.domain, "node_loss")
            yield _asked(kind, limit.domain, limit.load_point, f"gates.failure_domain.{name}")


def _asked(kind: InjectionKind, domain: str | None, point: str, because: str, *, required: bool = True) -> Asked:
    return Asked(kind=kind, domain_kind=domain, load_point=point, because=(because,), required=required)


def _by_sections(view: ContractView) -> Iterator[Asked]:
    """Yield what the contract speaks of without a limit: worth knowing, and no gate reads it."""
    contract, point = view.contract, _main_point(view)
    if not isinstance(contract.recovery, UnsetType):
        yield _asked("rank_loss", None, point, "recovery.on_rank_loss", required=False)
        if contract.recovery.drain == "drain":
            yield _asked("drain", None, point, "recovery.drain", required=False)
    isolation = None if isinstance(contract.needs, UnsetType) else stated(contract.needs.isolation)
    if isolation is not None and isolation.nodes_lost_to_survive > 0:
        yield _asked("node_loss", "node", point, "needs.isolation", required=False)
    if not isinstance(contract.stress, UnsetType):
        if not isinstance(contract.stress.slow_rank_added_share, UnsetType):
            yield _asked("slow_rank", None, point, "stress.slow_rank_added_share", required=False)
        if not isinstance(contract.stress.slow_link_time_factor, UnsetType):
            yield _asked("slow_link", None, point, "stress.slow_link_time_factor", required=False)


def _main_point(view: ContractView) -> str:
    points = view.workload.load_points
    return SATURATED if SATURATED in points else min(points)


def _criterion(view: ContractView, fault: Asked) -> str:
    """Say when the deployment counts as recovered, in the contract's own figures."""
    parts = [
        f"{name.removeprefix('max_')} ≤ {getattr(limit, name)} ({limit_id})"
        for limit_id, limit in view.limits.get("recovery", {}).items()
        if limit.injection == fault.kind
        for name in FIELDS
        if not isinstance(getattr(limit, name), UnsetType)
    ]
    recovery = view.contract.recovery
    if not isinstance(recovery, UnsetType):
        rule = f"on rank loss {recovery.on_rank_loss} after at most {recovery.timeout_s} s"
        parts.append(f"{rule}, in flight {recovery.in_flight_requests}")
    return "; ".join(parts) or "The contract declares none: record what happens and when the floor is reached again."
