"""How many queries an answer takes."""

from typing import Any, Protocol

from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext


class Asks(Protocol):
    """Whoever asks the server: a browser's client, or a caller of the API."""

    def get(self, path: str, /) -> Any:
        """Ask for an address."""


def cost(who: Asks, path: str) -> int:
    """Return the number of queries that the answer to a read takes; it has to be given.

    What processes keep between requests is forgotten before, so that the first request costs what any other does.
    """
    caches["process"].clear()
    with CaptureQueriesContext(connection) as queries:
        assert who.get(path).status_code == 200
    return len(queries)
