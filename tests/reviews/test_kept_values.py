"""What a process keeps of stored bytes: made once, compared with the store again, bounded."""

import pytest

from reviews import kept_values
from reviews.errors import TamperedError
from reviews.kept_values import Kept


class Store:
    """Stored bytes by digest, and how often they were read."""

    def __init__(self, **stored: bytes) -> None:
        self.stored = stored
        self.reads = 0

    def read(self) -> dict[str, bytes]:
        self.reads += 1
        if b"changed" in self.stored.values():
            raise TamperedError("The stored contract is not what was stored.")
        return self.stored


@pytest.fixture
def lengths() -> Kept[int]:
    """What is made of bytes is their length."""
    return Kept(lambda stored: sum(map(len, stored.values())))


def test_a_value_is_made_once(lengths: Kept[int]) -> None:
    store = Store(a=b"1234")
    assert [lengths.value(("a",), store.read) for _ in range(3)] == [4, 4, 4]
    assert store.reads == 1


def test_the_store_is_asked_again_in_time_and_refused_as_long_as_it_is_changed(
    lengths: Kept[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(a=b"1234")
    lengths.value(("a",), store.read)
    monkeypatch.setattr(kept_values, "CHECK_AGAIN_SECONDS", 0.0)
    assert (lengths.value(("a",), store.read), store.reads) == (4, 2)
    store.stored = {"a": b"changed"}
    for _ in range(2):
        with pytest.raises(TamperedError):
            lengths.value(("a",), store.read)


@pytest.mark.parametrize(("limit", "most"), [("MOST_VALUES", 2), ("MOST_BYTES", 8)])
def test_what_was_not_used_for_longest_goes_first(
    limit: str, most: int, lengths: Kept[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_values, limit, most)
    stores = {name: Store(**{name: b"1234"}) for name in "abc"}
    for name in "abac":
        lengths.value((name,), stores[name].read)
    for name in "acb":
        lengths.value((name,), stores[name].read)
    assert [stores[name].reads for name in "abc"] == [1, 2, 1]


def test_what_is_larger_than_all_that_is_kept_is_not_kept(lengths: Kept[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_values, "MOST_BYTES", 3)
    store = Store(a=b"1234")
    assert [lengths.value(("a",), store.read) for _ in range(2)] == [4, 4]
    assert store.reads == 2
