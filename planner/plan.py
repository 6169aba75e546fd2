"""The planner: one contract and its evidence in, one plan out.

Rules kept (spec 1.4): the same contract content, evidence content, as-of time and planner version give the same bytes
on any machine; inputs are re-checked at the door and never changed; every trial is judged against the contract
alone; only eligible trials are ordered. It never predicts and never fills a gap.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from planner.alike import check_together
from planner.board import Board
from planner.canonical import all_plain, canonical_bytes, file_sha256
from planner.collection import paused_collection
from planner.demand import demand, units_needed
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError
from planner.evaluate import judge_each
from planner.flips import flips
from planner.frontier import frontier, frontier_point
from planner.gates import GATES
from planner.intake import (
    Receipt,
    binding_problems,
    forget_arrays,
    load_point_problems,
    read_contract,
    read_stored_evidence,
    recheck_contract,
    recheck_evidence,
)
from planner.justification import justify
from planner.keys import key_spread
from planner.order import Order, order_expand
from planner.records.base import UnsetType, is_set
from planner.records.doubles import doubles_in
from planner.records.evidence import Trial
from planner.records.plan import CLAIM, Bound, Candidate, FrontierPoint, Plan, RankPlace, Selected
from planner.selection import Selection, select
from planner.undeclared import undeclared
from planner.version import PLANNER_VERSION
from planner.view import TrialView, views

__all__ = ["check_binding", "plan_bytes", "plan_parallelism", "plan_stored", "plan_with_bytes"]

_ENCODER = msgspec.json.Encoder(order="deterministic")
"""Sorts the keys of mappings; the fields of a plan's records are sorted as they stand."""
_doubles = doubles_in(Plan)
AT_ONCE = 128
"""Trials that are judged together: more save no more time, and the arrays of all of them are held."""
_BEHIND_PLAN_ID = b',"planner_version":"'
"""The key that follows ``plan_id``; text holds no bare quote, and no record behind it has such a key."""


def plan_parallelism(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Decide which measured topology to use, if any, and say why.

    See ``plan_with_bytes``.
    """
    return plan_with_bytes(contract, evidence, as_of, progress=progress)[0]


@paused_collection()
def plan_with_bytes(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Plan, bytes]:
    """Decide, and return the plan with its canonical bytes, which its id takes to be written anyway.

    ``as_of`` (``YYYY-MM-DDThh:mm:ssZ``) is the time at which the age of evidence is judged. ``progress`` is called
    after each trial with trials judged and trials in all; it changes nothing about the plan.

    Raises:
        TamperedRecordError: a document is not as intake left it.
        DocumentRefusedError: the evidence belongs to another contract.
        ValueError: ``as_of`` is no such time.
    """
    recheck_contract(contract)
    recheck_evidence(evidence)
    return _planned(contract, evidence, as_of, progress)


@paused_collection()
def plan_stored(
    contract: bytes,
    evidence: bytes,
    receipt: Receipt,
    as_of: str,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Plan, bytes]:
    """Do the same from stored bytes, the evidence with the receipt that it was accepted with.

    The records are made here and seen by nobody else, so there is nothing to check at the door.

    Raises:
        TamperedRecordError: the evidence is not what the receipt was given for.
        DocumentRefusedError: the contract is refused, or the evidence belongs to another one, or today's rules
            refuse it.
        ValueError: ``as_of`` is no such time.
    """
    stored = read_stored_evidence(evidence, receipt, late_arrays=True)
    return _planned(read_contract(contract), stored, as_of, progress)


def _planned(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    progress: Callable[[int, int], None] | None,
) -> tuple[Plan, bytes]:
    check_binding(contract, evidence)
    order = order_expand(contract.record)
    trials = views(contract, evidence, as_of)
    check_together(trials)
    judged = _judge_all(trials, order, progress)
    selection = select(
        judged.candidates,
        order,
        spread_of=lambda trial: key_spread(trials[trial], order.keys[0]),
        units_of=judged.units.get,
    )
    plan = _plan(contract, evidence, as_of, order, trials, judged, selection)
    without_id = plan_bytes(plan)
    plan_id = file_sha256(without_id)
    at = without_id.rindex(_BEHIND_PLAN_ID)
    whole = b"".join((without_id[:at], b',"plan_id":"', plan_id.encode(), b'"', without_id[at:]))
    return msgspec.structs.replace(plan, plan_id=plan_id), whole


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is kept of each trial once it is judged; ``units`` where the contract allows copies."""

    candidates: dict[str, Candidate] = field(default_factory=dict)
    points: list[FrontierPoint] = field(default_factory=list)
    units: dict[str, int | None] = field(default_factory=dict)


def _judge_all(trials: Mapping[str, TrialView], order: Order, progress: Callable[[int, int], None] | None) -> _Judged:
    """Judge the trials, some together; what their views computed goes with them, so that memory stays bounded."""
    judged, every = _Judged(), list(trials.values())
    for start in range(0, len(every), AT_ONCE):
        together = every[start : start + AT_ONCE]
        judged.candidates.update(zip([view.id for view in together], judge_each(together, order.keys), strict=True))
        for view in together:
            judged.points.append(frontier_point(view, judged.candidates[view.id], order))
            if order.copies:
                judged.units[view.id] = units_needed(view, order)
            view.forget()
            forget_arrays(view.trial)
            if progress is not None:
                progress(len(judged.points), len(every))
    return judged


def plan_bytes(plan: Plan) -> bytes:
    """Return the plan's canonical bytes: what is stored, served and compared.

    A plan's keys are ASCII, so the encoder's own form is canonical unless a number in it has an exponent or ends in
    ``.0``; then the general way is taken.
    """
    return _ENCODER.encode(plan) if all_plain(_doubles(plan)) else canonical_bytes(msgspec.to_builtins(plan))


def check_binding(contract: ContractDocument, evidence: EvidenceDocument) -> None:
    """Refuse evidence of another contract; intake says the same when it reads both together.

    Raises:
        DocumentRefusedError: it is not about this contract and slot, or names a load point that the contract has not.
    """
    record = evidence.record
    problems = [*binding_problems(contract, bound=record.contract_content_id, scope=record.scope)]
    if not problems:
        windows = (
            (f"/trials/{trial_id}/windows/{window_id}", window.load_point)
            for trial_id, trial in record.trials.items()
            for window_id, window in trial.windows.items()
        )
        problems += load_point_problems(contract, windows)
    if problems:
        raise DocumentRefusedError(tuple(problems))


def _plan(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    order: Order,
    trials: Mapping[str, TrialView],
    judged: _Judged,
    selection: Selection,
) -> Plan:
    """Put the plan together; its id is computed over what this returns."""
    candidates = judged.candidates
    record, winner = contract.record, selection.winner
    justification = justify(evidence.record, candidates, record.identity.model, order, winner)
    return Plan(
        schema="topogate.plan/v1",
        planner_version=PLANNER_VERSION,
        claim=CLAIM,
        as_of=as_of,
        slot=record.slot,
        illustrative=is_set(record.illustrative),
        contract=Bound(content_id=contract.content_id),
        evidence=Bound(content_id=evidence.content_id),
        decision=selection.decision,
        undeclared=undeclared(record, GATES),
        selected=None if winner is None else _selected(winner, evidence.record.trials[winner], candidates[winner]),
        decisive=selection.decisive,
        contenders=selection.contenders,
        order=order.keys,
        order_notes=order.notes,
        eligible=selection.eligible,
        frontier=frontier(judged.points),
        justification=justification.reasons,
        baseline=justification.baseline,
        flips=flips(Board(views=trials, candidates=candidates, order=order, eligible=selection.eligible)),
        demand=None if winner is None else demand(trials[winner], order),
        gates=tuple(gate.id for gate in GATES),
        candidates=candidates,
    )


def _selected(trial_id: str, trial: Trial, candidate: Candidate) -> Selected:
    return Selected(
        trial=trial_id,
        trial_content_id=candidate.trial_content_id,
        topology=candidate.topology,
        rank_map_digest=candidate.rank_map_digest,
        rank_map=tuple(
            RankPlace(
                rank=place.rank,
                node=place.node,
                device=place.device,
                nic=None if isinstance(place.nic, UnsetType) else place.nic,
            )
            for place in trial.rank_map
        ),
    )
