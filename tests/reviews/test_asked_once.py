"""The same question is asked once while one request reads, and anew by whatever writes."""

import pytest

from reviews.asked_once import moment, once, reading
from reviews.errors import NotFoundError

asked: list[str] = []


@once
def answer(name: str, *, loud: bool = False) -> str:
    """An answer that counts how often it was asked for."""
    asked.append(name)
    if name == "nobody":
        raise NotFoundError("Nobody.")
    return name.upper() if loud else name


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    asked.clear()


def test_a_read_asks_once_for_each_question() -> None:
    with reading():
        found = [answer("a"), answer("a"), answer("a", loud=True), answer("b")]
        with reading():
            found.append(answer("b"))
    assert (found, asked) == (["a", "a", "A", "b", "b"], ["a", "a", "b"])


def test_outside_a_read_and_in_the_next_one_it_is_asked_anew() -> None:
    for _ in range(2):
        answer("a")
        with reading():
            answer("a")
    assert asked == ["a"] * 4


def test_a_refusal_is_not_kept() -> None:
    with reading():
        for _ in range(2):
            with pytest.raises(NotFoundError):
                answer("nobody")
    assert asked == ["nobody"] * 2


def test_a_read_is_judged_as_of_one_moment() -> None:
    with reading():
        assert moment() == moment()
    assert moment() != moment()
