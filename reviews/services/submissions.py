"""Submitting: two documents become a revision and a plan job, or nothing at all.

Both documents pass the planner's own intake, the same as on the command line. A refusal is an entry of the audit log
and leaves nothing else behind.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn

from planner.canonical import content_id, file_sha256
from planner.documents import EvidenceDocument
from planner.times import parsed_time, time_text
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_keep
from reviews.clock import database_now
from reviews.errors import (
    ConflictError,
    DocumentsRefusedError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    length_of,
    printable,
)
from reviews.facts import Authentication, Standing
from reviews.models import (
    Decision,
    DecisionState,
    DocumentKind,
    IntakeReceipt,
    JobState,
    Person,
    PlanJob,
    Policy,
    Revision,
    StoredDocument,
    Submission,
    Workspace,
)
from reviews.planning import PLANNER_VERSION, Documents, identity_digest, intake_receipt, read_documents
from reviews.policies.permissions import may_submit
from reviews.selectors.people import standing_of
from reviews.services.jobs import job_restart, job_wake_after_commit
from reviews.services.planned import require_newest, revision_take_plan
from reviews.services.states import decision_resubmit
from reviews.services.submission_entries import revision_act
from reviews.services.sweeps import decision_to_act_on

TITLE_LENGTH = 200
KEY_LENGTH = 128
AS_OF_AHEAD = timedelta(seconds=60)
"""How far an as-of time may lie ahead of the database's clock: no more than what two machines' clocks differ by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A submission that passed every check that needs no lock."""

    documents: Documents
    contract: bytes
    evidence: bytes
    title: str
    as_of: str
    key: str | None
    request_sha256: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a submission would be: every problem, or the evidence as the planner will read it."""

    problems: tuple[Finding, ...]
    evidence: EvidenceDocument | None


def submission_create(
    *,
    actor: Person,
    workspace: Workspace,
    contract: bytes,
    evidence: bytes,
    title: str,
    as_of: str | None,
    idempotency_key: str | None,
    decision: Decision | None = None,
    seen_subjects: Collection[str] | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Revision:
    """Make a revision: the first of a new decision, or the next of ``decision``.

    ``as_of`` is UTC in whole seconds (``2026-09-20T16:00:00Z``) and not in the future, now when None. With an
    idempotency key, the same submission again returns the revision it made. ``seen_subjects``: see ``require_newest``.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        DocumentsRefusedError: with every problem of both documents and of the request.
        ConflictError: the key was used for something else, or the decision moved or does not take a new revision.
    """
    standing = standing_of(actor, workspace)
    attempt = Act(
        action="submission.refused",
        actor=standing.token,
        decision=decision.number if decision else None,
        authentication=authentication,
        request_id=request_id,
        payload_type="topogate.submission/v1",
        payload={"contract_file_sha256": file_sha256(contract), "evidence_file_sha256": file_sha256(evidence)},
    )
    with refusals_recorded(workspace, attempt):
        require_submitting(standing)
        draft = submission_draft(contract, evidence, title=title, as_of=as_of, key=idempotency_key, decision=decision)
        with workspace_write(workspace.pk):
            made = _earlier(standing, draft)
            if made is not None:
                return made
            if decision is not None and seen_subjects is not None:
                require_newest(decision, seen_subjects)
            revision = _revision(workspace, standing, draft, decision)
            append(workspace, revision_act(attempt, revision))
            _take_or_wait(workspace, revision)
    return revision


def submission_refuse(
    *,
    actor: Person,
    workspace: Workspace,
    problems: tuple[Finding, ...],
    title: str | None = None,
    as_of: str | None = None,
    decision: Decision | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> NoReturn:
    """Refuse what did not get as far as two documents, and record it as every refusal is.

    ``title`` and ``as_of`` are judged too; a title that is None was not read.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        InvalidRequestError: with the problems and those of title and as-of time.
    """
    standing = standing_of(actor, workspace)
    attempt = Act(
        action="submission.refused",
        actor=standing.token,
        decision=decision.number if decision else None,
        authentication=authentication,
        request_id=request_id,
    )
    with refusals_recorded(workspace, attempt):
        require_submitting(standing)
        if title is not None:
            judged = _request_findings(title=decision.title if decision else title.strip(), as_of=as_of, key=None)
            problems = (*judged, *problems)
        raise InvalidRequestError(problems)


def submission_check(
    *,
    actor: Person,
    workspace: Workspace,
    contract: bytes,
    evidence: bytes,
    as_of: str | None = None,
    decision: Decision | None = None,
) -> Checked:
    """Say what ``submission_create`` would refuse about documents and time; nothing is stored or recorded.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
    """
    require_submitting(standing_of(actor, workspace))
    try:
        draft = submission_draft(contract, evidence, title="check", as_of=as_of, key=None, decision=decision)
    except InvalidRequestError as refused:
        return Checked(refused.problems, None)
    return Checked((), draft.documents.evidence)


def require_submitting(standing: Standing) -> None:
    """Raise NotAllowedError unless the person may submit."""
    verdict = may_submit(standing)
    if not verdict.allowed:
        raise NotAllowedError(verdict.reason)


def submission_draft(
    contract: bytes, evidence: bytes, *, title: str, as_of: str | None, key: str | None, decision: Decision | None
) -> Draft:
    """Check everything that can be checked without the lock.

    Raises:
        DocumentsRefusedError: with every problem of documents and request together.
    """
    # A further revision keeps the decision's title.
    title = decision.title if decision else title.strip()
    findings = _request_findings(title=title, as_of=as_of, key=key)
    try:
        documents = read_documents(contract, evidence)
    except DocumentsRefusedError as refused:
        raise DocumentsRefusedError((*findings, *refused.problems)) from refused
    slot = documents.contract.record.slot
    if decision is not None and slot != decision.slot:
        found = f"{slot}, another slot's contract"
        findings.append(Finding("contract", "document/scope", "/slot", f"{decision.slot}, the decision's slot", found))
    if findings:
        raise DocumentsRefusedError(tuple(findings))
    request = {
        "contract": file_sha256(contract),
        "evidence": file_sha256(evidence),
        "title": title,
        "as_of": as_of,
        "decision": decision.number if decision else None,
    }
    return Draft(
        documents=documents,
        contract=contract,
        evidence=evidence,
        title=title,
        as_of=as_of or time_text(database_now()),
        key=key,
        request_sha256=content_id(request),
    )


def _request_findings(*, title: str, as_of: str | None, key: str | None) -> list[Finding]:
    findings = []
    if not title or len(title) > TITLE_LENGTH or not title.isprintable():
        expected = f"1 to {TITLE_LENGTH} printable characters"
        findings.append(Finding("request", "request/title", "title", expected, length_of(title)))
    if as_of is not None:
        findings += _as_of_findings(as_of)
    return [*findings, *key_findings(key)]


def key_findings(key: str | None) -> tuple[Finding, ...]:
    """Return what is wrong with an idempotency key; it may be left out."""
    if key is None or (0 < len(key) <= KEY_LENGTH and key.isascii() and key.isprintable()):
        return ()
    expected = f"1 to {KEY_LENGTH} printable ASCII characters"
    return (Finding("request", "request/idempotency_key", "idempotency_key", expected, "another text"),)


def require_key(key: str | None) -> None:
    """Raise InvalidRequestError unless an idempotency key is one, or is left out."""
    findings = key_findings(key)
    if findings:
        raise InvalidRequestError(findings)


def _as_of_findings(as_of: str) -> list[Finding]:
    moment, now = parsed_time(as_of), database_now()
    if moment is None:
        expected = "UTC in whole seconds, as in 2026-09-20T16:00:00Z"
        return [Finding("request", "request/as_of", "as_of", expected, printable(as_of) or "nothing")]
    if moment > now + AS_OF_AHEAD:
        return [Finding("request", "request/as_of", "as_of", f"a time not after now, {time_text(now)}", as_of)]
    return []


def _earlier(standing: Standing, draft: Draft) -> Revision | None:
    """Return what an earlier submission with the same key made."""
    if draft.key is None:
        return None
    earlier = (
        Submission.objects.filter(workspace_id=standing.workspace_id, person_id=standing.person_id, key=draft.key)
        .select_related("revision__decision", "revision__job")
        .first()
    )
    if earlier is None:
        return None
    if earlier.request_sha256 != draft.request_sha256:
        raise ConflictError("This idempotency key belongs to another submission. Send a new key with new content.")
    return earlier.revision


def _revision(workspace: Workspace, standing: Standing, draft: Draft, decision: Decision | None) -> Revision:
    now = database_now()
    policy = Policy.objects.filter(workspace=workspace).order_by("-version").first()
    if policy is None:
        raise ConflictError(f"{workspace.slug} has no policy yet. An admin sets one.")
    contract = _document(workspace, standing, draft, DocumentKind.CONTRACT)
    evidence = _document(workspace, standing, draft, DocumentKind.EVIDENCE)
    receipt = blob_keep(intake_receipt(draft.documents.evidence))
    IntakeReceipt.objects.get_or_create(document=evidence, blob_id=receipt.sha256)
    if decision is None:
        decision = _new_decision(workspace, standing, draft, now)
    else:
        decision = decision_to_act_on(workspace, decision.number)
        decision_resubmit(decision, now)
    record = draft.documents.contract.record
    decision.model_name, decision.engine_name = record.identity.model.name, record.identity.stack.engine.name
    decision.owner = record.owner
    decision.save(update_fields=["model_name", "engine_name", "owner"])
    newest = Revision.objects.filter(decision=decision).order_by("-number").values_list("number", flat=True).first()
    revision = Revision.objects.create(
        decision=decision,
        number=(newest or 0) + 1,
        contract=contract,
        evidence=evidence,
        identity=identity_digest(draft.documents.contract),
        policy=policy,
        planner_version=PLANNER_VERSION,
        as_of=draft.as_of,
        job=_job(workspace, contract, evidence, draft, now),
        author_id=standing.person_id,
        made_at=now,
    )
    if draft.key is not None:
        Submission.objects.create(
            workspace=workspace,
            person_id=standing.person_id,
            key=draft.key,
            request_sha256=draft.request_sha256,
            revision=revision,
        )
    return revision


def _new_decision(workspace: Workspace, standing: Standing, draft: Draft, now: datetime) -> Decision:
    newest = Decision.objects.filter(workspace=workspace).order_by("-number").values_list("number", flat=True).first()
    return Decision.objects.create(
        workspace=workspace,
        number=(newest or 0) + 1,
        slot=draft.documents.contract.record.slot,
        title=draft.title,
        state=DecisionState.EVALUATING,
        state_since=now,
        opened_by_id=standing.person_id,
        opened_at=now,
    )


def _document(workspace: Workspace, standing: Standing, draft: Draft, kind: DocumentKind) -> StoredDocument:
    is_contract = kind == DocumentKind.CONTRACT
    read = draft.documents.contract if is_contract else draft.documents.evidence
    stored, _ = StoredDocument.objects.get_or_create(
        workspace=workspace,
        kind=kind,
        blob_id=blob_keep(draft.contract if is_contract else draft.evidence).sha256,
        defaults={
            "content_id": read.content_id,
            "slot": draft.documents.contract.record.slot,
            "stored_by_id": standing.person_id,
        },
    )
    return stored


def _job(
    workspace: Workspace, contract: StoredDocument, evidence: StoredDocument, draft: Draft, now: datetime
) -> PlanJob:
    """Return the job for this question: the one that there is, or a new one."""
    job, _ = PlanJob.objects.get_or_create(
        workspace=workspace,
        contract_content_id=contract.content_id,
        evidence_content_id=evidence.content_id,
        as_of=draft.as_of,
        planner_version=PLANNER_VERSION,
        defaults={
            "contract": contract,
            "evidence": evidence,
            "queued_at": now,
            "woken_at": now,
            "candidates_total": len(draft.documents.evidence.record.trials),
        },
    )
    return job


def _take_or_wait(workspace: Workspace, revision: Revision) -> None:
    """Take the plan that the job has made already, or wake a worker for it; a job that was given up starts anew."""
    if revision.job.state == JobState.DONE:
        revision_take_plan(workspace, revision, revision.job.plan)
        return
    job_restart(revision.job)
    job_wake_after_commit(revision.job.pk)
