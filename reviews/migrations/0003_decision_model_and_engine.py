"""Keep the model and the engine that a decision's newest contract names, so that a list can be filtered by them."""

import json

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_identities(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Read both names from the contract of every decision's newest revision."""
    revisions = apps.get_model("reviews", "Revision").objects.select_related("contract__blob")
    for decision in apps.get_model("reviews", "Decision").objects.iterator():
        newest = revisions.filter(decision=decision).order_by("-number").first()
        if newest is not None:
            identity = json.loads(bytes(newest.contract.blob.data))["identity"]
            decision.model_name = identity["model"]["name"]
            decision.engine_name = identity["stack"]["engine"]["name"]
            decision.save(update_fields=["model_name", "engine_name"])


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_append_only")]

    operations = [
        migrations.AddField("decision", "model_name", models.CharField(default="", max_length=256)),
        migrations.AddField("decision", "engine_name", models.CharField(default="", max_length=256)),
        migrations.RunPython(name_identities, migrations.RunPython.noop),
    ]
