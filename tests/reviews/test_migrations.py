"""What migrations do to the rows that are there."""

from importlib import import_module

import pytest
from django.apps import apps

from tests.reviews.factories import Cast, planned
from tests.web.conftest import example_pair

pytestmark = pytest.mark.django_db


def test_decisions_get_the_model_and_engine_of_their_newest_contract(people: Cast) -> None:
    decision = planned(people, pair=example_pair()).decision
    decision.model_name = decision.engine_name = ""
    decision.save(update_fields=["model_name", "engine_name"])
    import_module("reviews.migrations.0003_decision_model_and_engine").name_identities(apps, None)
    decision.refresh_from_db()
    assert (decision.model_name, decision.engine_name) == ("example/synthetic-moe-64b", "closed-demo-engine")
