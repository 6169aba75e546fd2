"""Faults in the trials of a decision: worked out when the page is asked for, a few trials at a time.

Rules kept: stored bytes passed intake when they were uploaded, so only the trials that are shown are decoded and
judged, whatever the size of the evidence; nothing injected is stored, so nothing of it can be signed.
"""

from dataclasses import dataclass

import msgspec

from planner.documents import EvidenceDocument
from planner.intake import read_contract
from planner.records.evidence import Evidence, ObservedIdentity, Provenance, Trial
from planner.records.plan import Plan, State
from planner.records.stress import StressMatrix
from planner.stress import stress_of_stored
from reviews.models import Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import revision_bytes
from reviews.selectors.rows import DecisionPage

PAGE_SIZE = 3
"""Candidates judged for one page: about 0.1 s each, at 64 ranks."""
STATES: tuple[State, ...] = ("ELIGIBLE", "INCONCLUSIVE", "REJECTED")


class _Stored(msgspec.Struct):
    """Evidence whose trials are decoded one by one."""

    schema: str
    contract_content_id: str
    scope: str
    provenance: Provenance
    identities: dict[str, ObservedIdentity]
    trials: dict[str, msgspec.Raw]


@dataclass(frozen=True, slots=True, kw_only=True)
class StressView:
    """A decision's page with the faults of some of its trials; no matrix before there is a plan.

    ``start`` is the place of the first trial shown among all ``total``, which are in the order of the plan.
    """

    page: DecisionPage
    matrix: StressMatrix | None
    shown: tuple[str, ...] = ()
    start: int = 0
    total: int = 0


def stress_view(
    *, actor: Person, workspace: Workspace, number: int, revision: int | None = None, asked: int | None = None
) -> StressView:
    """Return the faults of one page of trials, the first page where there is none such.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision)
    plan = page.plan()
    if plan is None:
        return StressView(page=page, matrix=None)
    trials = in_order(plan)
    start = ((asked or 1) - 1) * PAGE_SIZE
    start = start if 0 <= start < len(trials) else 0
    shown = trials[start : start + PAGE_SIZE]
    raw = revision_bytes(actor=actor, workspace=workspace, revision_id=page.shown.id)
    evidence = _part(raw.evidence, page.shown.evidence, page.shown.evidence_file_sha256, plan, shown)
    matrix = stress_of_stored(read_contract(raw.contract), evidence, plan.as_of)
    return StressView(page=page, matrix=matrix, shown=shown, start=start, total=len(trials))


def in_order(plan: Plan) -> tuple[str, ...]:
    """Return the trials as the plan has them: eligible ones in order, then inconclusive, then rejected, by id."""
    place = {entry.trial: index for index, entry in enumerate(plan.eligible)}
    return tuple(
        sorted(
            plan.candidates,
            key=lambda trial: (STATES.index(plan.candidates[trial].state), place.get(trial, len(place)), trial),
        )
    )


def _part(raw: bytes, content_id: str, file_sha256: str, plan: Plan, shown: tuple[str, ...]) -> EvidenceDocument:
    stored = msgspec.json.decode(raw, type=_Stored)
    record = Evidence(
        schema="topogate.evidence/v1",
        contract_content_id=stored.contract_content_id,
        scope=stored.scope,
        provenance=stored.provenance,
        identities=stored.identities,
        trials={trial: msgspec.json.decode(stored.trials[trial], type=Trial) for trial in shown},
    )
    ids = {trial: plan.candidates[trial].trial_content_id for trial in shown}
    return EvidenceDocument(record, content_id, file_sha256, ids)
