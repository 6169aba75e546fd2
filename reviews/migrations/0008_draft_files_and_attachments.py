"""Keep the files of drafts, which go with them, and attachments of evidence, in tables that only grow."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")
NEW_TABLES = ("reviews_attachment", "reviews_attachmentpiece")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the tables that only grow."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in NEW_TABLES:
        for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
            schema_editor.execute(statement.format(table=table), params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0007_accounts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("sha256", models.CharField(max_length=71)),
                ("size_bytes", models.BigIntegerField()),
                ("uploaded_sha256", models.CharField(max_length=71)),
                ("uploaded_bytes", models.BigIntegerField()),
                ("removed", models.JSONField(default=dict)),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attachments",
                        to="reviews.storeddocument",
                    ),
                ),
            ],
            options={
                "ordering": ("document", "name", "id"),
            },
        ),
        migrations.CreateModel(
            name="AttachmentPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "attachment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="pieces", to="reviews.attachment"
                    ),
                ),
                (
                    "blob",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"),
                ),
            ],
            options={
                "ordering": ("attachment", "number"),
            },
        ),
        migrations.CreateModel(
            name="DraftFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("sha256", models.CharField(max_length=71)),
                ("size_bytes", models.BigIntegerField()),
                ("uploaded_sha256", models.CharField(max_length=71)),
                ("uploaded_bytes", models.BigIntegerField()),
                ("removed", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("arriving", "Arriving"),
                            ("waiting", "Waiting to be read"),
                            ("reading", "Being read"),
                            ("read", "Read"),
                            ("unknown", "Not recognised"),
                        ],
                        max_length=16,
                    ),
                ),
                ("reading", models.BinaryField(null=True)),
                ("added_at", models.DateTimeField()),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("lease_token", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("woken_at", models.DateTimeField(null=True)),
                ("bytes_done", models.BigIntegerField(default=0)),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="files", to="reviews.draft"
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="DraftPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=71)),
                ("data", models.BinaryField()),
                (
                    "file",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pieces", to="reviews.draftfile"
                    ),
                ),
            ],
            options={
                "ordering": ("file", "number"),
            },
        ),
        migrations.AddIndex(
            model_name="attachment",
            index=models.Index(fields=["sha256"], name="attachment_by_digest"),
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.UniqueConstraint(fields=("document", "sha256"), name="attachment_once"),
        ),
        migrations.AddConstraint(
            model_name="attachmentpiece",
            constraint=models.UniqueConstraint(fields=("attachment", "number"), name="attachment_piece_once"),
        ),
        migrations.AddIndex(
            model_name="draftfile",
            index=models.Index(fields=["state", "woken_at"], name="draft_file_by_state"),
        ),
        migrations.AddConstraint(
            model_name="draftfile",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "arriving"), _negated=True),
                fields=("draft", "sha256"),
                name="draft_file_bytes_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="draftfile",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["arriving", "waiting", "reading", "read", "unknown"])),
                name="draft_file_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="draftfile",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_token__isnull", False), ("lease_until__isnull", False), ("state", "reading")),
                    models.Q(
                        models.Q(("state", "reading"), _negated=True),
                        ("lease_token__isnull", True),
                        ("lease_until__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="draft_file_lease_while_reading",
            ),
        ),
        migrations.AddConstraint(
            model_name="draftpiece",
            constraint=models.UniqueConstraint(fields=("file", "number"), name="draft_piece_once"),
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
