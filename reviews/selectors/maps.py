"""What the rank map of a decision draws from: the contract's hardware and one trial, out of the stored bytes.

Rules kept: stored bytes passed intake when they were uploaded, so they are decoded here without being judged again,
and only the trial that is asked for is decoded, whatever the size of the evidence.
"""

from dataclasses import dataclass

import msgspec

from planner.records.contract import Contract
from planner.records.evidence import Trial
from reviews.errors import NotFoundError
from reviews.models import Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import revision_bytes
from reviews.selectors.rows import DecisionPage


class _Trials(msgspec.Struct):
    """Evidence as far as choosing a trial needs it."""

    trials: dict[str, msgspec.Raw]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSource:
    """A decision's page with the records behind one of its trials."""

    page: DecisionPage
    trial_id: str
    trial_ids: tuple[str, ...]
    contract: Contract
    trial: Trial


def map_source(
    *, actor: Person, workspace: Workspace, number: int, revision: int | None = None, trial_id: str = ""
) -> MapSource:
    """Return what the rank map of a trial needs; without a trial, of the selected one, else of the first.

    Raises:
        NotFoundError: no such decision, revision or trial, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision)
    raw = revision_bytes(actor=actor, workspace=workspace, revision_id=page.shown.id)
    trials = msgspec.json.decode(raw.evidence, type=_Trials).trials
    selected = page.shown.plan.selected_trial if page.shown.plan else ""
    chosen = trial_id or selected or min(trials)
    if chosen not in trials:
        raise NotFoundError(f"{page.label} r{page.shown.number} has no trial {chosen[:80]}.")
    return MapSource(
        page=page,
        trial_id=chosen,
        trial_ids=tuple(sorted(trials)),
        contract=msgspec.json.decode(raw.contract, type=Contract),
        trial=msgspec.json.decode(trials[chosen], type=Trial),
    )
