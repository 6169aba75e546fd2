"""Let proposals end by themselves, in a table that only grows, and tell people of them, whatever they are about."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

append_only = import_module("reviews.migrations.0002_append_only")


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of the new table."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in append_only.POSTGRESQL if on_postgresql else append_only.SQLITE:
        schema_editor.execute(statement.format(table="reviews_proposallapse"), params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0026_exports_with_files'),
    ]

    operations = [
        migrations.CreateModel(
            name='ProposalLapse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('because', models.TextField()),
                ('lapsed_at', models.DateTimeField()),
                ('proposal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='lapse', to='reviews.proposal')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.AddField(
            model_name='notice',
            name='proposal',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='notices', to='reviews.proposal'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='why',
            field=models.CharField(blank=True, choices=[('turn', 'it is your turn'), ('outdated', 'your sign-off counts no more'), ('mentioned', 'you were mentioned'), ('author', 'you are the author'), ('owner', 'your team owns the limit'), ('second', 'you can countersign it'), ('proposer', 'you proposed it')], max_length=12),
        ),
        migrations.AlterField(
            model_name='notice',
            name='decision',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='notices', to='reviews.decision'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.CheckConstraint(condition=models.Q(('decision__isnull', False), ('proposal__isnull', False), _connector='OR'), name='notice_about_something'),
        ),
        migrations.AddConstraint(
            model_name='proposallapse',
            constraint=models.CheckConstraint(condition=models.Q(('because', ''), _negated=True), name='proposal_lapse_told'),
        ),
        migrations.RunPython(lay_triggers, append_only.keep),
    ]
