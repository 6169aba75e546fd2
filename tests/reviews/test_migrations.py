"""What migrations do to the rows that are there."""

from importlib import import_module

import pytest
from django.apps import apps

from reviews.models import ActivationFootprint, Blob, CountedTrial, ReviewBasis, TeamScope
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, example_pair, planned
from tests.reviews.rules.test_rule_10_activation import activate, approved

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


def test_decisions_get_the_owner_of_their_newest_contract(people: Cast) -> None:
    decision = planned(people).decision
    decision.owner = ""
    decision.save(update_fields=["owner"])
    import_module("reviews.migrations.0020_slots").name_owners(apps, None)
    decision.refresh_from_db()
    assert decision.owner == "serving"


def footprints() -> tuple[list[tuple[object, ...]], list[str]]:
    rows = ActivationFootprint.objects.order_by("activation").values_list("activation", "used", "types", "unpriced")
    return list(rows), list(CountedTrial.objects.order_by("pk").values_list("content_id", flat=True))


def test_what_was_put_into_force_before_gets_its_footprint(people: Cast) -> None:
    activate(people, approved(people))
    made = footprints()
    assert [len(part) for part in made] == [1, 1]
    with lifted():
        CountedTrial.objects.all().delete()
        ActivationFootprint.objects.all().delete()
    import_module("reviews.migrations.0020_slots").keep_footprints(apps, None)
    assert footprints() == made


def test_bytes_that_cannot_be_read_give_no_footprint_and_stop_nothing(people: Cast) -> None:
    revision = approved(people)
    activate(people, revision)
    with lifted():
        CountedTrial.objects.all().delete()
        ActivationFootprint.objects.all().delete()
        Blob.objects.filter(pk=revision.contract.blob_id).update(data=b"{")
    import_module("reviews.migrations.0020_slots").keep_footprints(apps, None)
    assert footprints() == ([], [])
