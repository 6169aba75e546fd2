"""What has to be measured again of a decision, and why: worked out when it is asked for, never stored.

Rules kept: held against what was put into force, else against the newest revision: the newest reports of hosts since
then, the age of the evidence as of now, and a newer contract, be it another revision's or one that is only thought of.
Every key that differs is told, also one that ``requalify_on`` lets pass. Stored bytes passed intake when they were
uploaded, so they are decoded without being judged again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from planner.contract_builder.draft import draft_from
from planner.contract_builder.rendered import judged
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError
from planner.gates import GATES
from planner.identity_check import KeyDifference
from planner.intake import read_contract
from planner.pointers import joined, steps
from planner.records.base import stated
from planner.requalification import (
    AgesOut,
    Change,
    Requalification,
    ages_out,
    contract_changes,
    identity_changes,
    requalification,
    too_old,
)
from planner.times import time_text
from reviews.asked_once import moment
from reviews.blobs import blob_read
from reviews.errors import DocumentsRefusedError, Finding, InvalidRequestError, NotFoundError
from reviews.models import Activation, DocumentKind, Person, Revision, Workspace
from reviews.policies.document import PolicyDocument, gate_owner, read_policy
from reviews.policies.validity import key_owner
from reviews.selectors.decision_page import decision_named, decision_page
from reviews.selectors.documents import RevisionBytes, evidence_by_name, revision_bytes
from reviews.selectors.drafts import draft_of_owner
from reviews.selectors.given_reports import given_changes
from reviews.selectors.in_force import activations_of
from reviews.selectors.reported_changes import reported_changes
from reviews.selectors.rows import DecisionPage, RevisionRow

__all__ = [
    "MOST_CONTRACT_BYTES",
    "Because",
    "RequalificationView",
    "Told",
    "requalification_of_draft",
    "requalification_view",
]

MOST_CONTRACT_BYTES = 8 * 2**20
MOST_EVIDENCE_BYTES = 16 * 2**20
"""Evidence whose trials and ages one answer tells."""
FAMILIES: Mapping[str, str] = {gate.id: gate.family for gate in GATES}

Because = Literal["report", "age", "contract"]


@dataclass(frozen=True, slots=True)
class Told:
    """A change with what told it, and the team that answers for the key."""

    because: Because
    change: Change
    team: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequalificationView:
    """A decision's page with what has to be measured again.

    ``base`` is the revision that it is held against: what was put into force (``was_in_force``), else the newest one.
    ``compared`` is the newer one, None where none is; ``is_thought_of`` where a contract was given instead.
    ``reported_at`` is of the newest report since, ``given`` counts reports that were given instead. ``requalify_on`` is
    None where every key counts, ``max_age_s`` where evidence has no largest age. ``too_large`` says why trials and ages
    are not told.
    """

    page: DecisionPage
    was_in_force: bool
    base: RevisionRow
    compared: RevisionRow | None
    is_thought_of: bool
    reported_at: datetime | None
    given: int
    requalify_on: tuple[str, ...] | None
    max_age_s: float | int | None
    next_age: AgesOut | None
    told: tuple[Told, ...]
    answer: Requalification
    too_large: str


def requalification_view(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    revision: int | None = None,
    contract: bytes | None = None,
    reports: Sequence[bytes] = (),
) -> RequalificationView:
    """Return what has to be measured again.

    ``revision`` is held against the decided one, the newest where it is None; ``contract`` comes in its place, and
    ``reports`` of hosts in the place of those that were posted.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
        InvalidRequestError: a contract is too large for a web process, or a report is none.
        DocumentsRefusedError: ``contract`` is none, with what is wrong with reports.
        TamperedError: stored bytes are not the ones that were stored.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    decision = decision_named(workspace, number)
    # Also while a new revision of it is under review: what is decided is what was put into force last.
    activation = activations_of([decision.pk]).get(decision.pk)
    base = page.newest if activation is None else _revision(page, activation.revision.number)
    compared = None if contract is not None else _compared(page, base, revision)
    stored = revision_bytes(actor=actor, workspace=workspace, revision_id=base.id)
    decided = _bounded(stored.contract)
    newer, of_files = _given(contract, reports, decided, activation)
    if compared is not None:
        newer = _bounded(revision_bytes(actor=actor, workspace=workspace, revision_id=compared.id).contract)
    evidence, too_large = _evidence(base, stored)
    now = moment()
    reported_at, reported = (None, of_files) if reports else _reported(workspace, page, activation, decided)
    found: dict[Because, tuple[Change, ...]] = {
        "report": reported,
        "age": () if evidence is None else too_old(newer or decided, evidence, time_text(now)),
        "contract": () if newer is None else contract_changes(decided, newer),
    }
    held = newer or decided
    validity = stated(held.record.validity)
    requalify_on = None if validity is None else stated(validity.requalify_on)
    document = _policy(base)
    return RequalificationView(
        page=page,
        was_in_force=activation is not None,
        base=base,
        compared=compared,
        is_thought_of=contract is not None,
        reported_at=reported_at,
        given=len(reports),
        requalify_on=None if requalify_on is None else tuple(requalify_on),
        max_age_s=None if validity is None else stated(validity.max_evidence_age_s),
        next_age=None if evidence is None else ages_out(held, evidence, time_text(now)),
        told=tuple(
            Told(because, change, _team(document, change)) for because, changes in found.items() for change in changes
        ),
        answer=requalification(held, [change for changes in found.values() for change in changes], evidence),
        too_large=too_large,
    )


def requalification_of_draft(*, actor: Person, workspace: Workspace, number: int, draft_id: int) -> RequalificationView:
    """Return the same for a contract that the actor is writing, in place of a revision's.

    Raises:
        NotFoundError: no such decision, or the actor has no such draft of a contract here.
        InvalidRequestError: the contract is too large for a web process.
        DocumentsRefusedError: it is not finished.
        TamperedError: stored bytes are not the ones that were stored.
    """
    stored = draft_of_owner(actor=actor, workspace=workspace, draft_id=draft_id, kind=DocumentKind.CONTRACT)
    raw = judged(draft_from(bytes(stored.body)).tree).raw
    return requalification_view(actor=actor, workspace=workspace, number=number, contract=raw)


def _compared(page: DecisionPage, base: RevisionRow, revision: int | None) -> RevisionRow | None:
    """Return the revision whose contract is held against the decided one; None where that is the decided one."""
    row = page.newest if revision is None else _revision(page, revision)
    return None if row.number == base.number or row.contract == base.contract else row


def _revision(page: DecisionPage, number: int) -> RevisionRow:
    row = next((row for row in page.revisions if row.number == number), None)
    if row is None:
        raise NotFoundError(f"{page.label} has no revision {number}. The newest is {page.revisions[-1].number}.")
    return row


def _bounded(raw: bytes) -> ContractDocument:
    if len(raw) > MOST_CONTRACT_BYTES:
        most = f"at most {MOST_CONTRACT_BYTES:,} bytes; `topogate requalify` tells it of a larger one"
        raise InvalidRequestError((Finding("contract", "request/file_size", "", most, f"{len(raw):,} bytes"),))
    return read_contract(raw)


def _thought_of(raw: bytes | None) -> ContractDocument | None:
    try:
        return None if raw is None else _bounded(raw)
    except DocumentRefusedError as refused:
        raise DocumentsRefusedError(tuple(Finding.of(problem, "contract") for problem in refused.problems)) from refused


def _given(
    contract: bytes | None, reports: Sequence[bytes], decided: ContractDocument, activation: Activation | None
) -> tuple[ContractDocument | None, tuple[Change, ...]]:
    """Return a contract that was given, and what reports that were given show otherwise; all that is wrong at once."""
    problems: list[Finding] = []
    newer: ContractDocument | None = None
    found: tuple[KeyDifference, ...] = ()
    try:
        newer = _thought_of(contract)
    except InvalidRequestError as refused:
        problems += refused.problems
    try:
        found = given_changes(reports, decided, activation)
    except InvalidRequestError as refused:
        problems += refused.problems
    if problems:
        raise DocumentsRefusedError(tuple(problems))
    return newer, identity_changes(found, decided)


def _evidence(base: RevisionRow, stored: RevisionBytes) -> tuple[EvidenceDocument | None, str]:
    size = len(stored.evidence)
    if size > MOST_EVIDENCE_BYTES:
        return None, f"{size:,} bytes of evidence; at most {MOST_EVIDENCE_BYTES:,} are told here."
    return evidence_by_name(base, stored), ""


def _reported(
    workspace: Workspace, page: DecisionPage, activation: Activation | None, decided: ContractDocument
) -> tuple[datetime | None, tuple[Change, ...]]:
    """Return when hosts reported last since the activation, and what they show otherwise; nothing without one."""
    if activation is None:
        return None, ()
    bound = msgspec.to_builtins(decided.record.identity)
    at, differing = reported_changes(workspace, page.slot, activation, bound)
    return at, identity_changes(differing, decided)


def _policy(base: RevisionRow) -> PolicyDocument:
    revision = Revision.objects.select_related("policy").get(pk=base.id)
    return read_policy(blob_read(revision.policy.blob_id, "policy"))


def _team(document: PolicyDocument, change: Change) -> str:
    """Return the team that answers for a key: the owner of the identity, of the gate, else the fallback owner."""
    path = steps(change.key)
    if path[:1] == ("identity",):
        return key_owner(document, joined(path[1:]))
    family = FAMILIES.get(path[1]) if path[:1] == ("gates",) and len(path) > 1 else None
    return document.fallback_owner if family is None else gate_owner(document, family)
