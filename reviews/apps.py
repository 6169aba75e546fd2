"""The application and its start-up checks."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from reviews.append_only import APPEND_ONLY_TABLES, guarded_tables


class ReviewsConfig(AppConfig):
    """Decisions, sign-offs, audit trail."""

    name = "reviews"
    verbose_name = "Topology reviews"


@register(Tags.database)
def append_only_is_enforced(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Report tables whose rows the database would let somebody change or delete."""
    problems: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        present = set(connection.introspection.table_names())
        bare = (set(APPEND_ONLY_TABLES) & present) - guarded_tables(connection)
        problems += [
            Error(
                f"{table}: rows can be changed or deleted.",
                hint="Run the migrations again as the owner of the table.",
                id="reviews.E001",
            )
            for table in sorted(bare)
        ]
    return problems
