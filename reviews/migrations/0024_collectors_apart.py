"""Keep what collectors say apart, and days beside their hours; a collector is one of a person."""

import json
import zlib

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.migrations.exceptions import IrreversibleError
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_no_source(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write stored roll-ups as those of which nobody knows any more who said them."""
    roll_ups = apps.get_model('reviews', 'ObservationRollUp')
    for row in roll_ups.objects.iterator(chunk_size=64):
        rows = zlib.decompress(bytes(row.data))
        roll_ups.objects.filter(pk=row.pk).update(data=zlib.compress(b'[["",' + rows + b']]', 1))


def merge_nothing(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write roll-ups as those of one collector again, and drop hours that their day holds; refuse where there are more.

    What several collectors said cannot be put together as the version before did it.
    """
    sources, roll_ups = apps.get_model('reviews', 'ObservationSource'), apps.get_model('reviews', 'ObservationRollUp')
    spans = apps.get_model('reviews', 'ObservationSpan').objects
    names = sources.objects.values('feed', 'name').annotate(people=models.Count('person')).filter(people__gt=1)
    rows = ((pk, json.loads(zlib.decompress(bytes(data)))) for pk, data in
            roll_ups.objects.values_list('pk', 'data').iterator(chunk_size=64))
    if names.exists() or any(len(said) != 1 for _, said in rows):
        raise IrreversibleError(
            'Several collectors report on one topology, which the version before cannot hold: '
            'restore the backup that was made before the update.'
        )
    roll_ups.objects.filter(span__in_day=True).delete()
    spans.filter(in_day=True).delete()
    for row in roll_ups.objects.iterator(chunk_size=64):
        (_, rows), = json.loads(zlib.decompress(bytes(row.data)))
        packed = json.dumps(rows, separators=(',', ':'), ensure_ascii=False).encode()
        roll_ups.objects.filter(pk=row.pk).update(data=zlib.compress(packed, 1))
    schema_editor.connection.check_constraints()  # or PostgreSQL alters no table of which rows just went


def count_sources(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Count the collectors of every topology again."""
    sources = apps.get_model('reviews', 'ObservationSource').objects
    for feed in apps.get_model('reviews', 'ObservationFeed').objects.iterator():
        feed.sources_count = sources.filter(feed=feed).count()
        feed.save(update_fields=['sources_count'])
    schema_editor.connection.check_constraints()


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
        migrations.RunPython(migrations.RunPython.noop, count_sources),
        migrations.RemoveField(
            model_name='observationfeed',
            name='sources_count',
        ),
        migrations.AddField(
            model_name='observationspan',
            name='in_day',
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(name_no_source, merge_nothing),
    ]
