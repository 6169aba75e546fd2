"""How often Python looks for cycles of objects that nobody holds any more.

Records, readings and verdicts form no cycles, but the tuples and dicts in them are walked over each time. Left at
Python's own pace that takes up to a quarter of the time in which many trials are judged.

Rules kept: pace and pause belong to the whole process, and what was before is there again afterwards, after an error
too. Not handled: memory, which is given back at once where nothing holds it, whatever the pace.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused_collection", "rare_collection"]

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


class _Pauses:
    """The pauses that run now: the last one that ends lets the looking go on.

    There is no lock, and none is needed: a pause is counted before it looks, so that where two threads cross, looking
    may go on too early and never stays off.
    """

    def __init__(self) -> None:
        self.running: list[object] = []
        self.stopped = False

    def begin(self) -> object:
        pause = object()
        self.running.append(pause)
        if gc.isenabled():
            self.stopped = True
            gc.disable()
        return pause

    def end(self, pause: object) -> None:
        self.running.remove(pause)
        if not self.running and self.stopped:
            self.stopped = False
            gc.enable()


_PAUSES = _Pauses()


@contextmanager
def paused_collection() -> Iterator[None]:
    """Look for no cycles while one plan or what-if is made: each leaves about 200 objects behind for each placement.

    Pauses may lie inside each other and beside each other in threads. Only for work that ends: other threads make
    their cycles meanwhile, and those stay until it does.
    """
    pause = _PAUSES.begin()
    try:
        yield
    finally:
        _PAUSES.end(pause)
