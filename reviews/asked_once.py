"""Asks the same question once while one request only reads: who asks, the roster, the bytes behind a digest.

Rules kept: nothing is remembered outside ``reading``, so whatever writes, works in the background or runs in a shell
asks anew, and no act rests on an earlier answer; what is remembered ends with the request; refusals are not kept.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.utils import timezone

P = ParamSpec("P")
Answer = TypeVar("Answer")

_answers: ContextVar[dict[Any, Any] | None] = ContextVar("answers", default=None)


@contextmanager
def reading() -> Iterator[None]:
    """Remember the answers of questions marked ``once`` until the block ends; within another such block, with it."""
    if _answers.get() is not None:
        yield
        return
    token = _answers.set({})
    try:
        yield
    finally:
        _answers.reset(token)


def once(ask: Callable[P, Answer]) -> Callable[P, Answer]:
    """Mark a question whose answer is the same all through a read; its arguments have to be hashable."""

    @wraps(ask)
    def asked(*args: P.args, **kwargs: P.kwargs) -> Answer:
        answers = _answers.get()
        if answers is None:
            return ask(*args, **kwargs)
        key = (ask, args, *sorted(kwargs.items()))
        if key not in answers:
            answers[key] = ask(*args, **kwargs)
        answer: Answer = answers[key]
        return answer

    return asked


@once
def moment() -> datetime:
    """Return now; a read is judged as of one moment."""
    return timezone.now()
