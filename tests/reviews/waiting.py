"""A proposal of every kind on a board, and how to let what is around it move."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from planner.canonical import content_id
from planner.times import time_text
from reviews.models import Membership, Person, Proposal, Role, SignOff, TeamSeat
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.rules.board import BOARD, propose, someone
from tests.reviews.rules.test_rule_10_activation import activate, approved

EMERGENCY: dict[str, Any] = {"trial": "t-1", "incident": "INC-7", "hours": 24, "failing_gates": ["throughput"]}


def waiver_body(days: int = 20) -> dict[str, Any]:
    """What a waiver asks that would hold for so many days."""
    return {"trial": "t-1", "gate": "throughput", "ends_at": time_text(timezone.now() + timedelta(days=days))}


def policy(people: Cast) -> Proposal:
    body = {"base": content_id(BOARD), "policy": BOARD | {"max_age_s": 3600}}
    return propose(people, "policy", "ada", body, number=None)


def waiver(people: Cast) -> Proposal:
    planned(people, pair=documents(floor=600))
    return propose(people, "waiver", "bob", waiver_body())


def emergency(people: Cast) -> Proposal:
    planned(people, pair=documents(floor=600))
    return propose(people, "emergency", "ivan", EMERGENCY)


def revocation(people: Cast) -> Proposal:
    revision = approved(people)
    activate(people, revision)
    sign(people, revision, people.dave, meaning="object")
    return propose(people, "revocation", "erin", {})


def rollback(people: Cast) -> Proposal:
    activate(people, approved(people))
    activate(people, approved(people, pair=documents(tokens=170000)))
    return propose(people, "rollback", "dave", {"to": 1}, number=2)


def lifting(people: Cast) -> Proposal:
    sign(people, planned(people), meaning="object")
    TeamSeat.objects.filter(membership__person=people.dave).update(is_lead=True)
    return propose(people, "lift_objection", "dave", {"signoff": SignOff.objects.get().pk})


KINDS: dict[str, Callable[[Cast], Proposal]] = {
    "policy": policy,
    "waiver": waiver,
    "emergency": emergency,
    "revocation": revocation,
    "rollback": rollback,
    "lift_objection": lifting,
}
"""Kind of proposal -> what makes one."""


def older(proposal: Proposal, **by: int) -> None:
    """Let a proposal have been made so much earlier."""
    with lifted():
        Proposal.objects.filter(pk=proposal.pk).update(proposed_at=proposal.proposed_at - timedelta(**by))


def without_seat(login: str) -> None:
    """Take every seat of somebody."""
    TeamSeat.objects.filter(membership__person=someone(login)).delete()


def as_auditor(login: str) -> None:
    """Let somebody only read."""
    Membership.objects.filter(person=someone(login)).update(role=Role.AUDITOR)


def switched_off(login: str) -> None:
    """Close somebody's account."""
    Person.objects.filter(pk=someone(login).pk).update(is_active=False)
