"""Keep what intake found out about evidence, in a table that only grows."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the table's triggers."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
        schema_editor.execute(statement.format(table="reviews_intakereceipt"), params=None)


class Migration(migrations.Migration):
    dependencies = [("reviews", "0003_decision_model_and_engine")]

    operations = [
        migrations.CreateModel(
            name="IntakeReceipt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "blob",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="receipts",
                        to="reviews.storeddocument",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [models.UniqueConstraint(fields=("document", "blob"), name="receipt_once")],
            },
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
