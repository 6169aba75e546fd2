"""Every address that takes a form: what one request of it writes in the log, and that no address is left out.

The addresses come from the tables of the server itself: whatever does not turn a form away is in a table of ``writes``,
or the first test names it. Each row is carried out for real, and taken back before the next.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

from reviews.models import AuditEntry
from tests.reviews.factories import Cast, planned
from tests.reviews.rules.board import board
from tests.web.accounts import PASSWORD
from tests.web.writes import ACTS, NO_ACTS, Row, browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(db: None, settings: Any) -> Cast:
    """A board with one decision in review, on a server with webhooks, where everybody has a password."""
    settings.WEBHOOK_HOSTS = ["hooks.example.org"]
    people = board()
    planned(people)
    people.bob.set_password(PASSWORD)
    people.bob.save()
    return people


def addresses(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if str(pattern.pattern) != "api/v1/":
                yield from addresses(pattern.url_patterns)
        else:
            yield pattern


NAMED: dict[str, Any] = {
    "slug": "lab",
    "login": "bob-lab",
    "digest": "sha256:" + "00" * 32,
    "suffix": "json",
    "table": "values",
    "kind": "contract",
    "step": "model",
    "file": "0" * 16,
    "secret": "x",
    "provider_id": "oidc",
    "name": "launch.sh",
}


def takes_forms(pattern: URLPattern, client: Client) -> bool:
    """Whether an address answers a form with anything but that it takes none."""
    for table in ("values", "steps"):
        for suffix in ("json", "csv", "sh"):
            words = {**NAMED, "table": table, "suffix": suffix}
            names = [*pattern.pattern.converters, *pattern.pattern.regex.groupindex]
            try:
                address = reverse(str(pattern.name), kwargs={name: words.get(name, 1) for name in names})
            except NoReverseMatch as error:
                problem = error
                continue
            return client.post(address).status_code != 405
    raise problem


def test_every_address_that_takes_a_form_is_in_a_table_of_this_file(people: Cast) -> None:
    taking = set()
    for pattern in addresses(get_resolver().url_patterns):
        with transaction.atomic():
            if takes_forms(pattern, browser("ada")):
                taking.add(pattern.name)
            transaction.set_rollback(True)
    known = ACTS.keys() | NO_ACTS.keys()
    assert (taking - known, known - taking) == (set(), set())


def written(people: Cast, name: str, row: Row) -> tuple[str, ...]:
    """Carry out a row, take it back, and return the actions of the entries that its request wrote."""
    with transaction.atomic():
        client, args, form = row[0](people)
        before = AuditEntry.objects.latest("pk").pk
        answer = client.post(reverse(name, args=args), form)
        found = tuple(AuditEntry.objects.filter(pk__gt=before).order_by("pk").values_list("action", flat=True))
        assert answer.status_code < 500, name
        transaction.set_rollback(True)
    return found


def test_every_act_writes_its_entry_and_no_other(people: Cast) -> None:
    assert {name: written(people, name, row) for name, row in ACTS.items()} == {
        name: actions for name, (_, actions) in ACTS.items()
    }


def test_what_is_no_act_writes_none(people: Cast) -> None:
    assert {name: written(people, name, row) for name, row in NO_ACTS.items()} == dict.fromkeys(NO_ACTS, ())
