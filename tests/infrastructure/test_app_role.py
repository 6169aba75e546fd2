"""The role of web and worker on PostgreSQL: what it may do and, above all, what it may not."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

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


def refusal(statement: str) -> str:
    with pytest.raises(ProgrammingError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    return str(refused.value).splitlines()[0]


@pytest.mark.usefixtures("as_role")
@pytest.mark.parametrize("table", APPEND_ONLY_TABLES)
@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        pytest.param("UPDATE {} SET {column} = {column}", "permission denied for table {}", id="update"),
        pytest.param("DELETE FROM {}", "permission denied for table {}", id="delete"),
        pytest.param("TRUNCATE {} CASCADE", "permission denied for table {}", id="truncate"),
        pytest.param("ALTER TABLE {} DISABLE TRIGGER ALL", "must be owner of table {}", id="disable trigger"),
        pytest.param("DROP TRIGGER append_only_row ON {}", "must be owner of relation {}", id="drop trigger"),
        pytest.param("DROP TABLE {} CASCADE", "must be owner of table {}", id="drop table"),
    ],
)
def test_role_is_refused(table: str, statement: str, answer: str) -> None:
    with connection.cursor() as cursor:
        column = connection.introspection.get_table_description(cursor, table)[0].name
    assert refusal(statement.format(table, column=column)) == answer.format(table)


@pytest.mark.usefixtures("as_role")
def test_role_may_not_act_as_a_replica() -> None:
    answer = refusal("SET session_replication_role = replica")
    assert answer == 'permission denied to set parameter "session_replication_role"'


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
