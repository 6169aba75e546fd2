"""Keep the owner of every decision, and of every activation what it takes and which trials it counted.

What was put into force before gets its rows from the stored bytes; where those cannot be read there is none, and pages
say that it is not known. SQLite rebuilds the table of decisions and drops its trigger with it, which is laid again.
"""

import json
from importlib import import_module
from typing import Any

import django.db.models.deletion
import msgspec
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from reviews.planning import decode_plan, footprint_columns, trial_footprint

append_only = import_module("reviews.migrations.0002_append_only")
transitions = import_module("reviews.migrations.0006_reviews_in_full")
NEW_TABLES = ("reviews_activationfootprint", "reviews_countedtrial")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the new tables, and on SQLite that of the rebuilt one."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in NEW_TABLES:
        for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
            schema_editor.execute(statement.format(table=table), params=None)
    if not on_postgresql:
        schema_editor.execute(transitions.SQLITE[0], params=None)


def name_owners(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Read the owner from the contract of every decision's newest revision."""
    revisions = apps.get_model("reviews", "Revision").objects.select_related("contract__blob")
    for decision in apps.get_model("reviews", "Decision").objects.iterator():
        newest = revisions.filter(decision=decision).order_by("-number").first()
        if newest is not None:
            decision.owner = json.loads(bytes(newest.contract.blob.data))["owner"]
            decision.save(update_fields=["owner"])


def keep_footprints(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Give every activation its footprint and the trials that its plan counted."""
    activations = apps.get_model("reviews", "Activation").objects.filter(footprint__isnull=True)
    rows = activations.select_related("revision__contract", "revision__evidence", "revision__planned__plan")
    for row in rows.order_by("pk").iterator():
        try:
            _keep_footprint(apps, row)
        except (msgspec.DecodeError, KeyError):
            continue  # the bytes were changed: verification says so, and a guess would be worse than nothing


def _keep_footprint(apps: Apps, row: Any) -> None:
    blobs = apps.get_model("reviews", "Blob").objects

    def read(sha256: str) -> bytes:
        return bytes(blobs.get(pk=sha256).data)

    revision = row.revision
    plan = decode_plan(read(revision.planned.plan.blob_id))
    found = trial_footprint(
        contract=read(revision.contract.blob_id),
        plan=plan,
        trial=row.trial,
        evidence=lambda: read(revision.evidence.blob_id),
    )
    apps.get_model("reviews", "ActivationFootprint").objects.create(activation=row, **footprint_columns(found))
    counted = apps.get_model("reviews", "CountedTrial")
    counted.objects.bulk_create(
        counted(activation=row, trial=trial, content_id=candidate.trial_content_id)
        for trial, candidate in plan.candidates.items()
    )


def own_id() -> "models.BigAutoField[Any, Any]":
    """Return the key that every table has."""
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("reviews", "0019_observations")]

    operations = [
        migrations.AddField("decision", "owner", models.CharField(default="", max_length=256)),
        migrations.CreateModel(
            name="ActivationFootprint",
            fields=[
                ("id", own_id()),
                ("charge", models.CharField(max_length=8)),
                ("used", models.PositiveIntegerField()),
                ("spares", models.PositiveIntegerField()),
                ("stranded", models.PositiveIntegerField()),
                ("types", models.TextField()),
                ("usd_per_hour", models.TextField(blank=True)),
                ("unpriced", models.TextField(blank=True)),
                (
                    "activation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="footprint", to="reviews.activation"
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(models.Q(("usd_per_hour", ""), _negated=True), ("unpriced", "")),
                            models.Q(("usd_per_hour", ""), models.Q(("unpriced", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="footprint_has_price_or_reason",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CountedTrial",
            fields=[
                ("id", own_id()),
                ("trial", models.CharField(max_length=64)),
                ("content_id", models.CharField(max_length=71)),
                (
                    "activation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="counted_trials",
                        to="reviews.activation",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [
                    models.UniqueConstraint(fields=("content_id", "activation"), name="counted_trial_once")
                ],
            },
        ),
        migrations.AddIndex(
            "identityreport", models.Index(fields=["decision", "id"], name="identity_report_by_decision")
        ),
        migrations.RunPython(lay_triggers, migrations.RunPython.noop),
        migrations.RunPython(name_owners, migrations.RunPython.noop),
        migrations.RunPython(keep_footprints, migrations.RunPython.noop),
    ]
