"""Goes back to an earlier decision of the slot in one act: a new decision on the very bytes of the earlier one.

What was superseded stays so, for that state is final; the new decision names it. It takes a person of a releasing team
and one of the emergency team. Documents, plan and planner version are the earlier ones; they have to hold still.
"""

from planner.canonical import canonical_bytes
from planner.decision_numbers import decision_label
from reviews.audit import append
from reviews.blobs import blob_keep, blob_read
from reviews.errors import ConflictError
from reviews.models import (
    Activation,
    ActivationKind,
    Decision,
    DecisionState,
    JobState,
    Policy,
    ProposalKind,
    Revision,
)
from reviews.planning import contract_tree
from reviews.policies.document import read_policy, releasing_teams
from reviews.policies.transitions import STANDS
from reviews.policies.validity import valid_until
from reviews.selectors.in_force import activations_of
from reviews.selectors.judgement import author_ids
from reviews.selectors.planned import PlannedNewest, planned_newest
from reviews.selectors.retractions import retracted_in
from reviews.selectors.revisions import with_digests
from reviews.services.acting import Acting
from reviews.services.activation import activation_record, supersede_older
from reviews.services.footprints import footprint_keep
from reviews.services.planned import revision_take_plan
from reviews.services.signoffs import require_untouched
from reviews.services.states import decision_move
from reviews.services.submission_entries import revision_act
from reviews.services.two_persons import Handler, Proposing, holder_of_any_seat, seat_of, wrong


def _target(proposing: Proposing) -> tuple[PlannedNewest, Activation]:
    """Return the earlier decision that is gone back to."""
    decision = proposing.acting().decision
    if decision.state not in STANDS:
        raise ConflictError(f"{decision.label} is {DecisionState(decision.state).label.lower()}, not in force.")
    number = proposing.body.get("to")
    earlier = (
        Decision.objects.filter(
            workspace=proposing.workspace, slot=decision.slot, number=number, state=DecisionState.SUPERSEDED
        ).first()
        if isinstance(number, int)
        else None
    )
    activation = activations_of([earlier.pk]).get(earlier.pk) if earlier else None
    if earlier is None or activation is None:
        raise wrong("to", f"an earlier decision of {decision.slot} that was in force", number)
    if retracted_in(earlier):
        raise ConflictError(f"{earlier.label} counted evidence that was retracted.")
    return planned_newest(earlier), activation


def _authors(proposing: Proposing, target: PlannedNewest) -> frozenset[int]:
    return target.author_ids | author_ids(proposing.acting().decision)


def _propose(proposing: Proposing) -> str:
    target, _ = _target(proposing)
    return seat_of(proposing, set(releasing_teams(target.document)), author_ids=_authors(proposing, target))


def _countersign(proposing: Proposing) -> str:
    target, _ = _target(proposing)
    return seat_of(proposing, {target.document.duties.emergency}, author_ids=_authors(proposing, target))


def _carry_out(proposing: Proposing) -> None:
    target, earlier = _target(proposing)
    require_untouched(target.revision)
    revision = _copied(proposing, target)
    append(proposing.workspace, revision_act(proposing.attempt, revision))
    revision_take_plan(proposing.workspace, revision, target.revision.planned.plan)
    decision = revision.decision
    revision = with_digests(Revision.objects.filter(pk=revision.pk)).select_related("planned__basis").get()
    contract = contract_tree(blob_read(revision.contract.blob_id, "contract"))
    until = valid_until(
        proposing.now,
        policy_max_age_s=read_policy(blob_read(revision.policy.blob_id, "policy")).max_age_s,
        expires_after_s=contract.get("validity", {}).get("decision_expires_after_s"),
        evidence_until=revision.planned.basis.evidence_until,
    )
    if until is not None and until <= proposing.now:
        raise ConflictError(f"{decision_label(proposing.body['to'])} would hold no more: its evidence is too old.")
    act = Acting(proposing.workspace, proposing.standing, decision, proposing.attempt)
    supersede_older(act, proposing.now)
    decision_move(decision, "activate", proposing.now)
    snapshot = {"rollback_to": proposing.body["to"], "rollback_from": proposing.acting().decision.number}
    activation = Activation.objects.create(
        revision=revision,
        kind=ActivationKind.ROLLBACK,
        person_id=proposing.standing.person_id,
        statement=proposing.reason,
        subject=revision.planned.subject,
        trial=earlier.trial,
        topology=earlier.topology,
        rank_map_digest=earlier.rank_map_digest,
        rollback=decision_label(snapshot["rollback_from"]),
        requirements_id=blob_keep(canonical_bytes(snapshot)).sha256,
        activated_at=proposing.now,
        valid_until=until,
    )
    footprint_keep(activation, target.plan)
    proposing.record(
        "decision.rolled_back",
        decision=decision.number,
        revision=revision.number,
        subject=activation.subject,
        payload_type="topogate.activation/v1",
        payload={**activation_record(activation), **snapshot},
    )


def _copied(proposing: Proposing, target: PlannedNewest) -> Revision:
    """Make the new decision on the documents, time, planner version and job of the earlier one."""
    old, workspace = target.revision, proposing.workspace
    if old.job.state != JobState.DONE:
        raise ConflictError(f"{old.decision.label} is being planned anew.")
    newest = Decision.objects.filter(workspace=workspace).order_by("-number").values_list("number", flat=True)[0]
    decision = Decision.objects.create(
        workspace=workspace,
        number=newest + 1,
        slot=old.decision.slot,
        title=f"Rollback to {old.decision.label}: {old.decision.title}"[:200],
        state=DecisionState.EVALUATING,
        state_since=proposing.now,
        model_name=old.decision.model_name,
        engine_name=old.decision.engine_name,
        owner=old.decision.owner,
        opened_by_id=proposing.proposer_id,
        opened_at=proposing.now,
    )
    return Revision.objects.create(
        decision=decision,
        number=1,
        contract=old.contract,
        evidence=old.evidence,
        identity=old.identity,
        policy=Policy.objects.filter(workspace=workspace).order_by("-version")[0],
        planner_version=old.planner_version,
        as_of=old.as_of,
        job=old.job,
        author_id=proposing.proposer_id,
        made_at=proposing.now,
    )


ROLLBACK = Handler(
    kind=ProposalKind.ROLLBACK,
    # By the policy of the decision that is gone back to, which may be another one.
    may_propose=holder_of_any_seat,
    may_countersign=holder_of_any_seat,
    propose=_propose,
    countersign=_countersign,
    carry_out=_carry_out,
)
