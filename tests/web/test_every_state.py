"""Decisions in every state: what their page of acts offers is not refused, what it does not offer is."""

from html.parser import HTMLParser

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from reviews.models import AuditEntry
from reviews.policies.transitions import FINAL
from tests.reviews.every_state import in_every_state, numbers
from tests.reviews.factories import Cast
from tests.reviews.logins import log_in
from tests.reviews.rules.board import someone
from tests.stage import Maker
from tests.web.test_access import PAGES

pytestmark = pytest.mark.django_db

MEMBERS = ("alice", "amy", "bob", "dave", "erin", "ivan", "ada", "audrey")
TYPED = {"date": "2026-12-20", "number": "24", "hidden": "", "text": "INC-9"}
FULL = {"failing_gates": "throughput"}
"""Fields that the page leaves to the reader, as somebody fills them in."""


@pytest.fixture(scope="module")
def casting() -> Maker:
    return in_every_state


class Forms(HTMLParser):
    """The forms of a page that are sent: what each sends by its button, and whether it is off."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str], bool]] = []
        self._fields: dict[str, str] | None = None
        self._is_off = False
        self._select = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form" and given.get("method") == "post" and "action" not in given:
            self._fields, self._is_off = {}, False
        elif self._fields is not None:
            self._is_off = self._is_off or (tag == "fieldset" and "disabled" in given)
            self._in_form(tag, given, self._fields)

    def _in_form(self, tag: str, given: dict[str, str], fields: dict[str, str]) -> None:
        name = given.get("name", "")
        if tag == "select":
            self._select = name
        elif tag == "option":
            fields.setdefault(self._select, given["value"])
        elif tag in ("input", "textarea"):
            value = given.get("value") or FULL.get(name) or TYPED.get(given.get("type", ""), "Because of the fans.")
            fields.setdefault(name, value)
        elif tag == "button":
            self.found.append((fields | ({name: given["value"]} if name else {}), self._is_off))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._fields = None


def sent(client: Client, path: str, fields: dict[str, str]) -> tuple[int, str]:
    """Send a form and take back what it did; return the status, and what was refused in the words of the log."""
    with transaction.atomic():
        before = AuditEntry.objects.latest("pk").pk
        status = client.post(path, fields).status_code
        entry = AuditEntry.objects.filter(pk__gt=before, action__endswith="refused").last()
        said = bytes(entry.data).decode() if entry else ""
        transaction.set_rollback(True)
    return status, said


@pytest.mark.parametrize("who", MEMBERS)
def test_what_is_offered_is_not_refused_for_who_one_is_and_what_is_off_is(who: str, people: Cast) -> None:
    client, wrong = log_in(Client(), someone(who)), []
    for state, number in numbers().items():
        if state in FINAL[1:]:  # one of them stands for all
            continue
        path = f"/w/lab/decisions/{number}/release/"
        page = Forms()
        page.feed(client.get(path).content.decode())
        for fields, is_off in page.found:
            status, said = sent(client, path, fields)
            if (is_off and status == 302) or (not is_off and status in (403, 409)):
                wrong.append((state, fields["act"], "off" if is_off else "on", status, said))
    assert wrong == []


OF_A_DECISION = [name for name, args in PAGES.items() if args[:2] == ["lab", 1] and name.startswith("decision-")]


def test_no_page_of_a_decision_fails_in_any_state(people: Cast) -> None:
    """Members take turns: each reads every state and every page, not each page in each state."""
    readers = [log_in(Client(), someone(who)) for who in MEMBERS]
    found = {}
    for turn, (state, number) in enumerate(numbers().items()):
        for page, name in enumerate(OF_A_DECISION, turn):
            answer = readers[page % len(readers)].get(reverse(name, args=["lab", number]))
            if answer.status_code != 200:
                found[state, name] = answer.status_code
    assert found == {}
