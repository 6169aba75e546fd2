"""Every form that takes one person's act, sent twice in a row as by a double click: it is done once.

What is done once is what one request of it writes in the log; the second answer leads where the first led, or shows
what the first showed.
"""

from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse

from reviews.models import AuditEntry
from reviews.web.release import ACTS as RELEASE_ACTS
from tests.reviews.factories import Cast
from tests.web.second_acts import RELEASES, SECOND_ACTS
from tests.web.test_every_write import people as people  # the same board
from tests.web.writes import ACTS, NO_ACTS, Row

pytestmark = pytest.mark.django_db

CARRIED = {"csrfmiddlewaretoken": "0" * 64, "once": "one-showing"}
"""What a page writes into its form beside its fields."""
EVERY = {**ACTS, **NO_ACTS, **SECOND_ACTS}
Answer = tuple[int, str | None, tuple[str, ...]]


def rewound(form: dict[str, Any]) -> dict[str, Any]:
    """The same form again, with its files from their first byte."""
    for value in form.values():
        for part in value if isinstance(value, list) else [value]:
            if hasattr(part, "seek"):
                part.seek(0)
    return form


def twice(people: Cast, name: str, row: Row) -> tuple[Answer, Answer]:
    """Send a row's form twice and take it back; return status, where it leads and the entries of each answer."""
    answers: list[Answer] = []
    with transaction.atomic():
        client, args, form = row[0](people)
        for _ in range(2):
            before = AuditEntry.objects.latest("pk").pk
            answer = client.post(reverse(name.partition(" ")[0], args=args), rewound(form) | CARRIED)
            found = AuditEntry.objects.filter(pk__gt=before).order_by("pk").values_list("action", flat=True)
            answers.append((answer.status_code, answer.headers.get("Location"), tuple(found)))
        transaction.set_rollback(True)
    return answers[0], answers[1]


def test_every_act_of_the_release_page_has_a_row() -> None:
    assert RELEASES.keys() | {"activate"} == RELEASE_ACTS.keys()


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_form_that_is_sent_twice_is_done_once(name: str, people: Cast) -> None:
    first, second = twice(people, name, EVERY[name])
    assert first[2] == EVERY[name][1]
    # What became of files is told once: the second time they are there.
    assert second == ((302, second[1], ()) if name == "builder-files" else (*first[:2], ()))
