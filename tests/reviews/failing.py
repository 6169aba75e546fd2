"""Acts whose every statement fails once, as if the database went away."""

from collections.abc import Callable
from typing import Any

from django.db import OperationalError, connection, transaction

MOST_STATEMENTS = 300


class Fail:
    """Fails the k-th statement with what a database that went away raises."""

    def __init__(self, k: int) -> None:
        self.left = k

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(("SAVEPOINT", "RELEASE", "ROLLBACK")):
            return execute(sql, params, many, context)
        self.left -= 1
        if self.left == 0:
            raise OperationalError("gone")
        return execute(sql, params, many, context)


def entries_after_every_failure(act: Callable[[], Any], state: Callable[[], dict[str, Any]]) -> int:
    """Carry an act out after each of its statements failed once and left nothing; return how many entries it wrote.

    ``state`` says all that the act may change, and under ``entries`` the length of the log.
    """
    before = state()
    failed = 0
    for k in range(1, MOST_STATEMENTS):
        try:
            with transaction.atomic(), connection.execute_wrapper(Fail(k)):
                act()
        except OperationalError:
            failed += 1
            assert state() == before, f"statement {k}"
        else:
            break
    after = state()
    assert failed >= 5
    assert {**after, "entries": 0} != {**before, "entries": 0}
    written: int = after["entries"] - before["entries"]
    return written
