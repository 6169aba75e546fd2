"""Keep drafts of documents on the server: rows that change and go, so without triggers."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0004_intake_receipt"),
    ]

    operations = [
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("contract", "Contract"), ("evidence", "Evidence")], max_length=16)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("slot", models.CharField(blank=True, max_length=128)),
                ("body", models.BinaryField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("made_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="drafts", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="drafts", to="reviews.workspace"
                    ),
                ),
            ],
            options={
                "ordering": ("-changed_at", "-id"),
                "indexes": [models.Index(fields=["workspace", "person", "kind"], name="draft_by_owner")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["contract", "evidence"])), name="draft_kind_known"
                    ),
                    models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="draft_version_counts"),
                ],
            },
        ),
    ]
