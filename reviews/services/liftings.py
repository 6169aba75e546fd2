"""Lifts an objection without its signer: the team's lead with a reason, and a second member of the team."""

from dataclasses import replace

from reviews.clock import utc_text
from reviews.errors import ConflictError, NotAllowedError
from reviews.models import ProposalKind, SignOff, TeamSeat
from reviews.policies.signoff_status import OBJECT
from reviews.selectors.judgement import author_ids
from reviews.services.two_persons import Handler, Proposing, holder_of_any_seat, seat_of, wrong
from reviews.services.withdrawals import signoff_named, signoff_take_back


def _objection(proposing: Proposing) -> SignOff:
    decision = proposing.acting().decision
    signoff_id = proposing.body.get("signoff")
    if not isinstance(signoff_id, int):
        raise wrong("signoff", "the objection that is lifted", signoff_id)
    signoff = signoff_named(proposing.workspace, signoff_id)
    if signoff.meaning != OBJECT or signoff.revision.decision_id != decision.pk:
        raise wrong("signoff", f"an objection on {decision.label}", signoff_id)
    if hasattr(signoff, "withdrawal"):
        raise ConflictError("This objection is lifted already.")
    return signoff


def _lead(proposing: Proposing) -> str:
    signoff = _objection(proposing)
    team = _second(proposing)
    is_lead = TeamSeat.objects.filter(
        team=signoff.team, membership__person_id=proposing.standing.person_id, is_lead=True
    ).exists()
    if not is_lead:
        raise NotAllowedError(f"Lifting somebody else's objection takes the lead of {team}.")
    return team


def _second(proposing: Proposing) -> str:
    signoff = _objection(proposing)
    return seat_of(proposing, {signoff.team.slug}, author_ids=author_ids(signoff.revision.decision))


def _carry_out(proposing: Proposing) -> None:
    signoff = _objection(proposing)
    act = replace(
        proposing.attempt,
        revision=signoff.revision.number,
        subject=signoff.subject,
        team=signoff.team.slug,
        meaning=signoff.meaning,
        payload_type="topogate.withdrawal/v1",
        payload={
            "turn": signoff.turn,
            "signed_at": utc_text(signoff.signed_at),
            "signer": signoff.person.token,
            "proposed_by": proposing.proposer_token,
        },
    )
    signoff_take_back(proposing.workspace, proposing.acting().decision, signoff, act, proposing.reason)


LIFTING = Handler(
    kind=ProposalKind.LIFT_OBJECTION,
    may_propose=holder_of_any_seat,
    may_countersign=holder_of_any_seat,
    propose=_lead,
    countersign=_second,
    carry_out=_carry_out,
)
