"""Erasing a person: their name is nowhere any more, what they did is, and the log holds."""

import io
import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import AuditEntry, CommentDraft, Export, ExportPiece, Membership, NoticePreference, Person, SignOff
from reviews.selectors.log import audit_rows
from reviews.selectors.threads import discussion
from reviews.services.comment_checks import Written
from reviews.services.erasure import member_erase
from reviews.services.people_roster import Asker, account_close, account_open, member_invite, member_role_set
from reviews.services.saved_views import saved_view_make
from reviews.services.threads import comments_publish
from reviews.services.tokens import token_create
from reviews.verification import verify
from tests.reviews.drafts import begun
from tests.reviews.factories import Cast, last_entry
from tests.reviews.logins import log_in
from tests.reviews.rules.board import TRACE, board, someone
from tests.reviews.rules.everything import state_everything

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

LOGIN, NAME, EMAIL = "bob-lab", "Zoe Quint", "zoe.quint@example.org"


@pytest.fixture
def people(db: None) -> Cast:
    """A board on which bob goes by a name of his own, did one of everything, and left something everywhere."""
    people = board()
    bob = people.bob
    bob.display_name, bob.email = NAME, EMAIL
    bob.save()
    state_everything(people)
    space: dict[str, Any] = {"workspace": people.workspace}
    said = (Written(text=f"What says @{LOGIN}?", kind="trial", name="t-1", team="serving"),)
    comments_publish(actor=people.carol, number=1, comments=said, trace=TRACE, **space)
    token_create(actor=bob, label="laptop", scope="read", days=7, **space)
    saved_view_make(actor=bob, name="of Zoe", query="team=serving", **space)
    NoticePreference.objects.create(person=bob, mode="digest", **space)
    Authenticator.objects.create(user=bob, type="totp", data={"name": NAME})
    AccessAttempt.objects.create(username=LOGIN, ip_address="192.0.2.1", failures_since_start=1)
    draft = CommentDraft.objects.create(
        decision=bob.signoffs.all()[0].revision.decision,
        person=people.carol,
        revision=bob.signoffs.all()[0].revision,
        kind="trial",
        name="t-1",
        text=f"Ask @{LOGIN}.",
        changed_at=bob.created_at,
    )
    assert draft.pk
    begun(people, name="of Alice")
    now = bob.created_at
    export = Export.objects.create(person=people.carol, state="done", asked_at=now, woken_at=now, **space)
    ExportPiece.objects.create(export=export, number=0, data=NAME.encode())
    browser = log_in(Client(), bob)
    browser.get("/w/lab/")
    with pytest.raises(NotAllowedError):
        member_role_set(asker=Asker(person=people.alice, workspace=people.workspace), login=LOGIN, role="admin")
    with pytest.raises(ConflictError, match=NAME):
        member_invite(asker=admin(people), login=LOGIN, name="", email="", role="member")
    return people


def admin(people: Cast) -> Asker:
    return Asker(person=someone("ada"), workspace=people.workspace, trace=TRACE)


def found(*needles: str) -> list[str]:
    """Return every column of the database that holds one of the texts, whatever its case."""
    hits = []
    for model in apps.get_models():
        for row in model._default_manager.values():
            for column, value in row.items():
                text = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
                if any(needle.lower().encode() in text.lower() for needle in needles):
                    hits.append(f"{model.__name__}.{column}")
    return sorted(set(hits))


def test_an_erased_person_is_named_nowhere_and_the_log_holds(people: Cast) -> None:
    assert found(LOGIN, "zoe", "quint") == ["AccessAttempt.username", *FOUND_BEFORE]
    token, head = people.bob.token, verify(people.workspace)
    account_close(asker=admin(people), login=LOGIN)
    erased = member_erase(asker=admin(people), login=LOGIN, repeated=LOGIN)
    assert found(LOGIN, "zoe", "quint", EMAIL) == []
    left = Person.objects.get(token=token)
    assert (left.login, left.salt, left.is_active, left.has_usable_password()) == (erased.login, None, False, False)
    assert (left.display_name, left.email) == (f"Erased person {token[7:15]}", "")
    assert (erased.workspaces, erased.texts_left) == (("lab",), 0)
    after = verify(people.workspace)
    assert (after.holds, after.entries) == (True, head.entries + 2)
    entry = last_entry(people)
    assert (entry["action"], entry["payload"], entry["actor"]) == (
        "person.erased",
        {"person": token},
        someone("ada").token,
    )
    assert not Authenticator.objects.filter(user=left).exists()
    assert not UserSession.objects.filter(user=left).exists()
    assert [row for row in Session.objects.all() if row.get_decoded().get("_auth_user_id") == str(left.pk)] == []


FOUND_BEFORE = [
    "Authenticator.data",
    "CommentDraft.text",
    "ExportPiece.data",
    "Person.display_name",
    "Person.email",
    "Person.login",
    "SavedView.name",
]


def test_no_entry_names_anybody(people: Cast) -> None:
    names = {name for row in Person.objects.all() for name in (row.login, row.display_name, row.email) if name}
    named = re.compile(rf"\b({'|'.join(re.escape(name) for name in sorted(names))})\b")
    entries = AuditEntry.objects.filter(workspace=people.workspace).select_related("payload")
    texts = [bytes(raw).decode() for row in entries for raw in (row.data, row.payload and row.payload.data) if raw]
    assert len(texts) > 60
    assert [found[0] for text in texts if (found := named.search(text))] == []


def test_what_an_erased_person_did_is_shown_under_another_name(people: Cast) -> None:
    signed = SignOff.objects.filter(person=people.bob).count()
    account_close(asker=admin(people), login=LOGIN)
    erased = member_erase(asker=admin(people), login=LOGIN, repeated=LOGIN)
    assert SignOff.objects.filter(person__login=erased.login).count() == signed
    name = f"Erased person {erased.token[7:15]}"
    rows = audit_rows(actor=people.alice, workspace=people.workspace).rows
    assert name in {row.who for row in rows}
    threads = discussion(actor=people.alice, workspace=people.workspace, number=1).threads
    assert f"What says @{erased.login}?" in {comment.text for thread in threads for comment in thread.comments}


def test_only_a_closed_account_is_erased_and_only_once(people: Cast) -> None:
    asker = admin(people)
    with pytest.raises(ConflictError, match="This account is open"):
        member_erase(asker=asker, login=LOGIN, repeated=LOGIN)
    account_close(asker=asker, login=LOGIN)
    with pytest.raises(InvalidRequestError, match="expected bob-lab, found bob"):
        member_erase(asker=asker, login=LOGIN, repeated="bob")
    with pytest.raises(NotAllowedError):
        member_erase(asker=Asker(person=people.alice, workspace=people.workspace), login=LOGIN, repeated=LOGIN)
    erased = member_erase(asker=asker, login=LOGIN, repeated=LOGIN)
    with pytest.raises(ConflictError, match="erased before"):
        member_erase(asker=asker, login=erased.login, repeated=erased.login)
    with pytest.raises(ConflictError, match="Nobody logs in as them again"):
        account_open(asker=asker, login=erased.login)


def test_somebody_who_left_is_erased_on_the_shell_and_named_by_token_where_they_acted(people: Cast) -> None:
    Membership.objects.filter(person=people.alice).delete()
    said = io.StringIO()
    call_command("erase_person", "alice-lab", "--repeat", "alice-lab", stdout=said)
    assert "recorded in the log of: lab" in said.getvalue()
    entry = last_entry(people)
    assert (entry["action"], entry["payload"]) == ("person.erased", {"person": people.alice.token})
    assert found("alice-lab") == []


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param(("bob-lab", "--repeat", "bob"), "--repeat: expected bob-lab, found bob", id="not repeated"),
        pytest.param(("nobody", "--repeat", "nobody"), "There is no account nobody.", id="nobody"),
        pytest.param(("bob-lab", "--repeat", "bob-lab"), "This account is open", id="open"),
    ],
)
def test_the_command_says_why_not(people: Cast, asked: tuple[str, ...], answer: str) -> None:
    with pytest.raises(CommandError, match=answer):
        call_command("erase_person", *asked)


def test_an_admin_erases_on_the_page_of_a_closed_account(people: Cast) -> None:
    browser = log_in(Client(), someone("ada"))
    account_close(asker=admin(people), login=LOGIN)
    assert "Erase the person" in browser.get(f"/w/lab/people/{LOGIN}/").content.decode()
    refused = browser.post(f"/w/lab/people/{LOGIN}/erase", {"login": "other"})
    assert (refused.status_code, "expected bob-lab, found other" in refused.content.decode()) == (422, True)
    done = browser.post(f"/w/lab/people/{LOGIN}/erase", {"login": LOGIN}, follow=True)
    assert "This person was erased. What they did stays." in done.content.decode()
