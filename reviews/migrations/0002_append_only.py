"""Refuse to change, delete or truncate rows that state what happened.

PostgreSQL: the triggers are ENABLE ALWAYS, so a session in replica mode is refused as well. SQLite has no TRUNCATE,
and rebuilding a table drops its triggers: a migration that alters one of these tables has to lay them again.
"""

from django.db import migrations
from django.db.migrations.exceptions import IrreversibleError
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.apps.registry import Apps

TABLES = (
    "reviews_auditentry",
    "reviews_blob",
    "reviews_plan",
    "reviews_plannedrevision",
    "reviews_policy",
    "reviews_revision",
    "reviews_signoff",
    "reviews_signoffwithdrawal",
    "reviews_storeddocument",
)

POSTGRESQL_FUNCTION = """
CREATE FUNCTION append_only_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% only grows: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
POSTGRESQL = (
    "CREATE TRIGGER append_only_row BEFORE UPDATE OR DELETE ON {table} "
    "FOR EACH ROW EXECUTE FUNCTION append_only_refuse()",
    "CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON {table} "
    "FOR EACH STATEMENT EXECUTE FUNCTION append_only_refuse()",
    "ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_row",
    "ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_truncate",
)
SQLITE = (
    "CREATE TRIGGER append_only_update_{table} BEFORE UPDATE ON {table} "
    "BEGIN SELECT RAISE(ABORT, '{table} only grows: UPDATE is refused'); END",
    "CREATE TRIGGER append_only_delete_{table} BEFORE DELETE ON {table} "
    "BEGIN SELECT RAISE(ABORT, '{table} only grows: DELETE is refused'); END",
)


def lay_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers of every table."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTION, params=None)
        statements = POSTGRESQL
    else:
        statements = SQLITE
    for table in TABLES:
        for statement in statements:
            schema_editor.execute(statement.format(table=table), params=None)


def keep(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse to go back: the tables would go with all that may only grow."""
    raise IrreversibleError(
        "Tables that only grow are not dropped, so there is no way back by `migrate`: "
        "restore the backup that was made before the update."
    )


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_initial")]

    # No way back: taking the protection off is not something that a migration command should do.
    operations = [migrations.RunPython(lay_triggers, keep)]
