"""A board with everybody that acts of two persons take: two admins, leads, capacity and incident response."""

from typing import Any

from reviews.models import Person, Proposal, Role
from reviews.services.people import Trace, member_add, seat_give
from reviews.services.proposals import HANDLERS
from reviews.services.two_persons import proposal_countersign, proposal_make
from tests.reviews.factories import POLICY, PROVEN, Cast, cast

BOARD: dict[str, Any] = POLICY | {
    "teams": POLICY["teams"]
    | {
        "capacity": {"title": "Capacity", "quorum": 0},
        "incident-response": {"title": "Incident response", "quorum": 0},
    },
}
TRACE = Trace("req-9", PROVEN)


def board(*, policy: dict[str, Any] | None = None) -> Cast:
    """The cast with ada and abel as admins, erin of capacity and ivan of incident response."""
    people = cast(policy=policy or BOARD)
    for login, role, team in (
        ("ada", Role.ADMIN, None),
        ("abel", Role.ADMIN, None),
        ("erin", Role.MEMBER, "capacity"),
        ("ivan", Role.MEMBER, "incident-response"),
    ):
        person = Person.objects.create_user(login, display_name=login.title())
        membership = member_add(workspace=people.workspace, person=person, role=role)
        if team:
            seat_give(membership=membership, team=team)
    return people


def someone(login: str) -> Person:
    return Person.objects.get(login__in=(login, f"{login}-lab"))


def propose(
    people: Cast, kind: str, who: str, body: dict[str, Any], *, number: int | None = 1, **more: Any
) -> Proposal:
    """Propose as somebody of the board."""
    said: dict[str, Any] = {"reason": "The pilot depends on it.", "trace": TRACE} | more
    return proposal_make(
        HANDLERS[kind], actor=someone(who), workspace=people.workspace, body=body, number=number, **said
    )


def countersign(people: Cast, proposal: Proposal, who: str) -> Proposal:
    """Countersign as somebody of the board."""
    return proposal_countersign(
        HANDLERS, actor=someone(who), workspace=people.workspace, proposal_id=proposal.pk, trace=TRACE
    )
