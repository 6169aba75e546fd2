"""Planner upgrade dry run: what the planner that runs here would make of every decision in force. Nothing is stored."""

from collections.abc import Iterator
from dataclasses import dataclass

from reviews.blobs import blob_read
from reviews.models import Decision, DecisionState, Workspace
from reviews.planning import StoredBytes, StoredBytesError, decode_plan, make_plan
from reviews.selectors.in_force import activations_of


@dataclass(frozen=True, slots=True)
class Upgraded:
    """One decision in force under the present planner; ``changes`` says in words what would be different."""

    label: str
    slot: str
    planner_version: str
    changes: tuple[str, ...]


def upgraded_decisions(workspace: Workspace) -> Iterator[Upgraded]:
    """Plan every effective decision again, one after the other, and say what differs from its plan."""
    decisions = Decision.objects.filter(workspace=workspace, state=DecisionState.EFFECTIVE).order_by("number")
    activations = activations_of(decisions.values_list("pk", flat=True))
    for decision in decisions:
        revision = activations[decision.pk].revision
        old = decode_plan(blob_read(revision.planned.plan.blob_id, "plan"))
        try:
            new = make_plan(
                contract=_stored(revision.contract.blob_id, "contract"),
                evidence=_stored(revision.evidence.blob_id, "evidence"),
                receipt=None,
                as_of=revision.as_of,
                progress=lambda done, total: None,
            ).record
        except StoredBytesError as error:
            yield Upgraded(decision.label, decision.slot, revision.planner_version, (error.message,))
            continue
        changes = []
        if new.decision != old.decision:
            changes.append(f"decision: {old.decision} becomes {new.decision}")
        before, after = (plan.selected.trial if plan.selected else "nothing" for plan in (old, new))
        if before != after:
            changes.append(f"selected: {before} becomes {after}")
        for trial, candidate in old.candidates.items():
            for gate, outcome in candidate.gates.items():
                now = new.candidates[trial].gates.get(gate)
                found = now.outcome if now else "no such gate"
                if found != outcome.outcome:
                    changes.append(f"{gate} of {trial}: {outcome.outcome} becomes {found}")
            changes += [
                f"{gate} of {trial}: new, {outcome.outcome}"
                for gate, outcome in new.candidates[trial].gates.items()
                if gate not in candidate.gates and outcome.outcome != "NOT_DECLARED"
            ]
        yield Upgraded(decision.label, decision.slot, revision.planner_version, tuple(changes))


def _stored(blob_id: str, what: str) -> StoredBytes:
    return StoredBytes(blob_read(blob_id, what), blob_id)
