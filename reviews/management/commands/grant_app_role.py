"""Give the role of web and worker exactly the rights they need on PostgreSQL; run by the owner after ``migrate``.

Kept rules: the role owns nothing, so it can neither drop a trigger nor switch one off; what is append-only it may
read and add to; everything else it may also change. Rights from an earlier run are taken back first, so that a table
that has become append-only loses them.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from psycopg import sql

from reviews.append_only import APPEND_ONLY_TABLES

READ = sql.SQL("SELECT")
ADD = sql.SQL("SELECT, INSERT")
CHANGE = sql.SQL("SELECT, INSERT, UPDATE, DELETE")


class Command(BaseCommand):
    """Create or update the role and its rights."""

    help = "Creates the PostgreSQL role of web and worker, or updates its password and rights."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Name of the role, and where its password stands."""
        parser.add_argument("role", help="name of the role, for example topogate_app")
        parser.add_argument("--password-file", type=Path, required=True, help="file that holds its password")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it in one transaction: a role with half of its rights would fail later and elsewhere.

        Raises:
            CommandError: the database is not PostgreSQL, or the password file is empty or missing.
        """
        if connection.vendor != "postgresql":
            raise CommandError("Roles exist on PostgreSQL only. Set DATABASE_URL to the owner's address.")
        with transaction.atomic():
            role_write(options["role"], password_read(options["password_file"]))
            rights_write(options["role"])
        self.stdout.write(f"{options['role']} reads and adds; {len(APPEND_ONLY_TABLES)} tables only grow.")


def password_read(path: Path) -> str:
    """Return the password.

    Raises:
        CommandError: there is none.
    """
    password = path.read_text().strip() if path.is_file() else ""
    if not password:
        raise CommandError(f"--password-file: expected a file with a password, found none at {path}")
    return password


def role_write(role: str, password: str) -> None:
    """Create the role, or set its password and take back what it must not be."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])
        verb = sql.SQL("ALTER" if cursor.fetchone() else "CREATE")
        statement = sql.SQL(
            "{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {}"
        )
        cursor.execute(statement.format(verb, sql.Identifier(role), sql.Literal(password)))


def rights_write(role: str) -> None:
    """Grant table by table."""
    name = sql.Identifier(role)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(name))
        cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(name))
        cursor.execute(sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}").format(name))
        for table in connection.introspection.table_names(cursor):
            grant = sql.SQL("GRANT {} ON {} TO {}").format(table_rights(table), sql.Identifier(table), name)
            cursor.execute(grant)


def table_rights(table: str) -> sql.SQL:
    """Return the rights on one table."""
    if table == "django_migrations":
        return READ
    return ADD if table in APPEND_ONLY_TABLES else CHANGE
