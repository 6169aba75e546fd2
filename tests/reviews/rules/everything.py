"""One of everything that reviews state: a row in every table that only grows."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from planner.times import time_text
from reviews.models import SignOffPoint
from reviews.services.comment_checks import Written
from reviews.services.delegations import delegation_end, delegation_make
from reviews.services.identity_reports import identity_report
from reviews.services.proposal_ends import proposal_withdraw, proposals_sweep
from reviews.services.re_reviews import re_review_ask
from reviews.services.reproductions import revision_reproduce
from reviews.services.retractions import evidence_retract
from reviews.services.threads import comments_publish, thread_resolve
from reviews.services.withdrawals import point_settle, signoff_withdraw
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.late_ranks import diagnosed
from tests.reviews.rules.board import TRACE, countersign, propose, someone
from tests.reviews.rules.test_rule_03_carry import pair
from tests.reviews.rules.test_rule_11_validity import SLOT


def state_everything(people: Cast) -> None:
    """Carry out every act of reviewing once, on a board (``board``)."""
    space: dict[str, Any] = {"workspace": people.workspace}
    first = planned(people, pair=pair())
    sign(people, first, meaning="approve_with_conditions", conditions=("Rerun.",))
    point_settle(actor=people.dave, point_id=SignOffPoint.objects.get().pk, note="Done.", trace=TRACE, **space)
    planned(people, pair=pair(note="another owner"), decision=first.decision)
    taken_back = sign(people, planned(people))
    signoff_withdraw(actor=people.bob, signoff_id=taken_back.pk, reason="Too early.", **space)
    re_review_ask(actor=people.alice, number=1, teams=["serving"], reason="Again.", trace=TRACE, **space)
    revision_reproduce(actor=people.bob, number=1, revision=1, trace=TRACE, **space)
    now = timezone.now()
    lent = delegation_make(
        actor=people.bob,
        team="serving",
        taker="erin",
        starts_at=now,
        ends_at=now + timedelta(days=2),
        reason="Away.",
        trace=TRACE,
        **space,
    )
    delegation_end(actor=people.bob, delegation_id=lent.pk, trace=TRACE, **space)
    failing = planned(people, pair=documents(floor=600))
    number = failing.decision.number
    waiver = {"trial": "t-1", "gate": "throughput", "ends_at": time_text(now + timedelta(days=9))}
    countersign(people, propose(people, "waiver", "bob", waiver, number=number), "erin")
    emergency = {"trial": "t-1", "incident": "INC-1", "failing_gates": ["throughput"], "hours": 1}
    proposal = propose(people, "emergency", "ivan", emergency, number=number)
    proposal_withdraw(actor=someone("ivan"), proposal_id=proposal.pk, reason="Not yet.", trace=TRACE, **space)
    propose(people, "emergency", "ivan", emergency | {"hours": 2}, number=number)
    countersign(people, propose(people, "emergency", "ivan", emergency, number=number), "bob")
    proposals_sweep()
    identity_report(actor=people.bob, slot=SLOT, live={"model": {"name": "x"}}, trace=TRACE, **space)
    diagnosed(people, note="Tokens stalled.")
    evidence_retract(actor=people.bob, content_id=failing.evidence.content_id, reason="Faulty.", trace=TRACE, **space)
    asked = Written(text="Which window, @erin?", kind="trial", name="t-1", team="serving", is_blocking=True)
    comments_publish(actor=people.bob, number=1, comments=(asked,), trace=TRACE, **space)
    thread_resolve(actor=people.bob, number=1, thread=1, trace=TRACE, **space)
