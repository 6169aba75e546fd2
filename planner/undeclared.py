"""What the contract leaves out, and what that means: said first, because a gate that is not declared holds nothing.

Rules kept (settled questions 8, 31, 40): a family without a declared or always-on gate; a need, a reserve or a
recovery rule whose gate is not declared; an optional section that is left out, with the default used. Nothing here
changes a verdict.
"""

from collections.abc import Iterable, Iterator

from planner.gates.base import Gate
from planner.needs import HELD_BY
from planner.records.base import is_set
from planner.records.contract import Contract
from planner.records.plan import Undeclared

__all__ = ["undeclared"]

SECTIONS = {
    "fleet": "no prices, spares or failure domains; a trial is charged for its ranks only",
    "needs": "no demand is computed and nothing says what forces distribution",
    "evidence_required": "each declared gate asks for the fields it reads, for every rank and counted window",
    "recovery": "nothing says what happens when a rank is lost",
    "headroom": "nothing is reserved",
    "comparison": "trials of any size compare; tolerance 2 %, ten samples beyond a percentile",
    "steady_state": "one counted window is enough",
    "stress": "default fault sizes",
    "validity": "evidence has no maximum age and the decision no expiry",
}
"""Optional sections and the default that holds without them."""

RESERVES = {
    "memory": ("memory_headroom",),
    "bandwidth": ("link_utilization", "kv_handoff"),
    "replica_capacity": ("failure_domain",),
}
"""Gates that subtract a reserve."""


def undeclared(contract: Contract, gates: Iterable[Gate]) -> tuple[Undeclared, ...]:
    """List what the contract leaves out: families first, then needs, reserves and sections."""
    known = tuple(gates)
    return (
        *_families(contract, known),
        *_needs(contract),
        *_reserves(contract),
        *_recovery(contract),
        *_sections(contract),
    )


def _families(contract: Contract, gates: tuple[Gate, ...]) -> Iterator[Undeclared]:
    held: dict[str, bool] = {}
    for gate in gates:
        held[gate.family] = held.get(gate.family, False) or gate.limit is None or gate.id in contract.gates
    for family, is_held in held.items():
        if not is_held:
            members = ", ".join(gate.id for gate in gates if gate.family == family)
            sentence = f"No limit in the family {family} ({members}): nothing in it can reject a trial."
            yield Undeclared(kind="family", name=family, sentence=sentence)


def _needs(contract: Contract) -> Iterator[Undeclared]:
    for name, gates in HELD_BY.items():
        if is_set(contract.needs) and is_set(getattr(contract.needs, name)) and not _declared(contract, gates):
            sentence = f"The need {name} has no gate: {_any_of(gates)}."
            yield Undeclared(kind="need", name=name, sentence=sentence)


def _reserves(contract: Contract) -> Iterator[Undeclared]:
    for name, gates in RESERVES.items():
        if is_set(contract.headroom) and is_set(getattr(contract.headroom, name)) and not _declared(contract, gates):
            sentence = f"The reserve {name} is held by no gate: {_any_of(gates)}."
            yield Undeclared(kind="headroom", name=name, sentence=sentence)


def _recovery(contract: Contract) -> Iterator[Undeclared]:
    if is_set(contract.recovery) and "recovery" not in contract.gates:
        sentence = "The recovery rules have no gate: no injection is owed and nothing tests them."
        yield Undeclared(kind="section", name="recovery", sentence=sentence)


def _sections(contract: Contract) -> Iterator[Undeclared]:
    for name, default in SECTIONS.items():
        if not is_set(getattr(contract, name)):
            yield Undeclared(kind="section", name=name, sentence=f"Section {name} is left out: {default}.")


def _declared(contract: Contract, gates: Iterable[str]) -> bool:
    return any(gate in contract.gates for gate in gates)


def _any_of(gates: tuple[str, ...]) -> str:
    return f"declare {' or '.join(gates)} to hold it" if gates else "none exists"
