"""Read a page as people do: a space is a space, whether a line may break there or not."""

from typing import Protocol

from reviews.web.unbroken import NO_BREAK


class Answer(Protocol):
    """What a client of Django got."""

    content: bytes


def read(answer: Answer) -> str:
    """Return the HTML of a page."""
    return answer.content.decode().replace(NO_BREAK, " ")
