"""The role of web and worker on PostgreSQL: what it may do and, above all, what it may not."""

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from reviews.append_only import APPEND_ONLY_TABLES
from reviews.management.commands.grant_app_role import rights_write

ROLE = "topogate_app_under_test"

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_role(tmp_path: Path) -> Iterator[None]:
    """Create the role and become it until the test ends; the test's transaction takes both back."""
    password = tmp_path / "password"
    password.write_text("long and random\n")
    call_command("grant_app_role", ROLE, "--password-file", str(password))
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
    yield
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


ATTACKS = {
    "update": ("UPDATE {} SET {column} = {column}", "permission denied for table {}"),
    "delete": ("DELETE FROM {}", "permission denied for table {}"),
    "truncate": ("TRUNCATE {} CASCADE", "permission denied for table {}"),
    "disable trigger": ("ALTER TABLE {} DISABLE TRIGGER ALL", "must be owner of table {}"),
    "drop trigger": ("DROP TRIGGER append_only_row ON {}", "must be owner of relation {}"),
    "drop table": ("DROP TABLE {} CASCADE", "must be owner of table {}"),
    "alter table": ("ALTER TABLE {} RENAME TO other", "must be owner of table {}"),
    "replace the trigger": (
        "CREATE TRIGGER other BEFORE INSERT ON {} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "permission denied for table {}",
    ),
}
OF_A_SESSION = {
    "SET session_replication_role = replica": 'permission denied to set parameter "session_replication_role"',
    "SET ROLE {owner}": 'permission denied to set role "{owner}"',
    "SET SESSION AUTHORIZATION {owner}": 'permission denied to set session authorization "{owner}"',
    "ALTER ROLE {role} SUPERUSER": "permission denied to alter role",
    "CREATE TABLE reviews_other (id int)": "permission denied for schema public",
}


@pytest.fixture
def logged_in(transactional_db: None, tmp_path: Path) -> Iterator[psycopg.Connection]:
    """A session of its own in which the role itself logged in, on a server that has it for the time of the test."""
    password = tmp_path / "password"
    password.write_text("long and random\n")
    call_command("grant_app_role", ROLE, "--password-file", str(password))
    settings = connection.settings_dict
    host = settings["OPTIONS"]["host"]
    with psycopg.connect(dbname=settings["NAME"], host=host, user=ROLE, autocommit=True) as session:
        yield session
    with connection.cursor() as cursor:
        cursor.execute(f"DROP OWNED BY {ROLE}")
        cursor.execute(f"DROP ROLE {ROLE}")


def answer_to(session: psycopg.Connection, statement: str) -> str:
    try:
        session.execute(statement.encode())
    except psycopg.Error as error:
        return str(error).splitlines()[0]
    return "done"


@pytest.mark.parametrize("attack", ATTACKS)
def test_role_that_logged_in_is_refused_on_every_table(logged_in: psycopg.Connection, attack: str) -> None:
    statement, answer = ATTACKS[attack]
    with connection.cursor() as cursor:
        columns = {
            table: connection.introspection.get_table_description(cursor, table)[0].name for table in APPEND_ONLY_TABLES
        }
    said = {table: answer_to(logged_in, statement.format(table, column=column)) for table, column in columns.items()}
    assert said == {table: answer.format(table) for table in APPEND_ONLY_TABLES}


def test_role_that_logged_in_becomes_nobody_else(logged_in: psycopg.Connection) -> None:
    names = {"role": ROLE, "owner": connection.settings_dict["USER"]}
    said = {statement: answer_to(logged_in, statement.format(**names)) for statement in OF_A_SESSION}
    assert said == {statement: answer.format(**names) for statement, answer in OF_A_SESSION.items()}


@pytest.mark.usefixtures("as_role")
def test_role_reads_and_adds_everywhere_and_changes_the_rest() -> None:
    with connection.cursor() as cursor:
        rights = {
            table: {
                right
                for right in ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "TRIGGER")
                if has_right(table, right)
            }
            for table in connection.introspection.table_names(cursor)
        }
    only_grow = {table: {"SELECT", "INSERT"} for table in APPEND_ONLY_TABLES}
    rest = {table: {"SELECT", "INSERT", "UPDATE", "DELETE"} for table in set(rights) - set(only_grow)}
    assert rights == {**rest, **only_grow, "django_migrations": {"SELECT"}}


def has_right(table: str, right: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege(%s, %s, %s)", [ROLE, table, right])
        row = cursor.fetchone()
    return bool(row and row[0])


def test_right_from_an_earlier_run_is_taken_back(as_role: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
        cursor.execute(f"GRANT UPDATE ON reviews_auditentry TO {ROLE}")
    rights_write(ROLE)
    assert not has_right("reviews_auditentry", "UPDATE")


def test_empty_password_is_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("\n")
    with pytest.raises(CommandError) as refused:
        call_command("grant_app_role", ROLE, "--password-file", str(tmp_path / "password"))
    expected = f"--password-file: expected a file with a password, found none at {tmp_path / 'password'}"
    assert str(refused.value) == expected


def test_suite_runs_this_file_on_postgresql() -> None:
    assert connection.vendor == os.environ.get("TOPOGATE_TEST_DATABASE", "postgresql") == "postgresql"
