"""The page of observations while nothing was put into force: it offers no form whose answer can only be no."""

import pytest
from django.test import Client

from tests.reviews.factories import Cast, planned
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db


def test_no_batch_is_asked_for_before_anything_was_in_force(people: Cast, visit: Visit) -> None:
    planned(people)
    client: Client = visit(people.bob)
    page = client.get("/w/lab/decisions/1/observations/").content.decode()
    assert "Only what was put into force can be observed." in page
    assert "Report a batch" not in page
