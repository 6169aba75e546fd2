"""Keeps in the process what was worked out of stored bytes, under the digests of these bytes.

Rules kept: bytes under a digest never change, so a value that was made of them stays right for ever, and no state of
anything is ever kept here. That the database still holds these bytes is a question of its own: it is asked when a value
is made, and again once ``CHECK_AGAIN_SECONDS`` have passed. At most ``MOST_VALUES`` made of at most ``MOST_BYTES``
bytes together are kept, those used last; what alone is made of more than that is not kept.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Kept"]

CHECK_AGAIN_SECONDS = 30.0
MOST_VALUES = 256
MOST_BYTES = 64 * 2**20
Value = TypeVar("Value")
Digests = tuple[str, ...]
Read = Callable[[], Mapping[str, bytes]]
"""Returns digest -> stored bytes, or raises where they are not what was stored."""


@dataclass(slots=True)
class _Entry(Generic[Value]):
    value: Value
    size: int
    checked_at: float


class Kept(Generic[Value]):
    """Values of one kind; ``make`` works one out of the bytes under its digests."""

    def __init__(self, make: Callable[[Mapping[str, bytes]], Value]) -> None:
        self._make = make
        self._entries: OrderedDict[Digests, _Entry[Value]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def value(self, digests: Digests, read: Read) -> Value:
        """Return the value of stored bytes; ``read`` is called when there is none, or a check of it is due."""
        with self._lock:
            entry = self._entries.get(digests)
            if entry is not None:
                self._entries.move_to_end(digests)
        if entry is not None and time.monotonic() < entry.checked_at + CHECK_AGAIN_SECONDS:
            return entry.value
        # Where the stored bytes are not these any more it raises, and does so for whoever asks next.
        stored = read()
        if entry is not None:
            entry.checked_at = time.monotonic()
            return entry.value
        made = _Entry(self._make(stored), sum(map(len, stored.values())), time.monotonic())
        self._keep(digests, made)
        return made.value

    def forget(self) -> None:
        """Keep nothing that was made so far."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def _keep(self, digests: Digests, made: _Entry[Value]) -> None:
        if made.size > MOST_BYTES:
            return
        with self._lock:
            replaced = self._entries.pop(digests, None)
            self._bytes += made.size - (replaced.size if replaced else 0)
            self._entries[digests] = made
            while self._bytes > MOST_BYTES or len(self._entries) > MOST_VALUES:
                _, oldest = self._entries.popitem(last=False)
                self._bytes -= oldest.size
