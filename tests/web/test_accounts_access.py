"""Every address of accounts and of people: who may open it, with which method, under which policy header."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reviews.models import Person, Role
from reviews.services.people import member_add
from reviews.web import accounts_urls, people_urls
from tests.reviews.factories import Cast
from tests.web.conftest import Visit

OPEN = {
    "account_login",
    "mfa_authenticate",
    "mfa_login_webauthn",
    "openid_connect_login",
    "openid_connect_callback",
    "join",
}
OWN_PAGES: dict[str, int] = {
    "account": 200,
    "account_change_password": 200,
    "account_set_password": 302,
    "account_reauthenticate": 200,
    "mfa_reauthenticate": 302,
    "mfa_reauthenticate_webauthn": 302,
    "mfa_index": 302,
    "mfa_list_webauthn": 302,
    "mfa_activate_totp": 200,
    "app-picture": 200,
    "mfa_deactivate_totp": 404,
    "mfa_add_webauthn": 200,
    "mfa_view_recovery_codes": 404,
    "mfa_generate_recovery_codes": 200,
}
"""Address and what somebody with a password alone gets there."""
OWN_OF_ONE: dict[str, list[Any]] = {"mfa_remove_webauthn": [1]}
OWN_POSTS: dict[str, list[Any]] = {"session-end": [1], "sessions-end": [], "other-login-unlink": []}
PEOPLE_PAGES: dict[str, list[Any]] = {"people": ["lab"], "person": ["lab", "bob-lab"]}
PEOPLE_POSTS: dict[str, list[Any]] = {
    "person-invite": ["lab"],
    "person-role": ["lab", "bob-lab"],
    "person-seats": ["lab", "bob-lab"],
    "person-link": ["lab", "bob-lab"],
    "person-close": ["lab", "bob-lab"],
    "person-open": ["lab", "bob-lab"],
    "person-erase": ["lab", "bob-lab"],
    "person-remove": ["lab", "bob-lab"],
}
OWN = {name: [] for name in OWN_PAGES} | OWN_OF_ONE | OWN_POSTS
READ = {name: OWN[name] for name in OWN_PAGES} | OWN_OF_ONE | PEOPLE_PAGES
POSTS = OWN_POSTS | PEOPLE_POSTS


@pytest.fixture
def admin(people: Cast) -> Person:
    """Somebody who keeps the people of the workspace."""
    olga = Person.objects.create_user("olga", "a-long-password", display_name="Olga")
    member_add(workspace=people.workspace, person=olga, role=Role.ADMIN)
    return olga


def test_every_address_is_in_a_table_of_this_file() -> None:
    assert {pattern.name for pattern in accounts_urls.OPEN} == OPEN
    assert {pattern.name for pattern in accounts_urls.OWN} == OWN.keys()
    assert {pattern.name for pattern in people_urls.urlpatterns} == PEOPLE_PAGES.keys() | PEOPLE_POSTS.keys()


@pytest.mark.parametrize("name", READ)
def test_a_stranger_is_sent_to_the_login(name: str, people: Cast, client: Client) -> None:
    answer = client.get(reverse(name, args=READ[name]))
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/login")


@pytest.mark.parametrize("name", POSTS)
def test_a_form_of_a_stranger_changes_nothing(name: str, people: Cast, client: Client) -> None:
    answer = client.post(reverse(name, args=POSTS[name]))
    assert (answer.status_code, "You are not logged in any more" in answer.content.decode()) == (403, True)


@pytest.mark.parametrize("name", POSTS)
def test_acts_need_a_form(name: str, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(reverse(name, args=POSTS[name])).status_code == 405


@pytest.mark.parametrize("name", [*POSTS, "account_reauthenticate", "account_change_password", "mfa_add_webauthn"])
def test_a_form_without_its_token_is_refused(name: str, people: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.alice, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.post(reverse(name, args=(OWN | POSTS)[name]), {})
    assert (answer.status_code, "The form is too old" in answer.content.decode()) == (403, True)


@pytest.mark.parametrize("name", ["account_login", "mfa_login_webauthn"])
def test_a_login_without_the_token_of_its_form_is_refused(name: str, db: None) -> None:
    assert Client(enforce_csrf_checks=True).post(reverse(name), {}).status_code == 403


@pytest.mark.parametrize("name", ["account_change_password", "account_set_password"])
def test_somebody_without_a_proof_is_told_to_log_in_again(name: str, people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).get(reverse(name), follow=True)
    assert (answer.status_code, "Log out, log in again, and come back at once." in answer.content.decode()) == (
        403,
        True,
    )


@pytest.mark.parametrize("name", OWN_PAGES)
def test_pages_about_oneself(name: str, people: Cast, visit: Visit) -> None:
    people.bob.set_password("a-long-password")
    people.bob.save()
    answer = visit(people.bob).get(reverse(name))
    assert answer.status_code == OWN_PAGES[name]
    assert answer.status_code == 404 or "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("name", [name for name, status in OWN_PAGES.items() if status == 200] + [*PEOPLE_PAGES])
def test_every_page_carries_the_policy(name: str, people: Cast, visit: Visit) -> None:
    people.bob.set_password("a-long-password")
    people.bob.save()
    policy = visit(people.bob).get(reverse(name, args=READ[name]))["Content-Security-Policy"]
    assert "script-src 'self';" in f"{policy};"
    assert "form-action 'self';" in f"{policy};"


@pytest.mark.parametrize("name", PEOPLE_PAGES)
@pytest.mark.parametrize("who", ["alice", "bob", "audrey"])
def test_every_member_reads_who_is_there(name: str, who: str, people: Cast, visit: Visit) -> None:
    answer = visit(getattr(people, who)).get(reverse(name, args=PEOPLE_PAGES[name]))
    assert (answer.status_code, "btn-primary" in answer.content.decode()) == (200, False)


@pytest.mark.parametrize("name", PEOPLE_PAGES | PEOPLE_POSTS)
def test_somebody_outside_the_workspace_learns_nothing(name: str, people: Cast, visit: Visit) -> None:
    browser = visit(people.charlie)
    address = reverse(name, args=(PEOPLE_PAGES | PEOPLE_POSTS)[name])
    answer = browser.post(address) if name in PEOPLE_POSTS else browser.get(address)
    assert (answer.status_code, "Bob" in answer.content.decode()) == (404, False)


@pytest.mark.parametrize("name", PEOPLE_POSTS)
@pytest.mark.parametrize("who", ["alice", "bob", "audrey"])
def test_only_admins_change_people(name: str, who: str, people: Cast, visit: Visit) -> None:
    answer = visit(getattr(people, who)).post(reverse(name, args=PEOPLE_POSTS[name]), {"role": "admin"})
    assert (answer.status_code, "needs the role admin" in answer.content.decode()) == (403, True)


@pytest.mark.parametrize("name", PEOPLE_POSTS)
def test_an_admin_of_another_workspace_changes_nobody_here(
    name: str, admin: Person, people: Cast, visit: Visit
) -> None:
    people.workspace.memberships.filter(person=admin).delete()
    answer = visit(admin).post(reverse(name, args=PEOPLE_POSTS[name]), {"role": "admin"})
    assert answer.status_code == 404
