"""Run calls at the same moment on database connections of their own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from reviews.errors import ReviewError


def race(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Start all calls together; return each one's result, or the refusal it raised. Any other error is raised."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except ReviewError as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(run, call) for call in calls]]
