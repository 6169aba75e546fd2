"""Every form with one field made worse at a time: an answer in words, and never an error of the server."""

from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse

from tests.reviews.factories import Cast
from tests.web.test_every_write import people  # noqa: F401 - a fixture
from tests.web.writes import ACTS, NO_ACTS

pytestmark = pytest.mark.django_db

FORMS = {**ACTS, **NO_ACTS}
WORSE: list[Any] = ["", "a\0b", "\u202eno", "9" * 5000, "\u0661", "9999-12-31T23:59:59-23:59", ["a", "b"]]


@pytest.mark.parametrize("name", FORMS)
def test_a_worse_form_is_no_error_of_the_server(name: str, people: Cast) -> None:  # noqa: F811 - the fixture
    client, args, form = FORMS[name][0](people)
    client.raise_request_exception = False
    for field in [*form, "next", "version"]:
        for value in WORSE:
            for kept in form.get("files", ()):
                kept.seek(0)
            with transaction.atomic():
                answer = client.post(reverse(name, args=args), {**form, field: value})
                transaction.set_rollback(True)
            assert answer.status_code < 500, (field, value, getattr(answer, "exc_info", None))
