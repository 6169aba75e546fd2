"""The stress matrix: every fault in a copy of every trial, judged by the gates that judge the trial itself.

Rules kept (spec 2.4): a fault goes into one trial and changes no other; documents stay as they are; a copy is judged
and thrown away, never planned with, so no plan can hold it. The same documents and as-of time give the same bytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from planner.canonical import canonical_bytes
from planner.documents import ContractDocument, EvidenceDocument
from planner.evaluate import judge
from planner.gates import GATES
from planner.intake import recheck_contract, recheck_evidence
from planner.order import order_expand
from planner.plan import check_binding
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.plan import Bound, Candidate, OrderKey
from planner.records.stress import STRESS_CLAIM, FaultSizes, Hole, StressCell, StressedTrial, StressMatrix, StressRow
from planner.stress.base import Case, Fault, Injection, NotInjectable
from planner.stress.cells import cell_after, cell_without, families
from planner.stress.injections import INJECTIONS
from planner.version import PLANNER_VERSION
from planner.view import TrialView, views

__all__ = ["fault_sizes", "stress_bytes", "stress_matrix", "stress_of_stored"]

HOLES = ("not_declared", "not_injectable")
"""Kinds of hole, what the contract can mend first."""

TOO_LARGE = "A figure gets too large to be written."


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One trial with its verdict, and what else a case of it needs."""

    view: TrialView
    before: Candidate
    sizes: FaultSizes
    order: tuple[OrderKey, ...]


def stress_matrix(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> StressMatrix:
    """Put every fault into every trial and say which limit catches it.

    ``as_of`` is ``YYYY-MM-DDThh:mm:ssZ``, as for a plan.

    Raises:
        TamperedRecordError: a document is not as intake left it.
        DocumentRefusedError: the evidence belongs to another contract.
        ValueError: ``as_of`` is no such time.
    """
    recheck_contract(contract)
    recheck_evidence(evidence)
    check_binding(contract, evidence)
    return stress_of_stored(contract, evidence, as_of)


def stress_of_stored(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> StressMatrix:
    """Do the same with documents that were checked before and may hold a part of the trials.

    Raises:
        ValueError: ``as_of`` is no such time.
    """
    order = order_expand(contract.record).keys
    sizes, defaults = fault_sizes(contract.record)
    trials = {
        name: Judged(view=view, before=judge(view, order), sizes=sizes, order=order)
        for name, view in views(contract, evidence, as_of).items()
    }
    rows = tuple(_rows(trials))
    return StressMatrix(
        schema="topogate.stress/v1",
        injected=True,
        claim=STRESS_CLAIM,
        planner_version=PLANNER_VERSION,
        as_of=as_of,
        slot=contract.record.slot,
        contract=Bound(content_id=contract.content_id),
        evidence=Bound(content_id=evidence.content_id),
        sizes=sizes,
        defaults=defaults,
        trials={
            name: StressedTrial(topology=trial.before.topology, state=trial.before.state)
            for name, trial in trials.items()
        },
        rows=rows,
        holes=tuple(sorted((hole for row in rows for hole in _holes(row)), key=lambda hole: HOLES.index(hole.kind))),
    )


def stress_bytes(matrix: StressMatrix) -> bytes:
    """Return the matrix's canonical bytes."""
    return canonical_bytes(msgspec.to_builtins(matrix))


def fault_sizes(contract: Contract) -> tuple[FaultSizes, tuple[str, ...]]:
    """Return the size of every fault, and the names of those that the contract leaves to the default."""
    declared = {} if isinstance(contract.stress, UnsetType) else msgspec.structs.asdict(contract.stress)
    given = {name: value for name, value in declared.items() if not isinstance(value, UnsetType)}
    defaults = tuple(name for name in FaultSizes.__struct_fields__ if name not in given)
    return FaultSizes(**given), defaults


def _rows(trials: Mapping[str, Judged]) -> Iterator[StressRow]:
    first = next(iter(trials.values()))
    sizes = msgspec.structs.asdict(first.sizes)
    for injection in INJECTIONS:
        for target in injection.targets(first.view, first.order):
            yield StressRow(
                injection=injection.id,
                target=target,
                title=f"{injection.title}: {target}" if target else injection.title,
                fault=injection.fault.format(target=target, **sizes),
                families=families(injection),
                gates=injection.gates,
                cells={name: _cell(injection, _case(trial, target)) for name, trial in trials.items()},
            )


def _case(trial: Judged, target: str) -> Case:
    return Case(view=trial.view, before=trial.before, sizes=trial.sizes, order=trial.order, target=target)


def _cell(injection: Injection, case: Case) -> StressCell:
    fault = _injected(injection, case)
    if isinstance(fault, NotInjectable):
        return cell_without(injection, case, fault)
    copy = case.view.with_trial(fault.trial)
    broken = _newly_broken(case.view, copy)
    if broken is not None:
        # The check would answer in place of the limits, and a hole in them would not be seen.
        return cell_without(injection, case, NotInjectable(sentence=f"The figures do not take it: {broken}"))
    return cell_after(injection, case, fault, judge(copy, case.order))


def _injected(injection: Injection, case: Case) -> Fault:
    for gate in GATES:
        if gate.grounds in injection.needs and case.before.gates[gate.id].outcome == "FAIL":
            what = "Ranks are" if gate.grounds == "groups" else "Devices are"
            return NotInjectable(sentence=f"{what} undefined: {gate.id} failed.")
    try:
        return injection.rule(case)
    except OverflowError:
        return NotInjectable(sentence=TOO_LARGE)


def _newly_broken(before: TrialView, after: TrialView) -> str | None:
    """Say which identity the fault breaks that held; None where none does."""
    held = {
        (window, check.id, check.fields) for window, found in before.checks.items() for check in found if check.holds
    }
    return next(
        (
            check.sentence
            for window, found in after.checks.items()
            for check in found
            if not check.holds and (window, check.id, check.fields) in held
        ),
        None,
    )


def _holes(row: StressRow) -> Iterator[Hole]:
    missed = [name for name, cell in row.cells.items() if cell.result == "NOT_DECLARED"]
    if missed:
        yield Hole(
            kind="not_declared",
            injection=row.injection,
            target=row.target,
            trials=tuple(missed),
            sentence=f"{row.title}. {row.cells[missed[0]].sentence}",
        )
    elif all(cell.result == "NOT_INJECTABLE" for cell in row.cells.values()):
        yield Hole(
            kind="not_injectable",
            injection=row.injection,
            target=row.target,
            trials=tuple(row.cells),
            sentence=f"{row.title}. {next(iter(row.cells.values())).sentence}",
        )
