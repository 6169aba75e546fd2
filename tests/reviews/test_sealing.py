"""Secrets that the database keeps lie sealed, under keys that can be changed."""

from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from pytest_django.fixtures import Settings

from reviews.models import Webhook
from reviews.sealing import FACTORS, WEBHOOKS, SealBrokenError, seal, unseal
from reviews.services.webhook_messages import webhook_tell
from reviews.webhook_call import CallRefusedError
from tests.reviews.factories import Cast

SECRET = "whsec_of-somebody"


def test_what_was_sealed_for_one_purpose_opens_for_no_other() -> None:
    sealed = seal(SECRET, WEBHOOKS)
    assert (unseal(sealed, WEBHOOKS), SECRET in sealed) == (SECRET, False)
    with pytest.raises(SealBrokenError):
        unseal(sealed, FACTORS)


def test_an_earlier_key_opens_while_it_is_a_fallback(settings: Settings) -> None:
    sealed, earlier = seal(SECRET, WEBHOOKS), settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-key-entirely-of-decent-length", [earlier]
    assert unseal(sealed, WEBHOOKS) == SECRET
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(SealBrokenError):
        unseal(sealed, WEBHOOKS)


@pytest.fixture
def webhook(people: Cast) -> Webhook:
    return Webhook.objects.create(
        workspace=people.workspace,
        url="https://hooks.example.org/",
        secret=SECRET,
        made_by=people.alice,
        made_at=timezone.now(),
    )


def stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM reviews_webhook")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db
def test_the_secret_of_a_webhook_lies_sealed(webhook: Webhook) -> None:
    assert (Webhook.objects.get().secret, SECRET in stored()) == (SECRET, False)


@pytest.mark.django_db
def test_a_secret_that_no_key_opens_signs_nothing(webhook: Webhook, settings: Settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-key-entirely-of-decent-length", []
    with pytest.raises(CallRefusedError, match="SECRET_KEY changed"):
        webhook_tell(webhook.deliveries.model(webhook=Webhook.objects.get()))


@pytest.mark.django_db
def test_secrets_of_before_are_sealed_and_opened_again(webhook: Webhook) -> None:
    migration = import_module("reviews.migrations.0018_seal_webhook_secrets")
    earlier = MigrationExecutor(connection).loader.project_state(("reviews", "0017_exports")).apps
    earlier.get_model("reviews", "Webhook").objects.update(secret=SECRET)
    assert stored() == SECRET
    migration.seal_secrets(earlier, None)
    assert (Webhook.objects.get().secret, SECRET in stored()) == (SECRET, False)
    migration.open_secrets(earlier, None)
    assert stored() == SECRET
