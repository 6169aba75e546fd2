"""One-time links: used once, replaced, run out, and never stored."""

from datetime import timedelta

import pytest
from django.utils import timezone

from reviews.errors import InvalidRequestError, NotFoundError
from reviews.models import AuditEntry, Invitation, Person
from reviews.services.people_invitations import MadeInvitation, invitation_make, invitation_open, invitation_use
from tests.reviews.factories import Cast

pytestmark = pytest.mark.both_databases
NEW = "a-password-of-bob"


@pytest.fixture
def made(people: Cast) -> MadeInvitation:
    return invitation_make(workspace=people.workspace, person=people.bob)


def secret(made: MadeInvitation) -> str:
    return made.path.removeprefix("/join/")


def test_a_link_sets_the_password_once(people: Cast, made: MadeInvitation) -> None:
    invitation_use(secret=secret(made), password=NEW, repeated=NEW)
    people.bob.refresh_from_db()
    assert people.bob.check_password(NEW)
    with pytest.raises(NotFoundError, match="was used, replaced by a later one, or is too old"):
        invitation_use(secret=secret(made), password="another-password", repeated="another-password")
    people.bob.refresh_from_db()
    assert people.bob.check_password(NEW)


def test_opening_it_uses_nothing_up(made: MadeInvitation) -> None:
    assert [invitation_open(secret(made)).person.display_name for _ in range(2)] == ["Bob", "Bob"]


def test_a_later_link_ends_the_earlier(people: Cast, made: MadeInvitation) -> None:
    later = invitation_make(workspace=people.workspace, person=people.bob)
    with pytest.raises(NotFoundError):
        invitation_open(secret(made))
    assert invitation_open(secret(later)).person == people.bob


def test_a_link_runs_out(made: MadeInvitation) -> None:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotFoundError):
        invitation_open(secret(made))


def test_the_same_password_again_is_taken_as_a_double_click_for_a_minute(made: MadeInvitation) -> None:
    invitation_use(secret=secret(made), password=NEW, repeated=NEW)
    assert invitation_use(secret=secret(made), password=NEW, repeated=NEW) == made.person
    Invitation.objects.update(ended_at=timezone.now() - timedelta(seconds=61))
    with pytest.raises(NotFoundError, match="was used"):
        invitation_use(secret=secret(made), password=NEW, repeated=NEW)


def test_a_link_lasts_three_days(made: MadeInvitation) -> None:
    left = made.expires_at - timezone.now()
    assert timedelta(hours=71, minutes=50) < left <= timedelta(hours=72)


def test_the_link_of_a_closed_account_opens_nothing(people: Cast, made: MadeInvitation) -> None:
    Person.objects.filter(pk=people.bob.pk).update(is_active=False)
    with pytest.raises(NotFoundError):
        invitation_open(secret(made))


@pytest.mark.parametrize("guess", ["", "x", "a" * 43, "a" * 100_000, "a\0b", "\U0001f600"])
def test_a_guess_opens_nothing(made: MadeInvitation, guess: str) -> None:
    with pytest.raises(NotFoundError):
        invitation_open(guess)


def test_a_password_that_is_not_taken_says_every_reason_and_keeps_the_link(made: MadeInvitation) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        invitation_use(secret=secret(made), password="password", repeated="passwort")
    assert [problem.pointer for problem in caught.value.problems] == ["password", "password", "repeated"]
    assert invitation_open(secret(made)).person == made.person


def test_only_a_digest_is_stored(made: MadeInvitation) -> None:
    row = Invitation.objects.values().get()
    assert secret(made) not in str(row)


def test_making_and_using_are_entries(people: Cast, made: MadeInvitation) -> None:
    invitation_use(secret=secret(made), password=NEW, repeated=NEW)
    newest = AuditEntry.objects.filter(workspace=people.workspace).order_by("-seq").values_list("action", "actor_token")
    assert list(newest[:2]) == [("roster.link_used", people.bob.token), ("roster.link_made", "")]
