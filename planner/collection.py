"""How often Python looks for cycles of objects that nobody holds any more.

Records, readings and verdicts form no cycles, but the tuples and dicts in them are walked over each time. Left at
Python's own pace that takes up to a quarter of the time in which many trials are judged.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collection"]

_NEW_OBJECTS = 50_000
"""New objects between two looks; each look at cycles among them takes a few milliseconds."""


@contextmanager
def rare_collection() -> Iterator[None]:
    """Look for cycles rarely, and at the usual pace afterwards.

    The pace belongs to the whole process: for processes that plan, not for those that plan beside other work.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
