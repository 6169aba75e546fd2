"""What somebody who may sign the newest revision is shown beside the plan: items to open, what moved, ways back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.pointers import steps
from planner.records.plan import Outcome, Plan, Value
from reviews.asked_once import moment
from reviews.blobs import blob_read
from reviews.models import Revision, Workspace
from reviews.planning import decode_plan, identity_tree
from reviews.policies.opening import Item
from reviews.policies.scope import GATE, IDENTITY
from reviews.selectors.decision_page import decision_named
from reviews.selectors.openings import Openings, openings_of
from reviews.selectors.revisions import revisions_of
from reviews.selectors.rollbacks import RollbackChoice, rollback_choices
from reviews.selectors.rows import DecisionPage


@dataclass(frozen=True, slots=True)
class Said:
    """What a gate says of a trial: its outcome, the sentence of the limit that decides, and that one's reading."""

    outcome: Outcome
    sentence: str
    measured: Value


@dataclass(frozen=True, slots=True)
class Delta:
    """One thing of a team's scope that moved; ``before`` or ``after`` is None where it is new or gone.

    Of a gate the values are ``Said`` of one trial, of an identity key the JSON value.
    """

    item: Item
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewing:
    """What a signer works through for one team. ``since`` is the revision that they last signed for it."""

    team: str
    openings: Openings
    deltas: tuple[Delta, ...]
    rollbacks: tuple[RollbackChoice, ...]


def reviewing_of(
    workspace: Workspace, page: DecisionPage, *, person_id: int, plan: Plan, team: str = ""
) -> Reviewing | None:
    """Return what the reader works through before signing the newest revision; None where they cannot sign it.

    ``team`` is the one that they chose, where they may sign for several.
    """
    teams = [seat.team for seat in page.seats if seat.verdict.allowed]
    if not teams or not page.is_newest or page.state not in ("IN_REVIEW", "EMERGENCY") or page.shown.subject is None:
        return None
    chosen = team if team in teams else teams[0]
    revision = revisions_of((decision_named(workspace, page.number).pk,))[-1]
    openings = openings_of(revision, person_id=person_id, team=chosen, now=moment(), plan=plan)
    return Reviewing(
        team=chosen,
        openings=openings,
        deltas=tuple(_deltas(revision, openings, plan)),
        rollbacks=rollback_choices(revision.decision, plan),
    )


def _deltas(revision: Revision, openings: Openings, plan: Plan) -> Iterator[Delta]:
    changed = [item for item in openings.items if item.kind == "change"]
    if not changed or openings.since is None:
        return
    earlier = next(row for row in revisions_of((revision.decision_id,)) if row.number == openings.since)
    before = identity_tree(blob_read(earlier.contract.blob_id, "contract"))
    after = identity_tree(blob_read(revision.contract.blob_id, "contract"))
    earlier_plan = decode_plan(blob_read(earlier.planned.plan.blob_id, "plan"))
    for item in changed:
        if item.about.startswith(IDENTITY):
            pointer = item.about.removeprefix(IDENTITY)
            yield Delta(item, _at(before, pointer), _at(after, pointer))
        elif item.about.startswith(GATE):
            gate = item.about.removeprefix(GATE)
            trial = _trial_that_moved(earlier_plan, plan, gate)
            yield Delta(item, _outcome(earlier_plan, trial, gate), _outcome(plan, trial, gate))
        else:
            yield Delta(item, None, None)


def _at(tree: Mapping[str, Any], pointer: str) -> Any:
    value: Any = tree
    for step in steps(pointer):
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return value


def _trial_that_moved(before: Plan, after: Plan, gate: str) -> str:
    """Return the selected trial where its outcome moved, else the first trial whose outcome did."""
    trials = [*([after.selected.trial] if after.selected else []), *after.candidates, *before.candidates]
    moved = (trial for trial in trials if _outcome(before, trial, gate) != _outcome(after, trial, gate))
    return next(moved, trials[0] if trials else "")


def _outcome(plan: Plan, trial: str, gate: str) -> Said | None:
    candidate = plan.candidates.get(trial)
    found = candidate.gates.get(gate) if candidate else None
    if found is None or found.outcome == "NOT_DECLARED":
        return None
    decisive = next((limit for limit in found.limits.values() if limit.outcome == found.outcome), None)
    return Said(found.outcome, decisive.sentence, decisive.measured) if decisive else Said(found.outcome, "", None)
