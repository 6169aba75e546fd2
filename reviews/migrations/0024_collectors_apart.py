"""Keep what collectors say apart, and days beside their hours; a collector is one of a person."""

import zlib

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_no_source(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write stored roll-ups as those of which nobody knows any more who said them."""
    roll_ups = apps.get_model('reviews', 'ObservationRollUp')
    for row in roll_ups.objects.iterator(chunk_size=64):
        rows = zlib.decompress(bytes(row.data))
        roll_ups.objects.filter(pk=row.pk).update(data=zlib.compress(b'[["",' + rows + b']]', 1))


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0023_diagnoses'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='observationsource',
            name='observation_source_once',
        ),
        migrations.AddConstraint(
            model_name='observationsource',
            constraint=models.UniqueConstraint(fields=('feed', 'name', 'person'), name='observation_source_once'),
        ),
        migrations.AddIndex(
            model_name='observationsource',
            index=models.Index(fields=['ended_at'], name='observation_source_by_end'),
        ),
        migrations.AlterModelOptions(
            name='observationsource',
            options={'ordering': ('feed', 'name', 'person')},
        ),
        migrations.RemoveField(
            model_name='observationfeed',
            name='sources_count',
        ),
        migrations.AddField(
            model_name='observationspan',
            name='in_day',
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(name_no_source, migrations.RunPython.noop),
    ]
