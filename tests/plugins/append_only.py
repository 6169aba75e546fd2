"""Let transactional tests empty tables that the database protects, without any way to do so in what is shipped.

Django empties all tables after a transactional test. The protection is lifted around just that and laid again at
once, from what the database itself says about its triggers, so nothing has to be kept in step with the migrations.
Tests that tamper on purpose use ``lifted`` as well.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import TransactionTestCase


@contextmanager
def lifted() -> Iterator[None]:
    """Run a block without the triggers, as the owner of the tables could."""
    triggers = _triggers()
    connection.check_constraints()  # PostgreSQL alters no table whose foreign keys are still to be checked
    with connection.cursor() as cursor:
        for table, name, _ in triggers:
            cursor.execute(
                f'ALTER TABLE "{table}" DISABLE TRIGGER "{name}"'
                if connection.vendor == "postgresql"
                else f'DROP TRIGGER "{name}"'
            )
    try:
        yield
    finally:
        connection.check_constraints()
        with connection.cursor() as cursor:
            for table, name, definition in triggers:
                cursor.execute(
                    f'ALTER TABLE "{table}" ENABLE ALWAYS TRIGGER "{name}"'
                    if connection.vendor == "postgresql"
                    else definition
                )


def _triggers() -> list[tuple[str, str, str]]:
    """Return table, name and definition of every protecting trigger."""
    query = (
        "SELECT c.relname, t.tgname, '' FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE t.tgname LIKE %s"
        if connection.vendor == "postgresql"
        else "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, ["append_only_%"])
        return list(cursor.fetchall())


@pytest.fixture(scope="session", autouse=True)
def protected_tables_are_emptied_between_tests() -> Iterator[None]:
    """Wrap Django's own emptying for the length of the run."""
    original = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined] # private, and the only hook there is

    def emptied(case: Any) -> None:
        with lifted():
            original(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", emptied)
        yield
