"""Rows that state what happened cannot be changed, deleted or truncated, on both databases."""

import os
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from reviews.append_only import APPEND_ONLY_TABLES, guarded_tables
from reviews.models import Checkpoint, Cosignature, LogTile
from tests.plugins.append_only import lifted
from tests.reviews.drafts import made
from tests.reviews.factories import Cast
from tests.reviews.rules.board import board
from tests.reviews.rules.everything import state_everything

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def full(db: None) -> None:
    """At least one row in every protected table."""
    people = board()
    state_everything(people)
    made(people)
    log: dict[str, Any] = {"workspace": people.workspace}
    LogTile.objects.create(level=0, index=0, hashes=b"\0" * 32, **log)
    now = timezone.now()
    signed = Checkpoint.objects.create(size=1, root=b"\0" * 32, key="k", note=b"n", signed_at=now, **log)
    Cosignature.objects.create(checkpoint=signed, key="w", line="l", time=1, received_at=now)
    connection.check_constraints()  # PostgreSQL truncates no table whose foreign keys are still to be checked


def test_the_chosen_database_is_the_one_that_runs(people: Cast) -> None:
    assert connection.vendor == os.environ.get("TOPOGATE_TEST_DATABASE", "postgresql")


def test_every_protected_table_is_guarded(people: Cast) -> None:
    assert guarded_tables(connection) == set(APPEND_ONLY_TABLES)


def refusals(attacks: list[str]) -> dict[str, int]:
    """Try every attack on every protected table; return how many of them each table refused."""
    refused = dict.fromkeys(APPEND_ONLY_TABLES, 0)
    for table in APPEND_ONLY_TABLES:
        key = "sha256" if table == "reviews_blob" else "id"
        for attack in attacks:
            try:
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(attack.format(table=table, key=key))
            except IntegrityError as error:
                refused[table] += f"{table} only grows: " in str(error)
    return refused


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param("DELETE FROM {table}", id="delete"),
        pytest.param("UPDATE {table} SET {key} = {key}", id="update"),
    ],
)
def test_no_row_can_be_touched(full: None, attack: str) -> None:
    assert refusals([attack]) == dict.fromkeys(APPEND_ONLY_TABLES, 1)


def test_no_table_can_be_emptied_in_another_way(full: None) -> None:
    attacks = {
        # There is no TRUNCATE in SQLite; the nearest thing is to replace a row through its own key.
        "sqlite": ["INSERT OR REPLACE INTO {table} SELECT * FROM {table} ORDER BY {key} DESC LIMIT 1"],
        "postgresql": [
            "SET LOCAL session_replication_role = replica; DELETE FROM {table}",
        ],
    }[connection.vendor]
    if connection.vendor == "postgresql":
        # CASCADE names whichever table of the chain refuses first; that the table itself survives is what counts.
        for table in APPEND_ONLY_TABLES:
            for how in ("", "SET LOCAL session_replication_role = replica; "):
                with (
                    pytest.raises(IntegrityError, match="only grows: TRUNCATE"),
                    transaction.atomic(),
                    connection.cursor() as cursor,
                ):
                    cursor.execute(f"{how}TRUNCATE {table} CASCADE")
    assert refusals(attacks) == dict.fromkeys(APPEND_ONLY_TABLES, 1)


def test_the_start_up_check_names_a_table_that_lost_its_protection(people: Cast) -> None:
    call_command("check", databases=["default"])
    with lifted(), pytest.raises(SystemCheckError, match="reviews_signoff: rows can be changed or deleted"):
        call_command("check", databases=["default"])
