"""A database that takes no writes, as on a full disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def read_only() -> Iterator[None]:
    """Refuse every write of this connection; on PostgreSQL until its transaction ends, which is the test's."""
    # What waits for the end of the transaction could not be checked then.
    connection.check_constraints()
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON" if is_sqlite else "SET TRANSACTION READ ONLY")
    try:
        yield
    finally:
        if is_sqlite:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA query_only = OFF")
