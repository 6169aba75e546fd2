"""Work out what each team owns in the revisions that were planned before this was kept."""

import json

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from planner.canonical import canonical_bytes, file_sha256
from reviews.policies.document import read_policy
from reviews.policies.scope import evidence_until, team_scopes


def make_bases(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Give every planned revision its basis and the scopes of its teams."""
    blobs = apps.get_model("reviews", "Blob").objects
    planned = apps.get_model("reviews", "PlannedRevision").objects.filter(basis__isnull=True)
    for row in planned.select_related("revision__contract", "revision__policy", "plan").order_by("pk").iterator():
        revision = row.revision
        raw = bytes(blobs.get(pk=row.plan.blob_id).data)
        plan = json.loads(raw)
        basis = apps.get_model("reviews", "ReviewBasis").objects.create(
            planned=row,
            evidence_until=evidence_until(plan),
            rank_map_digest=plan["selected"]["rank_map_digest"] if plan["selected"] else "",
        )
        scopes = team_scopes(
            document=read_policy(bytes(blobs.get(pk=revision.policy.blob_id).data)),
            policy_id=revision.policy.content_id,
            identity=json.loads(bytes(blobs.get(pk=revision.contract.blob_id).data))["identity"],
            plan=raw,
        )
        for scope in scopes:
            data = canonical_bytes(dict(scope.items))
            sha256 = file_sha256(data)
            blobs.get_or_create(pk=sha256, defaults={"size_bytes": len(data), "data": data})
            apps.get_model("reviews", "TeamScope").objects.create(
                basis=basis,
                team=scope.team,
                digest=scope.digest,
                is_touched=scope.is_touched,
                identity_keys=scope.identity_keys,
                gates=scope.gates,
                items_id=sha256,
            )


class Migration(migrations.Migration):
    dependencies = [("reviews", "0008_draft_files_and_attachments")]

    operations = [migrations.RunPython(make_bases, migrations.RunPython.noop)]
