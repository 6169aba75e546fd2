"""Seal the secrets of webhooks, which lay in the database as they are."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import reviews.models.fields
from reviews.sealing import WEBHOOKS, seal, unseal


def seal_secrets(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Seal every secret under the present key."""
    for webhook in apps.get_model("reviews", "Webhook").objects.order_by("pk"):
        webhook.secret = seal(webhook.secret, WEBHOOKS)
        webhook.save(update_fields=["secret"])


def open_secrets(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Lay the secrets open again."""
    for webhook in apps.get_model("reviews", "Webhook").objects.order_by("pk"):
        webhook.secret = unseal(webhook.secret, WEBHOOKS)
        webhook.save(update_fields=["secret"])


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0017_exports"),
    ]

    operations = [
        migrations.AlterField(model_name="webhook", name="secret", field=models.TextField()),
        migrations.RunPython(seal_secrets, open_secrets, elidable=False),
        migrations.AlterField(
            model_name="webhook",
            name="secret",
            field=reviews.models.fields.SealedField(purpose="topogate webhooks"),
        ),
    ]
