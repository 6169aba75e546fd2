"""Keeps the last few answers of this process that are dear to make and follow from their key alone."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class LastFew(Generic[Answer]):
    """Answers by what they were made of; the one that was asked for longest ago goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """Return the answer of a key, made where it is not kept; two threads may both make it."""
        found = self.known(key)
        if found is not None:
            return found
        made = make()
        self.keep(key, made)
        return made

    def known(self, key: Hashable) -> Answer | None:
        """Return the answer of a key, None where it is not kept."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def keep(self, key: Hashable, answer: Answer) -> None:
        """Keep an answer, in the place of the one before."""
        with self._lock:
            self._found[key] = answer
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
