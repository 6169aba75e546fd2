"""Tells a cache that cannot be written from one that holds a key already; its backend answers both alike."""

import secrets

from django.core.cache import cache
from django.db import OperationalError


def require_cache_writes() -> None:
    """Write something to the shared cache that nobody else asks for.

    Raises:
        OperationalError: the database takes no writes, as on a full disk.
    """
    probe = f"probe-{secrets.token_hex(8)}"
    if not cache.add(probe, True, timeout=1):
        raise OperationalError("nothing can be counted: the database takes no writes")
    cache.delete(probe)
