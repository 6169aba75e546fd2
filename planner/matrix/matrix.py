"""The benchmark matrix of a contract: candidates, what to run on them, what it costs, and what evidence covers.

Rules kept (spec 2.6): deterministic; hypotheses order and exclude what to measure and decide nothing; bounded for any
contract that intake accepts. Not handled: several pools (prefill and decode) and several engine instances; their
topologies are a person's to list.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import msgspec

from planner.canonical import canonical_bytes
from planner.contract_view import ContractView
from planner.documents import ContractDocument, EvidenceDocument
from planner.figures import number
from planner.gates.failure_recovery import GROUP_FAULTS
from planner.intake import recheck_contract, recheck_evidence
from planner.matrix.axes import AXES
from planner.matrix.clients import client_of
from planner.matrix.collection import answers_of
from planner.matrix.coverage import covered
from planner.matrix.engines import engine_of
from planner.matrix.launch import launched
from planner.matrix.places import ground_of
from planner.matrix.runs import left_out, reads_of, runs_of
from planner.matrix.search import grouped_exclusions, search
from planner.matrix.shared import shared_of
from planner.matrix.traffic import boundary_bytes, group_reach
from planner.matrix.words import VARIABLES
from planner.matrix.worth import Listed, listed
from planner.numbers import plain
from planner.order import order_expand
from planner.plan import check_binding
from planner.records.base import UnsetType
from planner.records.evidence import LayoutName, Placement
from planner.records.matrix import MATRIX_CLAIM, Candidate, Cell, Coverage, Matrix, Run, Seats
from planner.records.plan import Bound
from planner.version import PLANNER_VERSION

__all__ = ["benchmark_matrix", "matrix_bytes", "matrix_of_stored"]

SECONDS_PER_HOUR = 3600


def benchmark_matrix(contract: ContractDocument, evidence: EvidenceDocument | None = None) -> Matrix:
    """Return the matrix of a contract, with coverage where evidence is given.

    Raises:
        TamperedRecordError: a document is not as intake left it.
        DocumentRefusedError: the evidence belongs to another contract.
    """
    recheck_contract(contract)
    if evidence is not None:
        recheck_evidence(evidence)
        check_binding(contract, evidence)
    return matrix_of_stored(contract, evidence)


def matrix_of_stored(contract: ContractDocument, evidence: EvidenceDocument | None = None) -> Matrix:
    """Do the same with documents that were checked before."""
    view = ContractView(contract=contract.record, limits=contract.limits)
    engine = engine_of(contract.record.identity.stack.engine)
    ground = ground_of(view.site)
    result = search(view, engine.layout, ground)
    rows, beyond = listed(view, ground, result.found)
    candidates = {row.found.name: _candidate(view, engine.layout, row) for row in rows}
    reads = reads_of(view)
    runs = runs_of(view, engine.layout, reads)
    cells = tuple(_cells(candidates, runs))
    coverage: Coverage | None = None
    if evidence is not None:
        cells, coverage = covered(contract, evidence, engine.layout, candidates, runs, cells, reads)
    client = client_of(engine.layout)
    hours, usd = _totals(candidates, runs, cells)
    return Matrix(
        schema="topogate.matrix/v1",
        claim=MATRIX_CLAIM,
        planner_version=PLANNER_VERSION,
        slot=contract.record.slot,
        contract=Bound(content_id=contract.content_id),
        engine=engine,
        fleet=ground.planned(),
        shared=shared_of(view),
        considered=result.considered,
        candidates=candidates,
        excluded=(*grouped_exclusions(result), *beyond),
        runs=runs,
        cells=cells,
        answers=answers_of(engine.layout, client, reads),
        client=client,
        variables=_variables(candidates, runs),
        device_hours=None if hours is None else plain(hours),
        usd=None if usd is None else plain(usd),
        notes=tuple(_notes(view, engine.layout, candidates, runs)),
        coverage=coverage,
    )


def matrix_bytes(matrix: Matrix) -> bytes:
    """Return the matrix's canonical bytes."""
    return canonical_bytes(msgspec.to_builtins(matrix))


def _candidate(view: ContractView, layout: LayoutName, row: Listed) -> Candidate:
    found = row.found
    placed = found.view.placed
    seats = _seats(found.view.trial.rank_map)
    usd = placed.usd_per_hour
    degrees = found.degrees
    return Candidate(
        topology=placed.name,
        degrees={axis: getattr(degrees, axis) for axis in AXES},
        engine_degrees={name: value for name, value in degrees.extra.items() if value is not None},
        ranks=found.ranks,
        serving_groups=len(found.view.serving_groups),
        worth=row.worth,
        because=row.because,
        compared=row.compared,
        seats=seats,
        residency=found.residency,
        groups=group_reach(found.view),
        boundaries=boundary_bytes(found.view, order_expand(view.contract).load_point),
        notices=found.notices,
        charged_devices=len(placed.charge.devices),
        usd_per_hour=None if usd is None else plain(usd),
        launch=launched(view.contract, layout, degrees, found.ranks, seats),
    )


def _seats(rank_map: tuple[Placement, ...]) -> tuple[Seats, ...]:
    by_node: dict[str, list[Placement]] = {}
    for at in rank_map:
        by_node.setdefault(at.node, []).append(at)
    return tuple(
        Seats(
            node=node,
            ranks=tuple(at.rank for at in places),
            devices=tuple(at.device for at in places),
            nics=tuple(at.nic for at in places if not isinstance(at.nic, UnsetType)),
        )
        for node, places in by_node.items()
    )


def _cells(candidates: Mapping[str, Candidate], runs: Mapping[str, Run]) -> Iterator[Cell]:
    """Yield every run on every candidate that has it, candidate by candidate."""
    for name, candidate in candidates.items():
        in_groups = candidate.ranks > candidate.serving_groups
        for run_id, run in runs.items():
            if run.injection is not None and run.injection.kind in GROUP_FAULTS and not in_groups:
                continue
            hours, usd = _cost(candidate, run)
            yield Cell(
                candidate=name,
                run=run_id,
                device_hours=None if hours is None else plain(hours),
                usd=None if usd is None else plain(usd),
            )


def _cost(candidate: Candidate, run: Run) -> tuple[Fraction | None, Fraction | None]:
    """Return device-hours and US dollars of the counted windows; starting the engine and warming up come on top."""
    seconds, price = number(run.seconds), number(candidate.usd_per_hour)
    if seconds is None:
        return None, None
    hours = seconds / SECONDS_PER_HOUR
    return hours * candidate.charged_devices, None if price is None else hours * price


def _totals(
    candidates: Mapping[str, Candidate], runs: Mapping[str, Run], cells: tuple[Cell, ...]
) -> tuple[Fraction | None, Fraction | None]:
    """Add up what the required runs of advised candidates cost; None where that is known of none."""
    advised = [cell for cell in cells if runs[cell.run].required and candidates[cell.candidate].worth != "optional"]
    hours = [found for cell in advised for found in (number(cell.device_hours),) if found is not None]
    usd = [found for cell in advised for found in (number(cell.usd),) if found is not None]
    return sum(hours, Fraction(0)) if hours else None, sum(usd, Fraction(0)) if usd else None


def _variables(candidates: Mapping[str, Candidate], runs: Mapping[str, Run]) -> dict[str, str]:
    """Return the variables that some command has, with their meaning."""
    commands = [command for candidate in candidates.values() for command in candidate.launch.commands]
    commands += [command for run in runs.values() for command in run.clients.values()]
    text = "\n".join(command.shell for command in commands)
    return {name: meaning for name, meaning in VARIABLES.items() if f"${{{name}}}" in text}


def _notes(
    view: ContractView, layout: LayoutName, candidates: Mapping[str, Candidate], runs: Mapping[str, Run]
) -> Iterator[str]:
    yield "Figures of memory and traffic are hypotheses: they order what to measure, and decide nothing."
    if not candidates:
        yield "No decomposition may fit on these devices; what is excluded says why."
    if candidates and any(number(run.seconds) is None for run in runs.values() if run.kind != "quality"):
        yield (
            "Where the contract gives no rate at a load point, how long its windows take, and what they cost, is not "
            "reckoned; the totals are without them."
        )
    yield "Costs are of counted windows; starting the engine and warming up come on top."
    if layout == "vllm":
        yield "Trials with prefill and decode pools, or with several engine instances, are yours to add."
    yield from left_out(view, runs)
