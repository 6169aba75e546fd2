"""What migrations do to the rows that are there."""

from importlib import import_module

import pytest
from django.apps import apps

from reviews.models import ReviewBasis, TeamScope
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.django_db


def test_decisions_get_the_model_and_engine_of_their_newest_contract(people: Cast) -> None:
    decision = planned(people, pair=example_pair()).decision
    decision.model_name = decision.engine_name = ""
    decision.save(update_fields=["model_name", "engine_name"])
    import_module("reviews.migrations.0003_decision_model_and_engine").name_identities(apps, None)
    decision.refresh_from_db()
    assert (decision.model_name, decision.engine_name) == ("example/synthetic-moe-64b", "closed-demo-engine")


def test_revisions_planned_before_get_the_scopes_of_their_teams(people: Cast) -> None:
    revision = planned(people)
    made = list(TeamScope.objects.order_by("team").values_list("team", "digest", "is_touched", "items_id"))
    with lifted():
        TeamScope.objects.all().delete()
        ReviewBasis.objects.all().delete()
    import_module("reviews.migrations.0009_review_bases").make_bases(apps, None)
    assert list(TeamScope.objects.order_by("team").values_list("team", "digest", "is_touched", "items_id")) == made
    assert ReviewBasis.objects.get().planned_id == revision.planned.pk
