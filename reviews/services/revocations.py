"""Revokes a contested decision for good: one person of each revoking team."""

from reviews.errors import ConflictError
from reviews.models import DecisionState, ProposalKind
from reviews.policies.two_persons import revoking_second
from reviews.selectors.planned import PlannedNewest, planned_newest
from reviews.services.states import decision_move
from reviews.services.two_persons import Handler, Proposing, holder_of, seat_of


def _checked(proposing: Proposing) -> PlannedNewest:
    decision = proposing.acting().decision
    if decision.state != DecisionState.CONTESTED:
        raise ConflictError(f"{decision.label} is {DecisionState(decision.state).label.lower()}, not contested.")
    return planned_newest(decision)


def _propose(proposing: Proposing) -> str:
    newest = _checked(proposing)
    return seat_of(proposing, set(newest.document.duties.revocation), author_ids=newest.author_ids)


def _countersign(proposing: Proposing) -> str:
    newest = _checked(proposing)
    wanted = revoking_second(newest.document, proposing.proposer_team)
    return seat_of(proposing, wanted, author_ids=newest.author_ids)


def _carry_out(proposing: Proposing) -> None:
    newest = _checked(proposing)
    decision_move(proposing.acting().decision, "revoke", proposing.now)
    proposing.record(
        "decision.revoked",
        revision=newest.revision.number,
        subject=newest.revision.planned.subject,
        payload_type="topogate.revocation/v1",
    )


def _may_countersign(proposing: Proposing) -> None:
    holder_of(lambda document: revoking_second(document, proposing.proposer_team))(proposing)


REVOCATION = Handler(
    kind=ProposalKind.REVOCATION,
    may_propose=holder_of(lambda document: document.duties.revocation),
    may_countersign=_may_countersign,
    propose=_propose,
    countersign=_countersign,
    carry_out=_carry_out,
)
