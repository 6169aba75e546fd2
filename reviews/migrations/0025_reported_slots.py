"""Keep the turn of a slot, which says what to read again, hosts that flap, and when each was refused for what."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0024_collectors_apart'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReportedSlot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.CharField(blank=True, max_length=128)),
                ('begun_at', models.DateTimeField()),
                ('turn', models.BigIntegerField(default=0)),
                ('refusals', models.TextField(blank=True)),
                ('refused_because', models.TextField(blank=True)),
                ('refused_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.RemoveField(
            model_name='hostreport',
            name='refused_as',
        ),
        migrations.AddField(
            model_name='hostreport',
            name='changes',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hostreport',
            name='flapped',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='hostreport',
            name='flaps_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='hostreport',
            name='refusals',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='hostreport',
            name='turn',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name='hostreport',
            index=models.Index(fields=['workspace', 'slot', 'turn'], name='host_report_by_turn'),
        ),
        migrations.AddField(
            model_name='reportedslot',
            name='workspace',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reported_slots', to='reviews.workspace'),
        ),
        migrations.AddConstraint(
            model_name='reportedslot',
            constraint=models.UniqueConstraint(fields=('workspace', 'slot'), name='reported_slot_once'),
        ),
    ]
