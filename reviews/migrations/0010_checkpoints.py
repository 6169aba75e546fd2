"""Keep the Merkle tree over each log, and the checkpoints signed over it, in tables that only grow."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")
NEW_TABLES = ("reviews_checkpoint", "reviews_logtile")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the new tables."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in NEW_TABLES:
        for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
            schema_editor.execute(statement.format(table=table), params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0009_review_bases"),
    ]

    operations = [
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField(max_length=32)),
                ("key", models.CharField(max_length=256)),
                ("note", models.BinaryField()),
                ("signed_at", models.DateTimeField()),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="checkpoints", to="reviews.workspace"
                    ),
                ),
            ],
            options={
                "ordering": ("workspace", "size", "pk"),
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "size", "key"), name="checkpoint_once"),
                    models.CheckConstraint(condition=models.Q(("size__gte", 1)), name="checkpoint_of_entries"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LogTile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.PositiveSmallIntegerField()),
                ("index", models.BigIntegerField()),
                ("hashes", models.BinaryField()),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="log_tiles", to="reviews.workspace"
                    ),
                ),
            ],
            options={
                "ordering": ("workspace", "level", "index"),
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "level", "index"), name="log_tile_once"),
                    models.CheckConstraint(condition=models.Q(("index__gte", 0)), name="log_tile_from_zero"),
                ],
            },
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
