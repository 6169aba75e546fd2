"""Plans a revision's stored bytes again, by somebody who is no author: "reproduced, same plan id" is an entry."""

from dataclasses import replace

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now
from reviews.errors import ConflictError, NotFoundError, TamperedError
from reviews.models import Person, Reproduction, Revision, Workspace
from reviews.planning import PLANNER_VERSION, StoredBytes, StoredBytesError, make_plan
from reviews.policies.permissions import may_reproduce
from reviews.selectors.decision_page import decision_named
from reviews.selectors.judgement import author_ids
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import with_digests
from reviews.services.acting import require
from reviews.services.people import UNTRACED, Trace


def revision_reproduce(
    *, actor: Person, workspace: Workspace, number: int, revision: int, trace: Trace = UNTRACED
) -> Reproduction:
    """Plan again from the stored bytes and record whether the same plan comes out.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
        NotAllowedError: the actor is an author of the decision, or an auditor.
        ConflictError: there is no plan, or it was made by another planner version than the one that runs here.
        TamperedError: stored bytes are not what was stored.
    """
    standing = standing_of(actor, workspace)
    attempt = trace.act("reproduction.refused", standing.token, decision=number, revision=revision)
    with refusals_recorded(workspace, attempt):
        decision = decision_named(workspace, number)
        rows = with_digests(Revision.objects.filter(decision=decision)).select_related(
            "contract__blob", "evidence__blob"
        )
        found = rows.filter(number=revision).first()
        if found is None:
            raise NotFoundError(f"{decision.label} has no revision {revision}.")
        require(may_reproduce(standing, author_ids=author_ids(decision)))
        if not hasattr(found, "planned"):
            raise ConflictError(f"{decision.label} r{revision} has no plan yet.")
        if found.planner_version != PLANNER_VERSION:
            raise ConflictError(
                f"{decision.label} r{revision} was planned by planner {found.planner_version}; "
                f"{PLANNER_VERSION} runs here."
            )
        plan_id = _planned_again(found)
        return _stated(workspace, found, attempt, standing.person_id, plan_id)


def _stated(workspace: Workspace, revision: Revision, attempt: Act, person_id: int, plan_id: str) -> Reproduction:
    expected = revision.planned.plan.plan_id
    with workspace_write(workspace.pk):
        made = Reproduction.objects.create(
            revision=revision,
            person_id=person_id,
            plan_id=plan_id,
            is_same=plan_id == expected,
            made_at=database_now(),
        )
        act = replace(
            attempt,
            action="revision.reproduced" if made.is_same else "revision.not_reproduced",
            subject=revision.planned.subject,
            reason="Reproduced, same plan id." if made.is_same else "Planned again, another plan id.",
            payload_type="topogate.reproduction/v1",
            payload={"plan": plan_id, "expected": expected, "planner_version": PLANNER_VERSION},
        )
        append(workspace, act)
    return made


def _planned_again(revision: Revision) -> str:
    """Plan from the uploaded bytes as if they were new: no receipt of intake, so that intake is repeated too."""
    contract, evidence = revision.contract.blob, revision.evidence.blob
    try:
        made = make_plan(
            contract=StoredBytes(bytes(contract.data), contract.sha256),
            evidence=StoredBytes(bytes(evidence.data), evidence.sha256),
            receipt=None,
            as_of=revision.as_of,
            progress=lambda done, total: None,
        )
    except StoredBytesError as error:
        raise TamperedError(error.message) from error
    return made.plan_id
