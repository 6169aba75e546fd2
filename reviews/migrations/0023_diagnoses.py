"""Keep diagnoses of the slowest rank and their files, in tables that only grow."""

from importlib import import_module

import django.db.models.deletion
from django.conf import settings
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")
NEW_TABLES = ("reviews_diagnosis", "reviews_diagnosisfile")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the new tables."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for table in NEW_TABLES:
        for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
            schema_editor.execute(statement.format(table=table), params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0022_host_reports'),
    ]

    operations = [
        migrations.CreateModel(
            name='Diagnosis',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('trial', models.CharField(max_length=64)),
                ('late_us', models.PositiveIntegerField()),
                ('note', models.TextField(blank=True)),
                ('pattern', models.CharField(blank=True, max_length=16)),
                ('points_at', models.CharField(blank=True, max_length=256)),
                ('planner_version', models.CharField(max_length=32)),
                ('made_at', models.DateTimeField()),
                ('decision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='diagnoses', to='reviews.decision')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='diagnoses', to=settings.AUTH_USER_MODEL)),
                ('result', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.blob')),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='diagnoses', to='reviews.revision')),
            ],
            options={
                'verbose_name_plural': 'diagnoses',
                'ordering': ('decision', '-number'),
            },
        ),
        migrations.CreateModel(
            name='DiagnosisFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=200)),
                ('kind', models.CharField(choices=[('trace', 'Trace of collectives'), ('ras', 'Snapshots of NCCL RAS'), ('log', 'Log of an engine')], max_length=8)),
                ('sha256', models.CharField(max_length=71)),
                ('size_bytes', models.BigIntegerField()),
                ('uploaded_sha256', models.CharField(max_length=71)),
                ('removed', models.JSONField(default=dict)),
                ('attachment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='diagnoses', to='reviews.attachment')),
                ('blob', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.blob')),
                ('diagnosis', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='files', to='reviews.diagnosis')),
            ],
            options={
                'ordering': ('diagnosis', 'number'),
            },
        ),
        migrations.AddConstraint(
            model_name='diagnosis',
            constraint=models.UniqueConstraint(fields=('decision', 'number'), name='diagnosis_number_once'),
        ),
        migrations.AddConstraint(
            model_name='diagnosis',
            constraint=models.CheckConstraint(condition=models.Q(('late_us__gte', 1)), name='diagnosis_late_us_positive'),
        ),
        migrations.AddConstraint(
            model_name='diagnosisfile',
            constraint=models.UniqueConstraint(fields=('diagnosis', 'number'), name='diagnosis_file_number_once'),
        ),
        migrations.AddConstraint(
            model_name='diagnosisfile',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['trace', 'ras', 'log'])), name='diagnosis_file_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='diagnosisfile',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('attachment__isnull', True), ('blob__isnull', False)), models.Q(('attachment__isnull', False), ('blob__isnull', True)), _connector='OR'), name='diagnosis_file_in_one_place'),
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
