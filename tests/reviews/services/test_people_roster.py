"""Acts on the people of a workspace: what they change, what they leave in the log, who is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError, ReviewError
from reviews.models import AuditEntry, Invitation, Membership, Person, Role, TeamSeat
from reviews.policies.roster import ROLE_WORDS
from reviews.services.people import Trace, member_add, workspace_create
from reviews.services.people_roster import (
    Asker,
    account_close,
    account_open,
    link_make,
    member_invite,
    member_remove,
    member_role_set,
    seats_set,
)
from reviews.services.tokens import token_create, token_use
from tests.reviews.factories import POLICY, Cast

pytestmark = pytest.mark.both_databases


@pytest.fixture
def admin(people: Cast) -> Asker:
    olga = Person.objects.create_user("olga", "a-long-password", display_name="Olga")
    member_add(workspace=people.workspace, person=olga, role=Role.ADMIN)
    return Asker(person=olga, workspace=people.workspace, trace=Trace("request-1"))


def entries(people: Cast, since: int) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Action, team and payload of the entries from a number on."""
    rows = (
        AuditEntry.objects.filter(workspace=people.workspace, seq__gte=since).order_by("seq").select_related("payload")
    )
    return [(row.action, row.team or None, json.loads(bytes(row.payload.data)) if row.payload else {}) for row in rows]


def next_seq(people: Cast) -> int:
    return AuditEntry.objects.filter(workspace=people.workspace).count()


def role_of(person: Person) -> str:
    return Membership.objects.get(person=person).role


def test_every_role_has_its_words() -> None:
    assert ROLE_WORDS.keys() == set(Role.values)


def test_an_invitation_makes_an_account_that_nobody_can_log_in_to_yet(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    invited = member_invite(asker=admin, login="eve", name="Eve", email="eve@example.org", role="author")
    eve = Person.objects.get(login="eve")
    assert (eve.has_usable_password(), eve.email, role_of(eve)) == (False, "eve@example.org", "author")
    assert invited.invitation is not None
    assert [action for action, _, _ in entries(people, since)] == ["roster.role_set", "roster.link_made"]


def test_the_log_names_nobody_but_by_token(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    member_invite(asker=admin, login="eve", name="Eve Example", email="eve@example.org", role="author")
    said = json.dumps(entries(people, since))
    assert ("Eve" in said, "eve@" in said, Person.objects.get(login="eve").token in said) == (False, False, True)


def test_somebody_with_an_account_becomes_a_member_without_a_link(people: Cast, admin: Asker) -> None:
    invited = member_invite(asker=admin, login="charlie-lab", name="", email="", role="member")
    assert (invited.person, invited.invitation, role_of(people.charlie)) == (people.charlie, None, "member")


def test_an_invitation_tells_every_problem(people: Cast, admin: Asker) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        member_invite(asker=admin, login="E V E", name="", email="nowhere", role="king")
    assert [problem.pointer for problem in caught.value.problems] == ["login", "name", "email", "role"]
    assert not Person.objects.filter(display_name="").exists()


def test_nobody_is_invited_twice(people: Cast, admin: Asker) -> None:
    with pytest.raises(ConflictError, match="Bob \\(bob-lab\\) is a member already"):
        member_invite(asker=admin, login="bob-lab", name="Bob", email="", role="member")


def test_a_role_that_never_signs_takes_the_seats(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    member_role_set(asker=admin, login="bob-lab", role="auditor")
    assert (role_of(people.bob), TeamSeat.objects.filter(membership__person=people.bob).count()) == ("auditor", 0)
    assert [(action, team) for action, team, _ in entries(people, since)] == [
        ("roster.seat_taken", "serving"),
        ("roster.role_set", None),
    ]


def test_seats_are_given_led_and_taken_each_with_its_entry(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    seats_set(asker=admin, login="bob-lab", seats={"networking": "lead", "serving": "none"})
    held = TeamSeat.objects.filter(membership__person=people.bob).values_list("team__slug", "is_lead")
    assert list(held) == [("networking", True)]
    assert [(action, team) for action, team, _ in entries(people, since)] == [
        ("roster.seat_given", "networking"),
        ("roster.seat_taken", "serving"),
    ]


def test_a_seat_that_stays_makes_no_entry(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    seats_set(asker=admin, login="bob-lab", seats={"networking": "none", "serving": "member"})
    assert entries(people, since) == []


def test_admins_and_auditors_hold_no_seat(people: Cast, admin: Asker) -> None:
    with pytest.raises(ConflictError, match="Auditors never sign, so they hold no seat"):
        seats_set(asker=admin, login="audrey-lab", seats={"serving": "member"})
    assert not TeamSeat.objects.filter(membership__person=people.audrey).exists()


def test_seats_that_there_are_not_are_all_told(people: Cast, admin: Asker) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        seats_set(asker=admin, login="bob-lab", seats={"serving": "king", "nowhere": "lead", "networking": "lead"})
    assert [problem.pointer for problem in caught.value.problems] == ["seat-nowhere", "seat-serving"]
    assert list(TeamSeat.objects.filter(membership__person=people.bob).values_list("team__slug")) == [("serving",)]


def test_nobody_changes_their_own_place(people: Cast, admin: Asker) -> None:
    acts: list[Callable[[], object]] = [
        lambda: member_role_set(asker=admin, login="olga", role="author"),
        lambda: seats_set(asker=admin, login="olga", seats={"serving": "lead"}),
        lambda: member_remove(asker=admin, login="olga"),
        lambda: account_close(asker=admin, login="olga"),
        lambda: link_make(asker=admin, login="olga"),
    ]
    for act in acts:
        with pytest.raises(NotAllowedError, match="You cannot change your own place"):
            act()
    assert (role_of(admin.person), admin.person.is_active) == ("admin", True)


def test_a_refused_attempt_is_an_entry_and_changes_nothing(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    with pytest.raises(NotAllowedError):
        member_role_set(asker=Asker(person=people.alice, workspace=people.workspace), login="bob-lab", role="admin")
    assert entries(people, since) == [
        ("roster.refused", None, {"attempt": "role", "person": people.bob.token, "role": "admin"})
    ]
    assert role_of(people.bob) == "member"


def test_a_stranger_leaves_no_entry(people: Cast, admin: Asker) -> None:
    since = next_seq(people)
    with pytest.raises(NotFoundError):
        member_remove(asker=Asker(person=people.charlie, workspace=people.workspace), login="bob-lab")
    assert entries(people, since) == []


def test_who_is_removed_is_out_and_keeps_their_account(people: Cast, admin: Asker) -> None:
    member_remove(asker=admin, login="bob-lab")
    assert not Membership.objects.filter(person=people.bob).exists()
    people.bob.refresh_from_db()
    assert people.bob.is_active


def test_closing_an_account_ends_sessions_links_and_tokens(people: Cast, admin: Asker) -> None:
    made = token_create(actor=people.alice, workspace=people.workspace, label="ci", scope="read", days=7)
    people.alice.set_password("a-long-password")
    people.alice.save()
    browser = Client()
    browser.post("/login", {"login": "alice-lab", "password": "a-long-password"})
    link_make(asker=admin, login="alice-lab")
    account_close(asker=admin, login="alice-lab")
    assert browser.get("/account/").status_code == 302
    assert not browser.session.exists(browser.cookies["session"].value)
    assert not Invitation.objects.filter(ended_at=None).exists()
    with pytest.raises(ReviewError, match="switched off"):
        token_use(made.secret)
    account_open(asker=admin, login="alice-lab")
    people.alice.refresh_from_db()
    assert people.alice.is_active


def test_an_account_of_another_workspace_is_not_one_admins_to_close(people: Cast, admin: Asker) -> None:
    other = workspace_create(slug="other", title="Other", policy=POLICY)
    member_add(workspace=other, person=people.bob, role=Role.MEMBER)
    for act in (account_close, link_make):
        with pytest.raises(NotAllowedError, match="belongs to workspaces that you are no admin of"):
            act(asker=admin, login="bob-lab")
    member_add(workspace=other, person=admin.person, role=Role.ADMIN)
    account_close(asker=admin, login="bob-lab")
    newest = AuditEntry.objects.filter(workspace=other).order_by("-seq")[0]
    assert newest.action == "roster.account_closed"


def test_a_new_link_forgets_second_factors_only_when_asked(people: Cast, admin: Asker) -> None:
    Authenticator.objects.create(user=people.bob, type="totp", data={"secret": "x"})
    link_make(asker=admin, login="bob-lab")
    assert Authenticator.objects.count() == 1
    since = next_seq(people)
    link_make(asker=admin, login="bob-lab", forget_factors=True)
    assert Authenticator.objects.count() == 0
    assert [action for action, _, _ in entries(people, since)] == ["roster.factors_forgotten", "roster.link_made"]


def test_a_closed_account_gets_no_link(people: Cast, admin: Asker) -> None:
    account_close(asker=admin, login="bob-lab")
    with pytest.raises(ConflictError, match="Open it first"):
        link_make(asker=admin, login="bob-lab")
