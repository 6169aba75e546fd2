"""Keep threads of comments, and the drafts of comments that only their writer sees."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")
NEW_TABLES = ("reviews_thread", "reviews_comment", "reviews_mention", "reviews_threadresolution")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the new tables."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in NEW_TABLES:
        for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
            schema_editor.execute(statement.format(table=table), params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0010_checkpoints"),
    ]

    operations = [
        migrations.CreateModel(
            name="Thread",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("gate", "Gate"),
                            ("trial", "Trial"),
                            ("rank", "Rank"),
                            ("candidate", "Candidate"),
                            ("identity", "Identity key"),
                            ("contract", "Contract field"),
                        ],
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(max_length=512)),
                ("team", models.CharField(blank=True, max_length=64)),
                ("is_blocking", models.BooleanField()),
                ("opened_at", models.DateTimeField()),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="threads", to="reviews.decision"
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.blob"),
                ),
                (
                    "opener",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="threads", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="threads", to="reviews.revision"
                    ),
                ),
            ],
            options={
                "ordering": ("decision", "number"),
            },
        ),
        migrations.CreateModel(
            name="CommentDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("gate", "Gate"),
                            ("trial", "Trial"),
                            ("rank", "Rank"),
                            ("candidate", "Candidate"),
                            ("identity", "Identity key"),
                            ("contract", "Contract field"),
                        ],
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=512)),
                ("team", models.CharField(blank=True, max_length=64)),
                ("is_blocking", models.BooleanField(default=False)),
                ("text", models.TextField()),
                ("changed_at", models.DateTimeField()),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comment_drafts",
                        to="reviews.decision",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comment_drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.revision"
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drafts",
                        to="reviews.thread",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("entry", models.BigIntegerField()),
                ("posted_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="comments", to="reviews.thread"
                    ),
                ),
            ],
            options={
                "ordering": ("thread", "number"),
            },
        ),
        migrations.CreateModel(
            name="ThreadResolution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField(blank=True)),
                ("resolved_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "thread",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="resolution", to="reviews.thread"
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "comment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="mentions", to="reviews.comment"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="mentions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [models.UniqueConstraint(fields=("comment", "person"), name="mention_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.UniqueConstraint(fields=("decision", "number"), name="thread_number_unique"),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="thread_number_from_one"),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["gate", "trial", "rank", "candidate", "identity", "contract"])),
                name="thread_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="thread_item_named"
            ),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_blocking", False), models.Q(("team", ""), _negated=True), _connector="OR"),
                name="thread_blocks_a_team",
            ),
        ),
        migrations.AddIndex(
            model_name="commentdraft",
            index=models.Index(fields=["decision", "person"], name="comment_draft_by_writer"),
        ),
        migrations.AddConstraint(
            model_name="commentdraft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("is_blocking", False),
                        ("kind", ""),
                        ("name", ""),
                        ("revision__isnull", True),
                        ("thread__isnull", False),
                    ),
                    models.Q(
                        ("kind__in", ["gate", "trial", "rank", "candidate", "identity", "contract"]),
                        ("revision__isnull", False),
                        ("thread__isnull", True),
                        models.Q(("name", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="comment_draft_of_one_thread",
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.UniqueConstraint(fields=("thread", "number"), name="comment_number_unique"),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="comment_number_from_one"),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="comment_text_given"
            ),
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
