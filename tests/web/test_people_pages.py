"""The pages of people and teams, and the page behind a link."""

import re

import pytest
from django.test import Client

from reviews.models import Person, Role
from reviews.services.people import member_add
from tests.queries import cost
from tests.reviews.factories import Cast
from tests.web.accounts import PASSWORD
from tests.web.conftest import Visit


@pytest.fixture
def admin(people: Cast) -> Person:
    olga = Person.objects.create_user("olga", PASSWORD, display_name="Olga")
    member_add(workspace=people.workspace, person=olga, role=Role.ADMIN)
    return olga


def invite(browser: Client, **typed: str) -> str:
    whole = {"login": "eve", "name": "Eve", "email": "", "role": "member"} | typed
    return str(browser.post("/w/lab/people/invite", whole).content.decode())


def link_of(page: str) -> str:
    [link] = set(re.findall(r"http://localhost:8000(/join/[\w-]{43})", page))
    return str(link)


def test_people_and_teams_are_listed_with_role_and_seat(people: Cast, visit: Visit) -> None:
    shown = visit(people.alice).get("/w/lab/people/").content.decode()
    assert ("Invite somebody" in shown, '<td class="tbl-c">Auditor</td>' in shown) == (False, True)
    assert re.search(r"Serving</th>.*none.*Bob</a>, .*Dave</a>", shown, re.DOTALL)


def test_an_invited_person_sets_a_password_and_logs_in(people: Cast, admin: Person, visit: Visit) -> None:
    link = link_of(invite(visit(admin)))
    eve = Client()
    shown = eve.get(link).content.decode()
    assert ('your login is <strong class="mono">eve</strong>' in shown, "Lab" in shown) == (True, True)
    answer = eve.post(link, {"password": PASSWORD, "repeated": PASSWORD})
    assert answer["Location"] == "/login"
    assert "Your password is set. Log in with it." in eve.get("/login").content.decode()
    assert eve.post("/login", {"login": "eve", "password": PASSWORD})["Location"] == "/"
    assert eve.get("/w/lab/").status_code == 200
    assert eve.get(link).status_code == 404


def test_a_link_stands_on_one_answer_alone(people: Cast, admin: Person, visit: Visit) -> None:
    browser = visit(admin)
    link = link_of(invite(browser))
    assert link not in browser.get("/w/lab/people/").content.decode()
    assert link not in browser.get("/w/lab/people/eve/").content.decode()


def test_a_refused_invitation_keeps_what_was_typed(people: Cast, admin: Person, visit: Visit) -> None:
    shown = invite(visit(admin), login="Eve!", name="Eve", email="nowhere")
    assert "login: expected 1 to 40 lower-case letters, digits and hyphens, found Eve!." in shown
    assert "email: expected an address such as ada@example.org, or nothing, found nowhere." in shown
    assert ('value="Eve!"' in shown, 'value="nowhere"' in shown) == (True, True)


def test_a_password_that_is_not_taken_says_why_and_the_link_stays(people: Cast, admin: Person, visit: Visit) -> None:
    link = link_of(invite(visit(admin)))
    answer = Client().post(link, {"password": "short", "repeated": "shorter"})
    assert answer.status_code == 422
    assert "This password is too short" in answer.content.decode()
    assert Client().get(link).status_code == 200


def test_an_admin_gives_a_role_and_seats(people: Cast, admin: Person, visit: Visit) -> None:
    browser = visit(admin)
    browser.post("/w/lab/people/alice-lab/role", {"role": "member"})
    browser.post("/w/lab/people/alice-lab/seats", {"seat-serving": "lead", "seat-networking": "none"})
    shown = browser.get("/w/lab/people/alice-lab/").content.decode()
    assert ("Member: reads and comments" in shown, "Serving, lead" in shown) == (True, True)
    assert "The seats are changed." in shown


def test_what_is_refused_is_said_on_the_page_of_the_person(people: Cast, admin: Person, visit: Visit) -> None:
    answer = visit(admin).post("/w/lab/people/audrey-lab/seats", {"seat-serving": "member"})
    assert (answer.status_code, "Auditors never sign, so they hold no seat." in answer.content.decode()) == (409, True)


def test_an_admin_sees_no_form_for_themselves(people: Cast, admin: Person, visit: Visit) -> None:
    shown = visit(admin).get("/w/lab/people/olga/").content.decode()
    assert ("You cannot change your own place." in shown, "Change the role" in shown) == (True, False)


def test_a_lost_password_is_a_new_link_and_ends_every_session(people: Cast, admin: Person, visit: Visit) -> None:
    bob = Client()
    people.bob.set_password(PASSWORD)
    people.bob.save()
    bob.post("/login", {"login": "bob-lab", "password": PASSWORD})
    link = link_of(visit(admin).post("/w/lab/people/bob-lab/link").content.decode())
    assert bob.get("/account/").status_code == 200
    Client().post(link, {"password": "another-password", "repeated": "another-password"})
    assert bob.get("/account/").status_code == 302


def test_people_take_the_same_queries_however_many_they_are(people: Cast, admin: Person, visit: Visit) -> None:
    browser = visit(admin)
    few = cost(browser, "/w/lab/people/")
    for number in range(20):
        somebody = Person.objects.create_user(f"p-{number}", display_name=f"P {number}")
        member_add(workspace=people.workspace, person=somebody, role=Role.MEMBER)
    assert cost(browser, "/w/lab/people/") == few
