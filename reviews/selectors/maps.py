"""What the rank map of a decision draws from: the contract's hardware and one trial, out of the stored bytes.

Rules kept: stored bytes passed intake when they were uploaded, so they are decoded here without being judged again,
and only the trial that is asked for is decoded, whatever the size of the evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from planner.contract_view import ContractView
from planner.identity import compare_identity, contract_leaves
from planner.intake.contract import typed_limits
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.evidence import ObservedIdentity, Trial
from planner.times import parsed_time
from planner.view import TrialView
from reviews.errors import NotFoundError
from reviews.models import Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import revision_bytes
from reviews.selectors.rows import DecisionPage


class _Trials(msgspec.Struct):
    """Evidence as far as choosing a trial needs it."""

    trials: dict[str, msgspec.Raw]
    identities: dict[str, msgspec.Raw]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSource:
    """A decision's page with the records behind one of its trials."""

    page: DecisionPage
    trial_id: str
    trial_ids: tuple[str, ...]
    view: TrialView

    @property
    def contract(self) -> Contract:
        """The contract of the revision."""
        return self.view.contract

    @property
    def trial(self) -> Trial:
        """The trial that is shown."""
        return self.view.trial


def map_source(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    revision: int | None = None,
    trial_id: str = "",
    preferred: Sequence[str] = (),
) -> MapSource:
    """Return what the rank map of a trial needs.

    Without a trial it is the first of the ``preferred`` that the revision has, else the selected one, else the first.

    Raises:
        NotFoundError: no such decision, revision or trial, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision)
    raw = revision_bytes(actor=actor, workspace=workspace, revision_id=page.shown.id)
    evidence = msgspec.json.decode(raw.evidence, type=_Trials)
    selected = page.shown.plan.selected_trial if page.shown.plan else ""
    known = (trial for trial in preferred if trial in evidence.trials)
    chosen = trial_id or next(known, selected) or min(evidence.trials)
    if chosen not in evidence.trials:
        raise NotFoundError(f"{page.label} r{page.shown.number} has no trial {chosen[:80]}.")
    return MapSource(
        page=page,
        trial_id=chosen,
        trial_ids=tuple(sorted(evidence.trials)),
        view=_view(page, msgspec.json.decode(raw.contract, type=Contract), evidence, chosen),
    )


def _view(page: DecisionPage, contract: Contract, evidence: _Trials, trial_id: str) -> TrialView:
    """Return the planner's view of one trial, as of the time that the revision names."""
    as_of = parsed_time(page.shown.as_of)
    if as_of is None:
        raise ValueError(f"{page.label} r{page.shown.number} has no time to be judged at")
    ground = ContractView(contract=contract, limits=typed_limits(contract.gates))
    trial = msgspec.json.decode(evidence.trials[trial_id], type=Trial)
    observed = msgspec.json.decode(evidence.identities[trial.identity_id], type=ObservedIdentity)
    declared = ground.comparison.choice_keys
    keys = () if isinstance(declared, UnsetType) else declared
    plan = page.plan()
    candidate = plan.candidates.get(trial_id) if plan else None
    return TrialView(
        id=trial_id,
        trial=trial,
        content_id=candidate.trial_content_id if candidate else "",
        ground=ground,
        identity=compare_identity(contract_leaves(contract.identity), observed, keys),
        as_of=as_of,
    )
