"""Takes back evidence that was found faulty: decisions that counted it are listed, what is in force is contested."""

from dataclasses import replace

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now
from reviews.errors import Finding, InvalidRequestError, NotAllowedError, printable
from reviews.facts import Standing
from reviews.models import Decision, DecisionState, Person, Retraction, Revision, Workspace
from reviews.policies.permissions import may_retract
from reviews.selectors.people import standing_of
from reviews.selectors.retractions import counted_evidence
from reviews.selectors.revisions import with_digests
from reviews.services.acting import require, require_proof, require_prose
from reviews.services.people import UNTRACED, Trace
from reviews.services.states import decision_move
from reviews.services.sweeps import decisions_settle


def evidence_retract(
    *, actor: Person, workspace: Workspace, content_id: str, reason: str, trace: Trace = UNTRACED
) -> tuple[Retraction, tuple[Decision, ...]]:
    """Retract a document of evidence or one trial by its content id; return the decisions that ever counted it.

    What is in force on it is contested; where a later revision counts other evidence, nothing else changes. A second
    time returns the first retraction.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not, or has not shown recently who they are.
        InvalidRequestError: no reason, or nobody ever counted such evidence here.
        TamperedError: a plan is not what was stored.
    """
    standing = standing_of(actor, workspace)
    attempt = trace.act("retraction.refused", standing.token)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        _require_retracting(standing, trace)
        said = require_prose("reason", reason)
        counts = _counting(workspace, content_id)
        counting = tuple(counts)
        if not counting:
            expected = "the content id of evidence or a trial that a plan of this workspace counted"
            found = printable(content_id, 71) or "nothing"
            problem = Finding("request", "request/content_id", "content_id", expected, found)
            raise InvalidRequestError((problem,))
        earlier = Retraction.objects.filter(workspace=workspace, content_id=content_id).first()
        if earlier is not None:
            return earlier, counting
        now = database_now()
        documents = Revision.objects.filter(decision__in=counting, evidence__content_id=content_id)
        retraction = Retraction.objects.create(
            workspace=workspace,
            content_id=content_id,
            is_trial=not documents.exists(),
            person_id=standing.person_id,
            reason=said,
            retracted_at=now,
        )
        listed = [decision.number for decision in counting]
        append(
            workspace,
            replace(
                attempt,
                action="evidence.retracted",
                reason=said,
                payload_type="topogate.retraction/v1",
                payload={"content_id": content_id, "is_trial": retraction.is_trial, "decisions": listed},
            ),
        )
        decisions_settle(workspace, counting, now)
        for decision in (decision for decision, counts_now in counts.items() if counts_now):
            _contest(workspace, decision, retraction, attempt)
    return retraction, counting


def _require_retracting(standing: Standing, trace: Trace) -> None:
    require(may_retract(standing))
    if trace.authentication is None or trace.authentication.method == "token":
        raise NotAllowedError("An API token retracts nothing. Do it on the page.")
    require_proof(trace.authentication, standing.workspace_id)


def _counting(workspace: Workspace, content_id: str) -> dict[Decision, bool]:
    """Return the decisions of which a plan counted the evidence or trial, by number; True where the last plan does."""
    rows = with_digests(Revision.objects.filter(decision__workspace=workspace, planned__isnull=False))
    found: dict[Decision, bool] = {}
    for revision in rows.order_by("decision__number", "number"):
        counts = content_id in counted_evidence(revision)
        if counts or revision.decision in found:
            found[revision.decision] = counts
    return found


def _contest(workspace: Workspace, decision: Decision, retraction: Retraction, attempt: Act) -> None:
    if decision.state != DecisionState.EFFECTIVE:
        return
    decision_move(decision, "object", retraction.retracted_at)
    append(
        workspace,
        replace(
            attempt,
            action="decision.contested",
            decision=decision.number,
            reason=retraction.reason,
            payload_type="topogate.state/v1",
            payload={"state": "CONTESTED", "keys": [retraction.content_id]},
        ),
    )
