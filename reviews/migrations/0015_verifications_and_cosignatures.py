"""Keep what witnesses sign of a log, in a table that only grows, and the verifications that people ask for."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")
NEW_TABLES = ("reviews_cosignature",)


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the new tables."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in NEW_TABLES:
        for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
            schema_editor.execute(statement.format(table=table), params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0014_webhooks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Cosignature",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=256)),
                ("line", models.CharField(max_length=512)),
                ("time", models.BigIntegerField()),
                ("received_at", models.DateTimeField()),
                (
                    "checkpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cosignatures",
                        to="reviews.checkpoint",
                    ),
                ),
            ],
            options={
                "ordering": ("checkpoint", "pk"),
                "constraints": [models.UniqueConstraint(fields=("checkpoint", "key"), name="cosignature_once")],
            },
        ),
        migrations.CreateModel(
            name="Verification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("poisoned", "Given up"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("lease_token", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("woken_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("entries_done", models.BigIntegerField(default=0)),
                ("entries_total", models.BigIntegerField(default=0)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("verified", "Verified"),
                            ("consistent", "Consistent only"),
                            ("broken", "Broken"),
                            ("incomplete", "Incomplete"),
                        ],
                        max_length=16,
                    ),
                ),
                ("headline", models.TextField(blank=True)),
                ("report", models.JSONField(default=dict)),
                ("entries", models.BigIntegerField(null=True)),
                ("head", models.CharField(blank=True, max_length=71)),
                ("bad_seq", models.BigIntegerField(null=True)),
                ("error_detail", models.TextField(blank=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verifications",
                        to="reviews.workspace",
                    ),
                ),
            ],
            options={
                "ordering": ("workspace", "pk"),
                "indexes": [models.Index(fields=["state", "woken_at"], name="verification_by_state")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("queued", "running"))),
                        fields=("workspace",),
                        name="verification_one_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed", "poisoned"])),
                        name="verification_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_token__isnull", False), ("lease_until__isnull", False), ("state", "running")
                            ),
                            models.Q(
                                models.Q(("state", "running"), _negated=True),
                                ("lease_token__isnull", True),
                                ("lease_until__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="verification_lease_while_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), models.Q(("outcome", ""), _negated=True)),
                            models.Q(models.Q(("state", "done"), _negated=True), ("outcome", "")),
                            _connector="OR",
                        ),
                        name="verification_found_when_done",
                    ),
                ],
            },
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
