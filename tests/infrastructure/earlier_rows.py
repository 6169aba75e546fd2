"""Puts rows into a database that is at an earlier migration, through the models of then.

``python -m tests.infrastructure.earlier_rows copy SQLITE_FILE`` copies what the first version wrote to the database
that ``DATABASE_URL`` names; ``observe NAME...`` adds observations by collectors of these names; ``told`` says them.
"""

import json
import sys
import zlib
from datetime import UTC, datetime
from typing import Any

import django
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor

FIRST, APART, TOGETHER = "0002_append_only", "0026_exports_with_files", "0023_diagnoses"
HOUR, DAY = datetime(2026, 9, 21, 12, tzinfo=UTC), datetime(2026, 9, 21, tzinfo=UTC)
ROWS = [[0, -1, "", "", "", 1, 2.5, None, None, [], [], 0.0]]


def models_at(migration: str) -> Any:
    """Return the app as it was after a migration."""
    return MigrationExecutor(connection).loader.project_state([("reviews", migration)]).apps.get_app_config("reviews")


def copy(path: str) -> None:
    """Copy every row, parents first, and let new ones be numbered after them."""
    earlier = {**settings.DATABASES["default"], "ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": {}}
    connections.settings["earlier"] = earlier
    models = list(models_at(FIRST).get_models())
    with transaction.atomic():
        for model in models:
            rows = list(model._default_manager.using("earlier").all())
            model._default_manager.using("default").bulk_create(rows)
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)


def observe(names: list[str]) -> None:
    """Write a day and an hour of it, and an hour that no day has, told by every collector by itself."""
    app = models_at(APART)
    revision, person = app.get_model("Revision").objects.first(), app.get_model("Person").objects.first()
    feed = app.get_model("ObservationFeed").objects.create(revision=revision, trial="t-1")
    data = zlib.compress(json.dumps([[name, ROWS] for name in names], separators=(",", ":")).encode(), 1)
    for name in names:
        at = {"began_at": HOUR, "ended_at": HOUR, "received_at": HOUR, "last_sha256": "sha256:0"}
        app.get_model("ObservationSource").objects.create(feed=feed, name=name, person=person, **at)
    for level, starts_at, in_day in (("day", DAY, False), ("hour", HOUR, True), ("hour", HOUR.replace(day=22), False)):
        span = {"feed": feed, "level": level, "starts_at": starts_at, "covered": "[]", "in_day": in_day}
        kept = app.get_model("ObservationSpan").objects.create(**span)
        app.get_model("ObservationRollUp").objects.create(span=kept, metric="m", block=0, data=data)


def told(migration: str) -> None:
    """Say spans with their rows, and how many collectors are counted where that is kept."""
    app = models_at(migration)
    for row in app.get_model("ObservationRollUp").objects.select_related("span").order_by("span__starts_at", "pk"):
        packed = zlib.decompress(bytes(row.data)).decode()
        sys.stdout.write(f"{row.span.level} {row.span.starts_at.day} {packed}\n")
    for feed in app.get_model("ObservationFeed").objects.all():
        sys.stdout.write(f"{getattr(feed, 'sources_count', 'apart')}\n")


if __name__ == "__main__":
    django.setup()
    act, *words = sys.argv[1:]
    if act == "copy":
        copy(words[0])
    elif act == "observe":
        observe(words)
    else:
        told(words[0])
