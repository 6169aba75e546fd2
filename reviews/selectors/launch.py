"""The launch configuration of the decision that is in force: worked out when it is asked for, never stored.

Rules kept: nothing is handed out of a decision that is not in force as of now, be it under review, stale, expired or
ended: a file that is once there is started. Reading is no act and leaves no entry (ADR 18): what came to run is told by
identity reports, and those are entries. Equal decisions give equal bytes.
"""

from dataclasses import dataclass

from planner.intake import read_contract
from planner.launch import TARGETS, LaunchConfiguration, LaunchRefusedError, Target, launch_configuration, refusal
from planner.records.evidence import LayoutName
from planner.times import time_text
from reviews.asked_once import moment
from reviews.clock import when
from reviews.errors import ConflictError, Finding, InvalidRequestError
from reviews.models import Decision, Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import evidence_by_name, revision_bytes
from reviews.selectors.in_force import ENDING, slot_in_force
from reviews.selectors.rows import ActivationRow, DecisionPage, RevisionRow

__all__ = ["Choice", "LaunchView", "handed_out", "launch_view"]

MOST_BYTES = 16 * 2**20
"""Of contract and evidence together; the command line says the launch of larger ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What could start the topology; ``refused`` says why it cannot, and is empty where it can."""

    target: Target
    refused: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchView:
    """A decision's page with its launch; ``made`` is None where ``because`` says why nothing is launched.

    ``instead`` is the decision that holds in the slot, where this one does not.
    """

    page: DecisionPage
    activation: ActivationRow | None
    revision: RevisionRow | None
    because: str = ""
    instead: Decision | None = None
    layout: LayoutName | None = None
    target: Target | None = None
    choices: tuple[Choice, ...] = ()
    made: LaunchConfiguration | None = None

    @property
    def is_in_force(self) -> bool:
        """Whether the decision holds now."""
        return self.page.state in ENDING


def launch_view(*, actor: Person, workspace: Workspace, number: int, target: Target | None = None) -> LaunchView:
    """Return the launch of what is in force; ``target`` is the engine that was measured where it is None.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    activation = page.activation
    if page.state not in ENDING or activation is None:
        held = slot_in_force(workspace, page.slot, moment())
        instead = held.activation.revision.decision if held else None
        return LaunchView(page=page, activation=activation, revision=None, because=_ended(page), instead=instead)
    revision = next(row for row in page.revisions if row.number == activation.revision)
    raw = revision_bytes(actor=actor, workspace=workspace, revision_id=revision.id)
    size = len(raw.contract) + len(raw.evidence)
    if size > MOST_BYTES:
        because = (
            f"Contract and evidence take {size:,} bytes; at most {MOST_BYTES:,} are read here. "
            "`topogate launch CONTRACT EVIDENCE PLAN` says the launch of larger ones."
        )
        return LaunchView(page=page, activation=activation, revision=revision, because=because)
    contract = read_contract(raw.contract)
    evidence = evidence_by_name(revision, raw)
    layout = evidence.record.trials[activation.trial].topology.layout
    choices = tuple(Choice(target=each, refused=refusal(activation.trial, layout, each) or "") for each in TARGETS)
    offered = [choice.target for choice in choices if not choice.refused] or list(TARGETS)
    chosen = offered[0] if target is None else target
    made, because = None, ""
    try:
        made = launch_configuration(
            contract,
            evidence,
            activation.trial,
            chosen,
            plan_id=revision.plan.plan_id if revision.plan else "",
            decision=f"{page.label} r{revision.number}",
            subject=revision.subject,
            expires_at=None if activation.valid_until is None else time_text(activation.valid_until),
        )
    except LaunchRefusedError as refused:
        because = f"{refused}"
    return LaunchView(
        page=page,
        activation=activation,
        revision=revision,
        because=because,
        layout=layout,
        target=chosen,
        choices=choices,
        made=made,
    )


def handed_out(found: LaunchView) -> LaunchConfiguration:
    """Return the configuration to somebody who takes it away.

    Raises:
        ConflictError: the decision is not in force.
        InvalidRequestError: there is no launch of it for the target, or none is worked out here.
    """
    if found.made is not None:
        return found.made
    if not found.is_in_force:
        raise ConflictError(found.because)
    asked = found.target or "a launch"
    expected = ", ".join(choice.target for choice in found.choices if not choice.refused) or "a topology with a launch"
    raise InvalidRequestError((Finding("request", "request/launch", "for", expected, f"{asked}: {found.because}"),))


def _ended(page: DecisionPage) -> str:
    """Say why nothing of a decision is launched."""
    label = page.state_label.lower()
    since = f"{page.label} is {label} since {when(page.state_since)} UTC"
    never = "" if page.activation else ": it is not in force"
    return f"{since}{never}. {page.state_because}".strip()
